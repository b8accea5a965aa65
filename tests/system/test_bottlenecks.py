"""Cells whose ceiling is known, because their storages are emulated, are named after it by the deployed system."""

from typing import Any

import pytest
from support.disturbance import Window
from support.runs import Cloud, Run, matrix

GP3 = {"type": "ebs", "name": "gp3", "volumeType": "gp3", "sizeGiB": 8, "iops": 3000, "throughputMiBps": 125}
EFS = {"type": "efs", "name": "efs", "throughputMode": "elastic"}
FSX = {
    "type": "fsx-openzfs", "name": "fsx", "storageCapacityGiB": 64, "throughputCapacityMBps": 64, "iops": 500,
}  # fmt: skip
# 16 writers that wait 2 ms for each block would write 8,000 of them; of 1 MiB they are held back by their bytes.
WRITES = {
    "type": "dd", "name": "writes", "dataSize": "32MiB", "blockSize": ["4KiB", "1MiB"], "sync": "block",
    "threads": 16, "tool": "engine",
}  # fmt: skip
# A create on a volume takes 0.1 ms and no operation of it: 32 of them at once are more than two processors start.
MANY = {"type": "touch", "name": "many", "files": 64_000, "threads": 32, "directories": "own"}
# One that waits 12 ms for each create needs nothing of what elastic EFS can do.
FEW = {"type": "touch", "name": "few", "files": 100, "threads": 1, "directories": "own"}
BUSY = 0.9
FLEET = {"instanceType": "m6i.large", "count": 1}
FLEET_OF_TWO = {"instanceType": "m6i.large", "count": 2}


@pytest.fixture(scope="module")
def measured(cloud: Cloud) -> tuple[Run, Window]:
    """One run with a cell for each cause, and the stretch of time that it took."""
    cells = [(GP3, MANY, FLEET), (EFS, FEW, FLEET), (FSX, FEW | {"name": "creates", "threads": 10}, FLEET_OF_TWO)]
    document = matrix(
        storage=[GP3],
        workload=[WRITES],
        fleet=[FLEET],
        include=[dict(zip(("storage", "workload", "fleet"), cell, strict=True)) for cell in cells],
        emulate=True,
        maxConcurrentFileSystems=1,
    )
    with Window() as window:
        run = cloud.run("bottlenecks", document)
    return run, window


@pytest.fixture(scope="module")
def run(measured: tuple[Run, Window]) -> Run:
    """The run alone."""
    return measured[0]


def cell_of(run: Run, start: str) -> dict[str, Any]:
    (found,) = [one for one in run.summary()["cells"] if one["id"].startswith(start)]
    assert found["state"] == "measured", found["error"]
    return dict(found)


def bottleneck(run: Run, start: str) -> dict[str, Any]:
    return dict(cell_of(run, start)["bottleneck"])


def test_small_blocks_find_the_iops_of_a_volume_and_large_ones_its_throughput(measured: tuple[Run, Window]) -> None:
    run, window = measured
    said = bottleneck(run, "gp3-emulated.writes")

    # Where others use the processors, 16 writers of small blocks find these first.
    with window.excused():
        assert said["points"] == {"p01": "volume IOPS", "p02": "volume throughput"}
    assert {use["limit"] for use in said["uses"] if use["code"] == "rate"} <= {3_000.0, 131.072}


def test_creates_of_a_fleet_find_the_iops_of_the_file_system_that_it_shares(measured: tuple[Run, Window]) -> None:
    run, window = measured
    said = bottleneck(run, "fsx-emulated.creates")

    # Where others use the processors, these are found first.
    with window.excused():
        assert said["name"] == "FSx disk IOPS"
        assert [(use["limit"], use["unit"]) for use in said["uses"]] == [(500.0, "IOPS")]
        assert said["next"] == {"code": "raise"}


def test_a_storage_that_is_faster_than_the_generator_leaves_the_generator_as_the_ceiling(run: Run) -> None:
    assert bottleneck(run, "gp3-emulated.many")["name"] in {"client CPU", "tool"}


def test_one_writer_that_waits_saturates_nothing_and_its_waiting_is_told(run: Run) -> None:
    cell = cell_of(run, "efs-emulated.few")
    said = cell["bottleneck"]

    # The machine of a test has other work: where that takes its processors, they are what is told.
    if cell["points"][0]["use"]["cpu_share"] >= BUSY:
        assert said["name"] == "client CPU"
    else:
        assert said["name"] == "not saturated"
        assert said["waiting"]["workers"] == 1
        assert said["next"] == {"code": "load-more"}


def test_it_is_said_what_no_emulated_storage_shows(run: Run) -> None:
    said = bottleneck(run, "gp3-emulated.writes")

    assert {"code": "not-of-aws"} in said["unseen"]
    assert not said["is_provisional"]
