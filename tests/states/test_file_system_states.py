"""Create, check and delete a file system, function by function."""

import boto3
import pytest
from botocore.exceptions import ClientError
from support.function_events import RUN
from support.refusals import refusing

import analyse_run
import check_deleted
import check_file_system
import create_file_system
import delete_file_system
import reap
import record_failed_file_system
from aws.records import bucket, table
from aws.stack import clock
from aws.teardown import deleting
from matrix.terms.errors import FileSystemLeftBehind, FileSystemTimeout

EFS = "efs-elastic"


def create(context, file_system=EFS):
    return create_file_system.handler({"run": RUN, "file_system": file_system}, context)


def check(context, made, file_system=EFS):
    event = {"run": RUN, "file_system": file_system}
    return check_file_system.handler(event | {key: made[key] for key in ("resource_ids", "started_at")}, context)[
        "state"
    ]


def delete(context, handler, **facts):
    return handler({"run": RUN, "file_system": EFS, **facts}, context)


def test_a_shared_file_system_is_made_tagged_recorded_and_becomes_ready(planned, context):
    made = create(context)

    assert made["resource_ids"][0].startswith("fs-")
    assert [check(context, made), check(context, made)] == ["creating", "ready"]
    assert [row["id"] for row in table.resources(RUN)] == made["resource_ids"]


def test_a_file_system_that_never_becomes_available_is_given_up_after_its_types_limit(planned, context, monkeypatch):
    monkeypatch.setattr("aws.storages.efs.cloud.is_ready", lambda *_: False)
    made = create(context)

    assert check(context, made) == "creating"
    monkeypatch.setattr(check_file_system, "now", lambda: made["started_at"] + 40)
    looked = check_file_system.handler({"run": RUN, "file_system": EFS, **made}, context)
    assert looked == {"state": "creating", "wait_s": 10, "is_seen": True}
    monkeypatch.setattr(check_file_system, "now", lambda: made["started_at"] + 901)
    with pytest.raises(FileSystemTimeout, match="not available 901 s after its creation, limit 900 s"):
        check(context, made)


@pytest.mark.parametrize(
    "code",
    ["FileSystemNotFound", "ResourceNotFoundException", "NoSuchBucket", "VolumeNotFound",
     "StorageVirtualMachineNotFound", "MountTargetNotFound"],
)  # fmt: skip
def test_a_file_system_that_its_service_does_not_know_yet_is_being_created_for_a_minute(
    planned, context, monkeypatch, code
):
    made = {"run": RUN, "file_system": EFS, **create(context)}

    def refuse(code):
        monkeypatch.setattr("aws.storages.efs.cloud.is_ready", refusing(code))

    refuse(code)
    looked = check_file_system.handler(made, context)
    assert (looked["state"], looked["is_seen"]) == ("creating", False)
    with pytest.raises(ClientError, match=code):  # it was there before: somebody has deleted it
        check_file_system.handler(made | {"is_seen": True}, context)
    refuse("AccessDeniedException")
    with pytest.raises(ClientError):
        check_file_system.handler(made, context)
    refuse(code)
    monkeypatch.setattr(check_file_system, "now", lambda: made["started_at"] + 61)
    with pytest.raises(ClientError, match=code):
        check_file_system.handler(made, context)


def test_a_deleted_file_system_is_gone_only_when_aws_says_so(planned, context):
    made = create(context)
    check(context, made)

    began = delete(context, delete_file_system.handler)
    states = [delete(context, check_deleted.handler, since=began["since"])["state"] for _ in range(3)]

    assert states[-1] == "gone"
    assert all("gone_at" in row for row in table.resources(RUN))


def test_a_snapshot_that_somebody_makes_of_a_volume_goes_too_and_keeps_nothing_waiting(planned, context):
    ec2, file_system = boto3.client("ec2"), "ebs-gp3-20gib-3000iops"
    volume = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
    table.record_resource(RUN, "volume", volume, file_system=file_system)
    ec2.create_snapshot(VolumeId=volume)
    ec2.delete_volume(VolumeId=volume)

    event = {"run": RUN, "file_system": file_system, "since": clock.now()}
    states = [check_deleted.handler(event, context)["state"] for _ in range(2)]

    assert states == ["deleting", "gone"]
    assert ec2.describe_snapshots(Filters=[{"Name": "volume-id", "Values": [volume]}])["Snapshots"] == []
    assert [(row["kind"], "gone_at" in row) for row in table.resources(RUN)] == [
        ("ebs-snapshot", True), ("volume", True),
    ]  # fmt: skip


def test_a_file_system_that_does_not_go_away_is_an_error(planned, context, monkeypatch):
    create(context)
    monkeypatch.setattr("aws.storages.efs.cloud.delete", lambda _: False)

    with pytest.raises(FileSystemLeftBehind, match="still there"):
        delete(context, check_deleted.handler, since=clock.now() - 3601)


def record_failed_deletion(context, cause):
    failure = {"Error": "Lambda.AWSLambdaException", "Cause": cause}
    event = {"run": RUN, "file_system": EFS, "failure": failure, "is_deletion": True}
    record_failed_file_system.handler(event, context)


def test_why_a_file_system_could_not_be_deleted_is_told_though_a_sweep_deletes_it_later(planned, context):
    create(context)
    record_failed_deletion(context, "not authorized to perform: lambda:InvokeFunction")
    analyse_run.handler({"run": RUN}, context)
    reap.handler({"run": RUN}, context)

    summary = bucket.get(f"runs/{RUN}/summary.json")
    [warning] = [one for one in summary["warnings"] if one.startswith(f"{EFS}: not deleted with its cells")]
    assert "Lambda.AWSLambdaException: not authorized to perform: lambda:InvokeFunction" in warning
    # A deletion that failed is the result of no cell.
    assert not [key for key, _ in bucket.listing(f"runs/{RUN}/cells/") if key.endswith("result.json")]


def test_a_deletion_that_succeeds_at_last_leaves_no_warning(planned, context):
    create(context)
    record_failed_deletion(context, "killed")
    for _ in range(3):
        delete(context, check_deleted.handler, since=clock.now())

    assert deleting.warnings(RUN) == []
