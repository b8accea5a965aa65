"""Cells whose storages are emulated find what was provisioned, are named after their ceiling, and say so everywhere."""

from typing import Any

import pytest
from support.disturbance import Window
from support.runs import Cloud, Run, matrix

MB = 1e6
FSX = {
    "type": "fsx-openzfs", "name": "fsx", "storageCapacityGiB": 64, "throughputCapacityMBps": 64, "iops": 500,
}  # fmt: skip
GP3 = {"type": "ebs", "name": "gp3", "volumeType": "gp3", "sizeGiB": 8, "iops": 3000, "throughputMiBps": 125}
EFS = {"type": "efs", "name": "efs", "throughputMode": "elastic"}
CREATES = {"type": "touch", "name": "creates", "files": 400, "threads": 8, "directories": "own"}
WRITES = {"type": "dd", "name": "writes", "dataSize": "48MiB", "sync": "block", "threads": 4, "tool": "engine"}
# 16 writers that wait 2 ms for each block would write 8,000 of them; of 1 MiB they are held back by their bytes.
BLOCKS = WRITES | {"name": "blocks", "dataSize": "32MiB", "blockSize": ["4KiB", "1MiB"], "threads": 16}
# A create on a volume takes 0.1 ms and no operation of it: 32 of them at once are more than two processors start.
MANY = CREATES | {"name": "many", "files": 32_000, "threads": 32}
# One that waits 12 ms for each create needs nothing of what elastic EFS can do.
FEW = CREATES | {"name": "few", "files": 100, "threads": 1}
ONE, FOUR = ({"instanceType": "m6i.large", "count": count} for count in (1, 4))
CLOSE = {"rel": 0.05}
BUSY = 0.9


@pytest.fixture(scope="module")
def window() -> Window:
    """The time of the run: its figures depend on a free core, and it takes too long to be repeated."""
    return Window()


@pytest.fixture(scope="module")
def run(cloud: Cloud, window: Window) -> Run:
    """A run with a cell for each cause."""
    others = [(GP3, WRITES, FOUR), (GP3, BLOCKS, ONE), (GP3, MANY, ONE), (EFS, FEW, ONE)]
    document = matrix(
        storage=[FSX],
        workload=[CREATES, WRITES],
        fleet=[FOUR],
        include=[dict(zip(("storage", "workload", "fleet"), cell, strict=True)) for cell in others],
        emulate=True,
        repetitions=2,
        maxConcurrentFileSystems=1,
    )
    with window:
        return cloud.run("emulated", document)


def cell_of(run: Run, start: str) -> dict[str, Any]:
    [found] = [cell for cell in run.summary()["cells"] if cell["id"].startswith(start)]
    assert found["state"] == "measured", found["error"]
    return dict(found)


def best_together(run: Run, start: str, metric: str) -> float:
    """What all instances did per second, from the first start to the last end, in the best repetition: two processors
    with other work beside wake the workers too late now and then, which makes less of it, never more.
    """
    [point] = cell_of(run, start)["points"]
    assert len(point["fleet"]) == 2
    return max(repetition[metric] for repetition in point["fleet"])


@pytest.mark.parametrize(
    ("workload", "metric", "provisioned"), [("creates", "files_per_s", 500), ("writes", "bytes_per_s", 64 * MB)]
)
def test_a_fleet_finds_what_the_file_system_that_it_shares_can_do(run, window, workload, metric, provisioned):
    best = best_together(run, f"fsx-emulated.{workload}", metric)

    with window.excused():
        assert best == pytest.approx(provisioned, **CLOSE)


def test_each_instance_finds_the_throughput_of_its_own_volume(run, window):
    [point] = cell_of(run, "gp3-emulated.writes")["points"]

    found = point["metrics"]["mib_per_s"]
    assert found["n"] == 2 * 4
    with window.excused():
        assert found["p100"] == pytest.approx(125, **CLOSE)


def test_small_blocks_are_limited_by_the_iops_of_a_volume_and_large_ones_by_its_throughput(run, window):
    said = cell_of(run, "gp3-emulated.blocks")["bottleneck"]

    # Where others use the processors, 16 writers of small blocks find these first.
    with window.excused():
        assert said["points"] == {"p01": "volume IOPS", "p02": "volume throughput"}
    assert {use["limit"] for use in said["uses"] if use["code"] == "rate"} <= {3_000.0, 131.072}
    assert {"code": "not-of-aws"} in said["unseen"]
    assert not said["is_provisional"]


def test_creates_of_a_fleet_are_limited_by_the_iops_of_the_file_system_that_it_shares(run, window):
    said = cell_of(run, "fsx-emulated.creates")["bottleneck"]

    # Where others use the processors, these are found first.
    with window.excused():
        assert said["name"] == "FSx disk IOPS"
        assert [(use["limit"], use["unit"]) for use in said["uses"]] == [(500.0, "IOPS")]
        assert said["next"] == {"code": "raise"}


def test_a_storage_that_is_faster_than_the_generator_leaves_the_generator_as_the_ceiling(run):
    assert cell_of(run, "gp3-emulated.many")["bottleneck"]["name"] in {"client CPU", "tool"}


def test_one_writer_that_waits_saturates_nothing_and_its_waiting_is_told(run):
    cell = cell_of(run, "efs-emulated.few")
    said = cell["bottleneck"]

    # The machine of a test has other work: where that takes its processors, they are what is told.
    if cell["points"][0]["use"]["cpu_share"] >= BUSY:
        assert said["name"] == "client CPU"
    else:
        assert said["name"] == "not saturated"
        assert said["waiting"]["workers"] == 1
        assert said["next"] == {"code": "load-more"}


def test_everything_that_a_run_leaves_says_that_its_storages_were_emulated(run):
    summary = run.summary()
    assert summary["environment"] == "emulated"
    for cell in summary["cells"]:
        assert cell["storage"]["emulated"] is True
        assert "-emulated." in cell["id"]
        assert {point["emulated"] for point in cell["points"]} == {True}
    assert {row["emulated"] for key, row in run.rows().items() if key.startswith("POINT#")} == {True}
    s3 = run.cloud.client("s3")
    text = {
        name: s3.get_object(Bucket=run.cloud.output("BucketName"), Key=f"runs/emulated/{name}")["Body"].read().decode()
        for name in ("summary.csv", "summary.md", "report.html")
    }
    assert all("emulated" in line for line in text["summary.csv"].splitlines()[1:])
    rows = [line for line in text["summary.md"].splitlines() if "m6i.large" in line and line.startswith("| ")]
    assert rows
    assert all("emulated, not AWS" in row or "-emulated" in row for row in rows)
    assert "this run ranks emulated storages, not those of AWS" in text["report.html"]
    assert run.left_behind() == {}
