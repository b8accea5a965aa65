"""Runs on what somebody has already, EFS, FSx and a volume: it is there afterwards as it was, and nothing else."""

import json
from collections.abc import Iterator

import pytest
from support.closed import closed
from support.owned import Owned, owned_efs, owned_fsx, owned_volume
from support.runs import ROOT, TOUCH, Cloud, Run, matrix, until

BROKEN = {"type": "build", "name": "broken", "build": "echo half > half; exit 3", "expectedSeconds": 1}
SLOW = {"type": "build", "name": "slow", "build": "echo half > half; sleep 60", "expectedSeconds": 60}


@pytest.fixture(scope="module")
def owned(cloud: Cloud) -> Iterator[Owned]:
    with owned_efs(cloud) as made:
        yield made


@pytest.fixture(scope="module")
def owned_zfs(cloud: Cloud) -> Iterator[Owned]:
    with owned_fsx(cloud) as made:
        yield made


@pytest.fixture(scope="module")
def volume(cloud: Cloud) -> Iterator[Owned]:
    with owned_volume(cloud) as made:
        yield made


def on(storages: list[dict], *workloads: dict, count: int = 1) -> dict:
    return matrix(storage=storages, workload=list(workloads), fleet=[{"instanceType": "m6i.large", "count": count}])


def efs(owned: Owned) -> dict:
    return {"type": "efs", "fileSystemId": owned.id}


def fsx(owned: Owned) -> dict:
    sizes = {"storageCapacityGiB": 64, "throughputCapacityMBps": 64}
    return {"type": "fsx-openzfs", "fileSystemId": owned.id, **sizes}


def complete_receipt(run: Run) -> dict:
    """The receipt once the sweep after the run has made it complete."""
    until(lambda: run.rows().get("RECEIPT", {}).get("is_complete"), "the receipt to be complete")
    return run.document("receipt.json")


def test_a_run_that_fails_half_way_leaves_what_was_there_and_nothing_else(cloud, owned, owned_zfs):
    before = owned.state(), owned_zfs.state()

    run = cloud.run("existing", on([efs(owned), fsx(owned_zfs)], TOUCH, BROKEN))

    cells = run.summary()["cells"]
    assert [cell["state"] for cell in cells] == ["measured", "failed"] * 2, [cell["error"] for cell in cells]
    assert (owned.state(), owned_zfs.state()) == before
    receipt = complete_receipt(run)
    assert {(each["id"], each["folder"]) for each in receipt["not_ours"]} == {(owned.id, None), (owned_zfs.id, None)}
    assert {resource["kind"] for resource in receipt["resources"]} == {"instance", "volume"}
    assert f"{owned.id} is not ours: left as it was" in run.document_text("summary.md")


def test_a_run_that_is_stopped_while_it_measures_leaves_what_was_there_and_nothing_else(cloud, owned):
    before = owned.state()

    def stop(run: Run) -> None:
        until(lambda: list(owned.folder.rglob("half")), "a build on the file system")
        cloud.client("stepfunctions").stop_execution(executionArn=run.arn, error="Interrupted", cause="a test")

    run = cloud.run("existing-stopped", on([efs(owned)], SLOW, count=2), stop)

    complete_receipt(run)
    assert owned.state() == before


def of_volume(owned: Owned, **more) -> dict:
    return {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8, "volumeId": owned.id, **more}


def test_a_volume_is_read_by_one_instance_after_the_other_and_is_not_written(cloud, volume):
    """The volume is closed by a mount, as on AWS; the first command is that of the example."""
    before = volume.state()
    [example] = json.loads((ROOT / "events" / "existing-volume.json").read_text())["workload"]
    folder = example | {"name": "folder", "command": 'grep -r from "$CACHE_DIR"', "cachePath": "letters"}
    readers = [each | {"expectedSeconds": 1} for each in (example, folder)]

    with closed(volume.folder):
        run = cloud.run("existing-volume", on([of_volume(volume)], *readers))

    cells = run.summary()["cells"]
    assert [cell["state"] for cell in cells] == ["measured"] * 2, [cell["error"] for cell in cells]
    assert volume.state() == before
    receipt = complete_receipt(run)
    assert [(each["id"], each["folder"]) for each in receipt["not_ours"]] == [(volume.id, None)]
    assert volume.id not in {resource["id"] for resource in receipt["resources"]}


def test_a_volume_that_may_be_written_is_left_as_it_was_by_a_cell_that_fails_and_one_that_measures(cloud, volume):
    before = volume.state()

    run = cloud.run("existing-volume-written", on([of_volume(volume, mayWrite=True)], TOUCH, BROKEN))

    assert [cell["state"] for cell in run.summary()["cells"]] == ["measured", "failed"]
    complete_receipt(run)
    assert volume.state() == before
