"""Runs on an EFS that somebody has already: what was there before is there afterwards, and nothing else."""

from collections.abc import Iterator

import pytest
from support.owned import Owned, owned_efs
from support.runs import TOUCH, Cloud, Run, matrix, until

BROKEN = {"type": "build", "name": "broken", "build": "echo half > half; exit 3", "expectedSeconds": 1}
SLOW = {"type": "build", "name": "slow", "build": "echo half > half; sleep 60", "expectedSeconds": 60}


@pytest.fixture(scope="module")
def owned(cloud: Cloud) -> Iterator[Owned]:
    with owned_efs(cloud) as made:
        yield made


def on(owned: Owned, *workloads: dict) -> dict:
    fleet = [{"instanceType": "m6i.large", "count": 2}]
    return matrix(storage=[{"type": "efs", "fileSystemId": owned.id}], workload=list(workloads), fleet=fleet)


def complete_receipt(run: Run) -> dict:
    """The receipt once the sweep after the run has made it complete."""
    until(lambda: run.rows().get("RECEIPT", {}).get("is_complete"), "the receipt to be complete")
    return run.document("receipt.json")


def test_a_run_that_fails_half_way_leaves_what_was_there_and_nothing_else(cloud, owned):
    before = owned.state()

    run = cloud.run("existing", on(owned, TOUCH, BROKEN))

    cells = run.summary()["cells"]
    assert [cell["state"] for cell in cells] == ["measured", "failed"], cells
    assert owned.state() == before
    receipt = complete_receipt(run)
    assert [(each["id"], each["folder"]) for each in receipt["not_ours"]] == [(owned.id, None)]
    assert "efs" not in {resource["kind"] for resource in receipt["resources"]}
    assert f"{owned.id} is not ours: left as it was" in run.document_text("summary.md")


def test_a_run_that_is_stopped_while_it_measures_leaves_what_was_there_and_nothing_else(cloud, owned):
    before = owned.state()

    def stop(run: Run) -> None:
        until(lambda: list(owned.folder.rglob("half")), "a build on the file system")
        cloud.client("stepfunctions").stop_execution(executionArn=run.arn, error="Interrupted", cause="a test")

    run = cloud.run("existing-stopped", on(owned, SLOW), stop)

    complete_receipt(run)
    assert owned.state() == before
