"""A snapshot that volumes are made from: looked at before anything is made, and refused with all its problems."""

import boto3
import pytest
from support.function_events import RUN, plan_run, problems_of_run

import launch_fleet
from aws.stack import network
from aws.stack.clients import client as cached_client
from aws.storages import clouds
from local.corrections import fast_restores
from matrix.terms.errors import LaunchRefused

EBS = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8}
OWN, OTHER = "123456789012", "210987654321"


def on(snapshot, **storage):
    """The axis of volumes from a snapshot."""
    return {"storage": [EBS | storage | {"snapshotId": snapshot}]}


def refused(context, snapshot, **storage):
    problems = problems_of_run(context, **on(snapshot, **storage))
    return [(problem.path, f"{problem.rule}; {problem.fix}") for problem in problems]


@pytest.fixture
def snapshot(stack):
    """A snapshot of a volume of 8 GiB."""
    fast_restores.install()
    ec2 = boto3.client("ec2")
    volume = ec2.create_volume(AvailabilityZone="us-east-1a", Size=8)["VolumeId"]
    return ec2.create_snapshot(VolumeId=volume)["SnapshotId"]


@pytest.fixture
def described(snapshot, monkeypatch):
    """The same as EC2 describes it; a test may change that."""
    [shown] = boto3.client("ec2").describe_snapshots(SnapshotIds=[snapshot])["Snapshots"]
    monkeypatch.setattr(cached_client("ec2"), "describe_snapshots", lambda **_: {"Snapshots": [shown]})
    return shown


def warnings_of(context, snapshot, **storage):
    warnings = plan_run(context, **on(snapshot, **storage))["warnings"]
    return [warning["message"] for warning in warnings if warning["path"] == "storage[0].snapshotId"]


def test_a_completed_one_that_fits_is_planned_without_another_word(snapshot, context):
    [first_reads] = warnings_of(context, snapshot)

    assert "fast snapshot restore" in first_reads


def restored_fast(snapshot, *zones):
    boto3.client("ec2").enable_fast_snapshot_restores(SourceSnapshotIds=[snapshot], AvailabilityZones=zones)


def test_volumes_are_restored_as_the_matrix_says_or_not_at_all(snapshot, context):
    fast = {"fastSnapshotRestore": True}
    [(path, _)] = refused(context, snapshot, **fast)
    assert path == "storage[0].fastSnapshotRestore"

    restored_fast(snapshot, "us-east-1b")

    [(path, _)] = refused(context, snapshot)
    assert path == "storage[0].snapshotId"
    assert [network.availability_zone(each) for each in clouds.subnets(EBS | {"snapshotId": snapshot, **fast})] == [
        "us-east-1b"
    ]
    assert warnings_of(context, snapshot, **fast) == []


def test_a_fleet_is_refused_if_a_credit_was_missing_for_one_of_its_volumes(snapshot, context):
    restored_fast(snapshot, "us-east-1a", "us-east-1b")
    changes = {
        "workload": [{"type": "touch", "files": 8}],
        "fleet": [{"instanceType": "m6i.large", "count": 6, "placement": "same-az"}],
        "launches": 2,
    }
    first, second = plan_run(context, **on(snapshot, fastSnapshotRestore=True), **changes)["cells"]

    def launch(cell):
        launch_fleet.handler({"run": RUN, "cell": cell["id"], "resource_ids": []}, context)

    # The snapshot of 8 GiB has 10 credits in each zone.
    launch(first)
    with pytest.raises(LaunchRefused) as refusal:
        launch(second)
    assert "2 of 6 volumes" in str(refusal.value)


def test_one_that_is_nobodys_is_refused(stack, context):
    [(path, problem)] = refused(context, "snap-0123456789abcdef0")

    assert path == "storage[0].snapshotId"
    assert "EC2 shows this account no such snapshot in us-east-1" in problem


def test_one_that_is_not_shared_with_the_account_is_refused(snapshot, context, monkeypatch):
    # EC2 leaves it out of its answer instead of refusing the call.
    monkeypatch.setattr(cached_client("ec2"), "describe_snapshots", lambda **_: {"Snapshots": []})

    [(_, problem)] = refused(context, snapshot)

    assert "EC2 shows this account no such snapshot" in problem


def test_all_its_problems_are_told_at_once(described, context):
    described |= {
        "State": "error", "StateMessage": "no permission to use the key", "StorageTier": "archive", "VolumeSize": 200,
        "Encrypted": True, "OwnerId": OTHER, "KmsKeyId": f"arn:aws:kms:us-east-1:{OTHER}:key/k",
    }  # fmt: skip
    name = described["SnapshotId"]

    problems = refused(context, name)

    assert problems == [
        (
            "storage[0].snapshotId",
            "is error (no permission to use the key); write one that is completed, or wait until it is",
        ),
        (
            "storage[0].snapshotId",
            "is archived, and has to be restored first; "
            f"aws ec2 restore-snapshot-tier --snapshot-id {name} --permanent-restore, which takes up to days",
        ),
        (
            "storage[0].sizeGiB",
            f"{name} is of a volume of 200 GiB, and no smaller one can be made from it; write 200",
        ),
        (
            "storage[0].snapshotId",
            f"is encrypted with arn:aws:kms:us-east-1:{OTHER}:key/k of account {OTHER}, which no role of the stack may "
            f"use; copy it with the account's own key: aws ec2 copy-snapshot --source-region us-east-1 "
            f"--source-snapshot-id {name} --region us-east-1 --encrypted",
        ),
    ]


def test_a_key_of_the_account_itself_is_a_doubt_since_it_may_be_that_of_ebs(described, context):
    described |= {"Encrypted": True, "OwnerId": OWN, "KmsKeyId": "arn:aws:kms:us-east-1:123456789012:key/k"}

    told = warnings_of(context, described["SnapshotId"])

    assert any("unless that is aws/ebs" in message for message in told)
