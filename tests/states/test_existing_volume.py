"""An EBS volume that somebody has already: looked at before anything is made, attached to one instance, and kept."""

import boto3
import pytest
from support.function_events import RUN, plan_run, problems_of_run
from support.refusals import refusal

import delete_file_system
import reap
from aws.records import table
from aws.stack import tags
from aws.stack.clients import client as cached_client
from aws.storages import clouds
from aws.storages.ebs import cloud as ebs
from matrix.terms.errors import LaunchRefused

READS = {"type": "command", "name": "reads", "command": "cat $CACHE_DIR/*", "workDirectory": "local"}
GP3 = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8, "iops": 3000, "throughputMiBps": 125, "mayWrite": False}


def volume_of(stack, zone="us-east-1b", **given):
    given = given or {tags.MAY_ATTACH: stack["STACK"]}
    tag = [{"Key": key, "Value": value} for key, value in given.items()]
    specification = [{"ResourceType": "volume", "Tags": tag}]
    return boto3.client("ec2").create_volume(
        AvailabilityZone=zone, Size=8, VolumeType="gp3", Iops=3000, Throughput=125, TagSpecifications=specification
    )["VolumeId"]


@pytest.fixture
def owned(stack):
    """Somebody's own volume in the second zone of the stack, which may be attached."""
    return volume_of(stack)


def described(volume):
    [shown] = boto3.client("ec2").describe_volumes(VolumeIds=[volume])["Volumes"]
    return shown


def on(volume, **storage):
    fleet = [{"instanceType": "m6i.large", "count": 1}]
    return {"storage": [GP3 | {"volumeId": volume} | storage], "workload": [READS], "fleet": fleet}


def refused(volume, context, **storage):
    problems = problems_of_run(context, **on(volume, **storage))
    return [f"{problem.path.rpartition('.')[2]}: {problem.rule}; {problem.fix}" for problem in problems]


def instance_in(zone_subnet):
    image = boto3.client("ec2").describe_images()["Images"]
    image_id = image[0]["ImageId"] if image else "ami-12345678"
    launched = boto3.client("ec2").run_instances(ImageId=image_id, MinCount=1, MaxCount=1, SubnetId=zone_subnet)
    return launched["Instances"][0]["InstanceId"]


def test_a_run_uses_it_and_leaves_it_as_it_was(owned, context):
    before = described(owned)
    plan = plan_run(context, **on(owned))
    storage = plan["file_systems"][0]["storage"]
    [subnet] = clouds.subnets(storage)
    instance = instance_in(subnet)

    ebs.attach(storage, [instance])
    ebs.attach(storage, [instance])  # by an attempt after a crash

    assert [each["InstanceId"] for each in described(owned)["Attachments"]] == [instance]
    boto3.client("ec2").terminate_instances(InstanceIds=[instance])
    gone = delete_file_system.handler({"run": RUN, "file_system": plan["file_systems"][0]["id"]}, context)
    swept = reap.handler({"run": RUN}, context)
    assert (gone["state"], swept["deleted"], table.resources(RUN)) == ("gone", [], [])
    assert described(owned) == before


@pytest.mark.parametrize("may_write", [False, True])
def test_it_is_mounted_read_only_unless_the_matrix_lets_it_be_written(owned, may_write):
    mount = clouds.mount_of(GP3 | {"volumeId": owned, "mayWrite": may_write}, [], RUN)

    assert (mount["kind"], mount["volumes"], mount.get("is_read_only")) == (
        "ebs-existing", [owned], None if may_write else True
    )  # fmt: skip
    assert mount.get("folder") == (f"storage-matrix-{RUN}" if may_write else None)


def test_all_problems_are_told_at_once(stack, context):
    volume = volume_of(stack, zone="us-east-1f", Name="theirs")

    problems = refused(volume, context, sizeGiB=16, volumeType="gp3", iops=4000)

    assert any("Key=storage-matrix:may-attach,Value=" in each for each in problems)
    assert any("is in us-east-1f, and the stack has subnets in" in each for each in problems)
    assert f"sizeGiB: {volume} has another; write 8" in problems
    assert f"iops: {volume} has another; write 3000" in problems


def test_one_that_is_not_there_is_refused(stack, context):
    [problem] = refused("vol-0123456789abcdef0", context)

    assert "EC2 has no such volume in us-east-1" in problem


def test_one_of_a_run_is_refused_since_it_goes_with_that(stack, context):
    volume = volume_of(stack, **{tags.MAY_ATTACH: stack["STACK"], tags.RUN: "theirs"})

    [problem] = refused(volume, context)
    assert "was made by the run theirs" in problem


def test_one_in_use_is_refused_with_who_has_it(owned, stack, context):
    instance = instance_in(stack["SUBNET_IDS"].split(",")[1])
    boto3.client("ec2").attach_volume(VolumeId=owned, InstanceId=instance, Device="/dev/sdf")

    assert any(f"is in-use by {instance}" in each for each in refused(owned, context))


def failing(monkeypatch, *codes):
    """Let EC2 refuse to attach with these codes before it does; return what was asked."""
    asked, attach = [], cached_client("ec2").attach_volume

    def answer(**request):
        asked.append(request)
        if len(asked) <= len(codes):
            raise refusal(codes[len(asked) - 1])
        return attach(**request)

    monkeypatch.setattr(cached_client("ec2"), "attach_volume", answer)
    monkeypatch.setattr("aws.storages.ebs.PAUSES_S", (0.0, 0.0))
    return asked


def test_an_instance_that_does_not_run_yet_is_waited_for(owned, stack, monkeypatch):
    asked = failing(monkeypatch, "IncorrectState", "VolumeInUse")
    instance = instance_in(stack["SUBNET_IDS"].split(",")[1])

    ebs.attach(GP3 | {"volumeId": owned}, [instance])

    assert len(asked) == 3
    assert described(owned)["State"] == "in-use"


@pytest.mark.parametrize(("code", "times"), [("UnauthorizedOperation", 1), ("IncorrectState", 3)])
def test_what_no_wait_mends_ends_the_cell_with_its_reason(owned, stack, monkeypatch, code, times):
    asked = failing(monkeypatch, *[code] * 9)

    with pytest.raises(LaunchRefused, match=f"{owned} was not attached to i-"):
        ebs.attach(GP3 | {"volumeId": owned}, [instance_in(stack["SUBNET_IDS"].split(",")[1])])

    assert len(asked) == times
    assert described(owned)["State"] == "available"
