"""Runs on an EFS and an FSx that somebody has already: what was there before is there afterwards, and nothing else."""

from collections.abc import Iterator

import pytest
from support.owned import Owned, OwnedBucket, owned_bucket, owned_efs, owned_fsx
from support.runs import TOUCH, Cloud, Run, matrix, until

BROKEN = {"type": "build", "name": "broken", "build": "echo half > half; exit 3", "expectedSeconds": 1}
SLOW = {"type": "build", "name": "slow", "build": "echo half > half; sleep 60", "expectedSeconds": 60}


# Reads what there is, and is refused what it may not: to read beside the prefix, to write, to delete.
READER = """python3 -c '
import boto3, os
from botocore.exceptions import ClientError
bucket, prefix = os.environ["S3_BUCKET"], os.environ["S3_PREFIX"]
s3 = boto3.client("s3")
keys = [each["Key"] for each in s3.list_objects_v2(Bucket=bucket, Prefix=prefix + "/")["Contents"]]
assert [s3.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys] == [b"second"] * 2
for attempt in (
    lambda: s3.get_object(Bucket=bucket, Key="beside/c"),
    lambda: s3.put_object(Bucket=bucket, Key=prefix + "/new", Body=b""),
    lambda: s3.put_object_tagging(Bucket=bucket, Key=keys[0], Tagging={"TagSet": []}),
    lambda: s3.delete_object(Bucket=bucket, Key=keys[0]),
):
    try:
        attempt()
    except ClientError as error:
        assert error.response["Error"]["Code"] == "AccessDenied", error
    else:
        raise SystemExit("that was allowed")
'"""


@pytest.fixture(scope="module")
def owned_s3(cloud: Cloud) -> Iterator[OwnedBucket]:
    with owned_bucket(cloud) as made:
        yield made


def by_commands(owned: OwnedBucket, commands: dict[str, str], count: int = 1) -> list[dict]:
    """Elements of `include` that run commands on somebody's objects, by their names."""
    storage = {"type": "s3", "client": "command", "bucket": owned.name, "prefix": "letters/2026"}
    fleet = {"instanceType": "m6i.large", "count": count}
    return [
        {"storage": storage, "workload": {"type": "command", "name": name, "command": command, "expectedSeconds": 5},
         "fleet": fleet}
        for name, command in commands.items()
    ]  # fmt: skip


@pytest.fixture(scope="module")
def owned(cloud: Cloud) -> Iterator[Owned]:
    with owned_efs(cloud) as made:
        yield made


@pytest.fixture(scope="module")
def owned_zfs(cloud: Cloud) -> Iterator[Owned]:
    with owned_fsx(cloud) as made:
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


def test_a_run_that_fails_half_way_leaves_what_was_there_and_nothing_else(cloud, owned, owned_zfs, owned_s3):
    before = owned.state(), owned_zfs.state(), owned_s3.state()
    include = by_commands(owned_s3, {"reader": READER, "broken": "exit 3"})

    run = cloud.run("existing", on([efs(owned), fsx(owned_zfs)], TOUCH, BROKEN) | {"include": include})

    cells = run.summary()["cells"]
    assert [cell["state"] for cell in cells] == ["measured", "failed"] * 3, [cell["error"] for cell in cells]
    assert (owned.state(), owned_zfs.state(), owned_s3.state()) == before
    receipt = complete_receipt(run)
    assert {(each["id"], each["folder"]) for each in receipt["not_ours"]} == {
        (owned.id, None), (owned_zfs.id, None), ("theirs/letters/2026", None),
    }  # fmt: skip
    assert {resource["kind"] for resource in receipt["resources"]} == {"instance", "volume"}
    assert f"{owned.id} is not ours: left as it was" in run.document_text("summary.md")


def test_a_run_that_is_stopped_while_it_measures_leaves_what_was_there_and_nothing_else(cloud, owned, owned_s3):
    before = owned.state(), owned_s3.state()
    include = by_commands(owned_s3, {"slow": "sleep 60"})

    def stop(run: Run) -> None:
        until(lambda: list(owned.folder.rglob("half")), "a build on the file system")
        cloud.client("stepfunctions").stop_execution(executionArn=run.arn, error="Interrupted", cause="a test")

    run = cloud.run("existing-stopped", on([efs(owned)], SLOW, count=2) | {"include": include}, stop)

    complete_receipt(run)
    assert (owned.state(), owned_s3.state()) == before
