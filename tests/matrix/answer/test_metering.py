"""What is billed by use, by what the mounts of a cell's instances counted from the mount to the end."""

import pytest

from matrix.answer.metering import metered_usd
from matrix.answer.results import cell_result
from matrix.check.read import check_matrix
from matrix.plan.planning import plan
from matrix.price.book import published_prices
from matrix.samples.file import SampleFile

GIB, KIB = 2**30, 2**10
FIO = {"type": "fio", "rw": "randread", "bs": "4k", "direct": 1, "ioengine": "libaio", "size": "1G"}
TIMED = FIO | {"time_based": 1, "runtime": 60, "ramp_time": 30}
OWN = {"type": "command", "name": "own", "command": "true", "expectedSeconds": 60}
NOTHING = {"nfs_read_bytes": 0.0, "nfs_write_bytes": 0.0}


def requests(way, number, size):
    return NOTHING | {f"nfs_{way}_bytes": number * size, f"nfs_{way}_operations": number}


def settled(workload, of_step, in_all, *, storage="efs", launched=2, region="us-east-1"):
    """Return by use what is planned and settled of two instances that each counted so, and their plan."""
    matrix = {"name": "m", "storage": [{"type": storage}], "workload": [workload], "repetitions": 1}
    matrix["fleet"] = [{"instanceType": "m6i.large", "count": 2}]
    [cell] = plan(check_matrix(matrix), region=region).to_document()["cells"]
    sample = {
        "point": "p01",
        "repetition": 1,
        "step": 0,
        "metrics": {},
        "started_at": 1.0,
        "ended_at": 91.0,
        "tool": {},
    }
    files = [
        SampleFile.model_validate(
            {"run": "m", "cell": cell["id"], "instance": {"id": f"i-{number}", "type": "m6i.large"},
             "mount": {"kind": "nfs"}, "samples": [sample | {"counters": of_step}]}
        )
        for number in range(2)
    ]  # fmt: skip
    result = cell_result(cell, files, error=None, actual_s=None)
    after = metered_usd(cell, result, files, in_all and [in_all] * launched, published_prices().for_region(region))
    beside = {end: cell["metered_usd"][end] - sum(use["cost_usd"][end] for use in cell["by_use"]) for end in after}
    return {end: usd - beside[end] for end, usd in after.items()}, cell


def test_what_a_mount_counted_in_all_is_billed_with_what_was_laid_out_and_the_ramp():
    # A ramp of a third of the reads; 1 GiB is laid out by requests of a MiB before the step.
    step, laid_out = requests("read", 900_000, 4 * KIB), requests("write", 1_024, KIB * KIB)
    in_all = {name: step.get(name, 0.0) + laid_out.get(name, 0.0) for name in step | laid_out}

    usd, cell = settled(TIMED, step, in_all)

    read, written = 2 * 900_000 * 32 * KIB / GIB * 0.03, 2 * 0.06
    assert usd["expected"] == pytest.approx(read + written, abs=2e-4)
    assert usd["low"] == pytest.approx(read + written, abs=2e-4)
    # As far as mounts can tell, one request in 256 had a MiB and the others nothing.
    assert usd["high"] == pytest.approx(read * (9 / 8 - 1 / 256) + written, abs=2e-4)
    assert usd["high"] < sum(use["cost_usd"]["high"] for use in cell["by_use"])


@pytest.mark.parametrize(
    "workload", [OWN, OWN | {"expectedReadGiB": 1, "expectedWriteGiB": 0}], ids=["unknown", "known"]
)
def test_a_command_is_billed_by_what_it_moved_however_much_was_planned(workload):
    moved = requests("read", 200 * 2**10, KIB * KIB)

    usd, _ = settled(workload, moved, moved)

    assert (usd["low"], usd["expected"]) == pytest.approx((12.0, 12.0), abs=2e-4)
    assert usd["high"] >= 12.0 - 2e-4


@pytest.mark.parametrize("in_all", [None, NOTHING], ids=["not reported", "nothing"])
def test_a_cell_is_billed_as_planned_where_an_instance_reported_nothing(in_all):
    usd, cell = settled(OWN, NOTHING, in_all)

    planned = {end: sum(use["cost_usd"][end] for use in cell["by_use"]) for end in usd}
    assert usd == pytest.approx(dict.fromkeys(usd, 0.0) if in_all else planned, abs=2e-4)


def test_nothing_is_billed_by_use_where_no_instance_was_launched():
    usd, _ = settled(FIO, {}, NOTHING, launched=0)

    assert usd == pytest.approx({"low": 0.0, "expected": 0.0, "high": 0.0}, abs=2e-4)


def test_requests_to_s3_are_billed_as_planned_as_no_mount_counts_them():
    usd, cell = settled(FIO, {}, {"lustre_read_bytes": 1e12}, storage="mountpoint")

    assert usd == pytest.approx({end: sum(use["cost_usd"][end] for use in cell["by_use"]) for end in usd}, abs=2e-4)


def test_prices_that_nobody_confirmed_for_a_region_keep_their_range():
    moved = requests("read", 2**10, KIB * KIB)

    usd, _ = settled(OWN, moved, moved, region="sa-east-1")

    assert usd == pytest.approx({"low": 0.06 * 0.9, "expected": 0.06, "high": 0.06 * 1.4}, abs=2e-4)
