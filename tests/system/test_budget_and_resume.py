"""Money, receipts and resuming, as whole runs on the local cloud show them."""

import json

import pytest
from support.runs import EBS, EFS, TOUCH, Cloud, Run, matrix, until

ONE, TWO = {"instanceType": "m6i.large", "count": 1}, {"instanceType": "m6i.large", "count": 2}
FSX = {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 64}


EVERY_STORAGE = matrix(storage=[EFS | {"name": "efs"}, EBS | {"name": "ebs"}, FSX | {"name": "fsx"}], budgetUsd=9)


@pytest.fixture(scope="module")
def measured(cloud: Cloud) -> Run:
    """A good run with a cell on each type of storage."""
    return cloud.run("measured", EVERY_STORAGE)


def swept(run: Run) -> dict:
    """The receipt once it is complete. Sweeps by hand, so as not to wait for the next that is scheduled."""

    def sweep() -> bool:
        cloud, event = run.cloud, json.dumps({"run": run.name})
        cloud.client("lambda").invoke(FunctionName=cloud.output("ReapFunctionName"), Payload=event)
        return run.document("receipt.json")["is_complete"]

    until(sweep, "the receipt to be complete")
    return run.document("receipt.json")


def test_a_cell_whose_worst_case_does_not_fit_is_skipped_and_the_run_ends_red(cloud: Cloud):
    document = matrix(storage=[EBS | {"name": "ebs"}], workload=[TOUCH | {"name": "t"}], fleet=[ONE, TWO])
    planned = cloud.run("reserves", document | {"dryRun": True}).document("plan.json")["cells"]
    one, two = (cell["reserve_usd"] for cell in planned)
    assert one < two

    # Enough for either alone and for what is expected of both; after the first, the second's worst case does not fit.
    run = cloud.run("one-skipped", document | {"budgetUsd": two + 0.0001})

    first, second = run.summary()["cells"]
    assert (first["state"], second["state"], second["error"]["name"]) == ("measured", "skipped", "skipped: budget")
    assert "would exceed budgetUsd" in second["error"]["message"]
    assert run.rows()["CELL#ebs.t.m6i.large-x2"]["state"] == "skipped"
    assert run.states().count("Launch fleet") == 1
    assert run.states()[-1] == "Some cells failed"
    assert "0 of 2 cells failed, 1 skipped" in run.describe()["cause"]
    row = run.rows()["PLAN"]
    assert row["reserved"] == {}
    assert 0 < float(row["committed_usd"]) < one  # what it took, not what was set aside for it
    assert run.left_behind() == {}


def test_the_receipt_lists_every_resource_who_saw_it_gone_and_its_cost(measured: Run):
    run = measured

    assert run.status == "SUCCEEDED"
    receipt = swept(run)
    kinds = [one["kind"] for one in receipt["resources"]]
    assert (kinds.count("efs"), kinds.count("fsx-openzfs"), kinds.count("instance")) == (1, 1, 3)
    assert kinds.count("volume") >= 3
    for one in receipt["resources"]:
        assert one["created_at"] < one["gone_at"]
        assert "Describe" in one["verified"]
        assert one["hours"] >= 1 / 60 - 0.0001
    fsx = next(one for one in receipt["resources"] if one["kind"] == "fsx-openzfs")
    # 64 GiB at 0.09 and 64 MB/s at 0.26 a month of 730 hours.
    assert fsx["cost_usd"] == pytest.approx(fsx["hours"] * (64 * 0.09 + 64 * 0.26) / 730, rel=0.01)
    totals = receipt["totals"]
    assert totals["resources"] == totals["gone"] == len(kinds)
    assert 0 < totals["cost_usd"] < run.summary()["cost_usd"]["high"]
    until(lambda: run.summary()["receipt"]["is_complete"], "the summary to have the complete receipt")
    assert run.left_behind() == {}


def test_a_run_that_is_stopped_while_fsx_is_created_leaves_nothing_and_its_receipt_says_so(cloud: Cloud):
    def stop(run: Run) -> None:
        until(lambda: "Check file system" in run.states(), "the check of the file system")
        cloud.client("stepfunctions").stop_execution(executionArn=run.arn, error="Interrupted", cause="a test")

    run = cloud.run("stopped-while-created", matrix(storage=[FSX]), stop)

    assert run.status == "ABORTED"
    receipt = swept(run)
    assert run.left_behind() == {}
    assert receipt["sweep"]["remaining"] == 0


def test_a_resumed_run_measures_only_what_the_earlier_one_has_not(cloud: Cloud):
    # Its first point leaves samples, its second fails.
    halves = {"type": "build", "name": "half", "expectedSeconds": 1, "jobs": [1, 2], "build": "test $JOBS = 1"}
    touch = TOUCH | {"name": "t"}
    ebs, efs = EBS | {"name": "ebs"}, EFS | {"name": "efs"}
    first = cloud.run("resumed", matrix(storage=[efs, ebs], workload=[touch, halves]))
    cells = first.summary()["cells"]
    states = ["measured", "failed", "measured", "failed"]
    assert [cell["state"] for cell in cells] == states, [cell["error"] for cell in cells]

    # In another order, and without the cell for which the EFS would be needed once more.
    without = [{"storage": {"type": "efs"}, "workload": {"type": "build"}}]
    again = matrix(storage=[ebs, efs], workload=[touch, halves], exclude=without, resume="resumed")
    second = cloud.run("resuming", again)

    states = second.states()
    assert (states.count("Launch fleet"), states.count("Create file system")) == (1, 1)
    cells = {cell["id"]: cell for cell in second.summary()["cells"]}
    for name in ("efs.t.m6i.large-x1", "ebs.t.m6i.large-x1"):
        assert cells[name]["taken_from"] == {"run": "resumed", "cell": name}
        assert cells[name]["points"] == next(cell for cell in first.summary()["cells"] if cell["id"] == name)["points"]
    half = cells["ebs.half.m6i.large-x1"]
    assert (half["state"], "taken_from" in half) == ("failed", False)
    [attempt] = half["attempts"]
    assert (attempt["run"], attempt["instances"]) == ("resumed", 1)
    assert attempt["prefix"] == "runs/resumed/cells/ebs.half.m6i.large-x1/"
    # The point that was measured twice has the value of this run only.
    assert [point["metrics"]["duration_s"]["n"] for point in half["points"] if point["metrics"]] == [1]
    totals = second.document("plan.json")["totals"]
    assert (totals["cells"], totals["taken_over"], totals["instances"]) == (3, 2, 1)
    assert second.left_behind() == {}


def test_a_run_with_nothing_left_to_measure_creates_nothing(cloud: Cloud, measured: Run):
    run = cloud.run("nothing-left", EVERY_STORAGE | {"resume": measured.name})

    assert run.status == "SUCCEEDED", str(run.describe().get("cause"))[-900:]
    assert [cell["taken_from"]["run"] for cell in run.summary()["cells"]] == [measured.name] * 3
    assert swept(run)["resources"] == []


def test_a_run_that_does_not_exist_cannot_be_resumed(cloud: Cloud):
    run = cloud.run("orphan", matrix(resume="never-was"))

    assert run.describe()["error"] == "InvalidMatrix"
    assert "has no plan in the bucket" in run.describe()["cause"]
