"""A run whose storages are emulated finds again what was provisioned, whoever shares it, and says so everywhere."""

import pytest
from support.disturbance import Window
from support.runs import Cloud, Run, matrix

MB = 1e6
FSX = {
    "type": "fsx-openzfs", "name": "fsx", "storageCapacityGiB": 64, "throughputCapacityMBps": 64, "iops": 500,
}  # fmt: skip
GP3 = {"type": "ebs", "name": "gp3", "volumeType": "gp3", "sizeGiB": 8, "iops": 3000, "throughputMiBps": 125}
CREATES = {"type": "touch", "files": 400, "threads": 8, "directories": "own"}
WRITES = {"type": "dd", "dataSize": "48MiB", "sync": "block", "threads": 4, "tool": "engine"}
FLEETS = [{"instanceType": "m6i.large", "count": [1, 4]}]
CLOSE = {"rel": 0.05}


@pytest.fixture(scope="module")
def window() -> Window:
    """The time of the run: its figures depend on a free core, and it takes too long to be repeated."""
    return Window()


@pytest.fixture(scope="module")
def run(cloud: Cloud, window: Window) -> Run:
    storages = {"storage": [FSX, GP3], "workload": [CREATES, WRITES], "fleet": FLEETS}
    needless = [
        {"storage": {"type": "ebs"}, **other} for other in ({"workload": {"type": "touch"}}, {"fleet": {"count": 1}})
    ]
    with window:
        return cloud.run(
            "emulated", matrix(**storages, exclude=needless, emulate=True, repetitions=2, maxConcurrentFileSystems=1)
        )


def cell_of(run, cell):
    [found] = [one for one in run.summary()["cells"] if one["id"] == cell]
    assert found["state"] == "measured", found["error"]
    return found


def best_together(run, cell, metric):
    """What all instances did per second, from the first start to the last end, in the best repetition: two processors
    with other work beside wake the workers too late now and then, which makes less of it, never more.
    """
    [point] = cell_of(run, cell)["points"]
    assert len(point["fleet"]) == 2
    return max(repetition[metric] for repetition in point["fleet"])


@pytest.mark.parametrize("count", [1, 4])
def test_creates_on_a_shared_file_system_find_its_iops_however_many_instances_contend(run, window, count):
    best = best_together(run, f"fsx-emulated.touch.m6i.large-x{count}", "files_per_s")

    with window.excused():
        assert best == pytest.approx(500, **CLOSE)


@pytest.mark.parametrize("count", [1, 4])
def test_writes_on_a_shared_file_system_find_its_throughput_however_many_instances_contend(run, window, count):
    best = best_together(run, f"fsx-emulated.dd.m6i.large-x{count}", "bytes_per_s")

    with window.excused():
        assert best == pytest.approx(64 * MB, **CLOSE)


def test_each_instance_finds_the_throughput_of_its_own_volume(run, window):
    [point] = cell_of(run, "gp3-emulated.dd.m6i.large-x4")["points"]

    found = point["metrics"]["mib_per_s"]
    assert found["n"] == 2 * 4
    with window.excused():
        assert found["p100"] == pytest.approx(125, **CLOSE)


def test_everything_that_a_run_leaves_says_that_its_storages_were_emulated(run):
    summary = run.summary()
    assert summary["environment"] == "emulated"
    for cell in summary["cells"]:
        assert cell["storage"]["emulated"] is True
        assert "-emulated." in cell["id"]
        assert [point["emulated"] for point in cell["points"]] == [True]
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


def test_an_emulated_run_leaves_nothing_behind(run):
    assert run.left_behind() == {}
