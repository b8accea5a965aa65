"""An EFS or FSx that somebody has already: looked at before anything is made, used, and left as it was."""

from datetime import UTC, datetime

import boto3
import pytest
from botocore.stub import Stubber
from support.function_events import RUN, plan_run, problems_of_run

import analyse_cell
import check_file_system
import create_file_system
import delete_file_system
import launch_fleet
import reap
from aws.records import bucket, table
from aws.stack import network, tags
from aws.stack.clients import client as cached_client
from aws.storages import clouds, reach
from aws.storages.efs import cloud as efs
from aws.storages.fsx_openzfs import cloud as fsx_openzfs
from aws.storages.mountpoint import cloud as mountpoint
from aws.storages.nfs import cloud as nfs
from aws.storages.s3 import cloud as s3
from aws.teardown import receipts
from matrix.storages.models import existing_id
from matrix.terms.errors import FileSystemFailed
from matrix.terms.keys import Board


@pytest.fixture
def owned(stack):
    """Somebody's own elastic EFS, with a mount target in each zone of the stack, which the stack's group may reach."""
    client = boto3.client("efs")
    made = client.create_file_system(
        CreationToken="theirs", ThroughputMode="elastic", Tags=[{"Key": "Name", "Value": "home"}]
    )["FileSystemId"]
    for subnet in stack["SUBNET_IDS"].split(","):
        group = stack["FILE_SYSTEM_SECURITY_GROUP_ID"]
        client.create_mount_target(FileSystemId=made, SubnetId=subnet, SecurityGroups=[group])
    return made


def described(file_system):
    """What EFS and EC2 say of it, but for the time."""
    client = boto3.client("efs")
    [shown] = client.describe_file_systems(FileSystemId=file_system)["FileSystems"]
    del shown["SizeInBytes"]["Timestamp"]
    targets = client.describe_mount_targets(FileSystemId=file_system)["MountTargets"]
    groups = boto3.client("ec2").describe_network_interfaces()["NetworkInterfaces"]
    return shown, targets, [interface["Groups"] for interface in groups]


def on(file_system, **storage):
    """The axis of the one storage that exists."""
    return {"storage": [{"type": "efs", **storage, "fileSystemId": file_system}]}


def test_a_run_uses_it_and_leaves_it_as_it_was(owned, context):
    before = described(owned)
    plan = plan_run(context, **on(owned))
    [name] = [planned["id"] for planned in plan["file_systems"]]
    of_it = {"run": RUN, "file_system": name}

    made = create_file_system.handler(of_it, context)
    ready = check_file_system.handler(of_it | {"resource_ids": [owned], "started_at": made["started_at"]}, context)
    mount = clouds.mount_of(plan["file_systems"][0]["storage"], [owned], RUN)
    gone = delete_file_system.handler(of_it, context)
    swept = reap.handler({"run": RUN}, context)

    assert (made["resource_ids"], ready["state"], gone["state"]) == ([owned], "ready", "gone")
    assert mount["folder"] == f"storage-matrix-{RUN}"
    assert table.resources(RUN) == []
    assert (swept["deleted"], swept["remaining"]) == ([], [])
    assert described(owned) == before


def test_the_receipt_says_that_it_is_not_ours_and_where_an_instance_may_have_left_its_folder(owned, context):
    plan = plan_run(context, **on(owned))
    name, cell = plan["file_systems"][0]["id"], plan["cells"][0]["id"]
    for instance in ("i-1", "i-2"):
        table.record_resource(RUN, "instance", instance, file_system=name, cell=cell)
    bucket.put(f"runs/{RUN}/cells/{cell}/instances/AROA:i-1/failed.json", {})

    [one_silent] = receipts.make(RUN, sweep=None)["not_ours"]
    bucket.put(f"runs/{RUN}/cells/{cell}/instances/AROA:i-2/done.json", {})
    [all_ended] = receipts.make(RUN, sweep=None)["not_ours"]

    assert one_silent == {"kind": "efs", "id": owned, "file_system": name, "folder": f"storage-matrix-{RUN}"}
    assert all_ended["folder"] is None


def test_nothing_deletes_a_file_system_without_the_tags_of_this_stack(owned, stack):
    other = [{"Key": tags.STACK, "Value": "another"}, {"Key": tags.RUN, "Value": "r"}]
    others = boto3.client("efs").create_file_system(CreationToken="other", Tags=other)["FileSystemId"]

    for file_system in (owned, others):
        before = described(file_system)
        with pytest.raises(FileSystemFailed, match="left as it is"):
            efs.delete(file_system)
        assert described(file_system) == before


def refused(file_system, context, **storage):
    """The problems of it, by field."""
    problems = problems_of_run(context, **on(file_system, **storage))
    return {problem.path.removeprefix("storage[0]."): f"{problem.rule}; {problem.fix}" for problem in problems}


def test_one_that_is_not_there_is_refused(stack, context):
    problems = refused("fs-0123456789abcdef0", context)

    assert "has no such file system in us-east-1" in problems["fileSystemId"]


def test_one_that_is_described_otherwise_is_refused_with_what_it_is(owned, context):
    problems = refused(owned, context, throughputMode="provisioned", provisionedThroughputMiBps=100)

    assert problems["throughputMode"] == f"{owned} has another; write elastic"
    assert problems["provisionedThroughputMiBps"] == f"{owned} has another; leave it out"


def test_one_of_a_run_is_refused_since_it_goes_with_that(stack, context):
    run = [{"Key": tags.STACK, "Value": "another"}, {"Key": tags.RUN, "Value": "theirs"}]
    made = boto3.client("efs").create_file_system(CreationToken="t", ThroughputMode="elastic", Tags=run)

    assert "was made by the run theirs" in refused(made["FileSystemId"], context)["fileSystemId"]


def test_a_zone_without_a_mount_target_is_named_with_the_command_that_makes_one(stack, context):
    made = boto3.client("efs").create_file_system(CreationToken="t", ThroughputMode="elastic")["FileSystemId"]

    problem = refused(made, context)["fileSystemId"]

    assert "has no available mount target in us-east-1" in problem
    assert f"aws efs create-mount-target --file-system-id {made} --subnet-id subnet-" in problem


@pytest.fixture
def closed(stack):
    """An EFS whose mount targets have a group of its owner's alone."""
    client, ec2 = boto3.client("efs"), boto3.client("ec2")
    made = client.create_file_system(CreationToken="t", ThroughputMode="elastic")["FileSystemId"]
    [subnet, *_] = subnets = stack["SUBNET_IDS"].split(",")
    vpc = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["VpcId"]
    group = ec2.create_security_group(GroupName="own", Description="own", VpcId=vpc)["GroupId"]
    for each in subnets:
        client.create_mount_target(FileSystemId=made, SubnetId=each, SecurityGroups=[group])
    return made, group


def test_a_group_that_need_not_let_the_fleet_in_is_named_with_what_to_add(closed, stack, context, monkeypatch):
    monkeypatch.setenv("MULTI_AZ_CIDR", "")
    file_system, group = closed

    problem = refused(file_system, context)["fileSystemId"]

    assert f"has the group {group}, which need not let the stack's instances in at port 2049" in problem
    assert f"--security-groups {group} {stack['FILE_SYSTEM_SECURITY_GROUP_ID']}" in problem


def test_where_the_stack_lets_its_instances_out_to_the_whole_vpc_a_group_is_only_a_doubt(closed, context, monkeypatch):
    monkeypatch.setenv("MULTI_AZ_CIDR", "10.0.0.0/16")

    plan = plan_run(context, **on(closed[0]))

    assert any("need not let the stack's instances in" in warning["message"] for warning in plan["warnings"])


def test_another_vpc_is_named(stack, context):
    client, ec2 = boto3.client("efs"), boto3.client("ec2")
    made = client.create_file_system(CreationToken="t", ThroughputMode="elastic")["FileSystemId"]
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    client.create_mount_target(FileSystemId=made, SubnetId=subnet)

    problem = refused(made, context)["fileSystemId"]

    assert f"is mounted in {vpc}, and the stack's instances are in" in problem
    assert f"VpcId {vpc}" in problem


FSX = {"type": "fsx-openzfs", "deploymentType": "SINGLE_AZ_1", "storageCapacityGiB": 64, "throughputCapacityMBps": 64}


@pytest.fixture
def fsx(stack, monkeypatch):
    """Somebody's own FSx in the stack's first subnet, as FSx describes it; a test may change that."""
    ec2, [subnet, *_] = boto3.client("ec2"), stack["SUBNET_IDS"].split(",")
    group = stack["FILE_SYSTEM_SECURITY_GROUP_ID"]
    interface = ec2.create_network_interface(SubnetId=subnet, Groups=[group])["NetworkInterface"]["NetworkInterfaceId"]
    described = {
        "FileSystemId": "fs-0123456789abcdef0", "FileSystemType": "OPENZFS", "StorageType": "SSD",
        "Lifecycle": "AVAILABLE", "StorageCapacity": 64, "CreationTime": datetime(2026, 11, 1, tzinfo=UTC),
        "SubnetIds": [subnet], "NetworkInterfaceIds": [interface], "DNSName": "fs.example",
        "Tags": [{"Key": "Name", "Value": "home"}],
        "OpenZFSConfiguration": {
            "DeploymentType": "SINGLE_AZ_1", "ThroughputCapacity": 64,
            "DiskIopsConfiguration": {"Mode": "AUTOMATIC", "Iops": 192},
        },
    }  # fmt: skip
    monkeypatch.setattr(cached_client("fsx"), "describe_file_systems", lambda **_: {"FileSystems": [described]})
    deleted = []
    monkeypatch.setattr(cached_client("fsx"), "delete_file_system", lambda **request: deleted.append(request))
    return described | {"described": described, "deleted": deleted}


def test_an_fsx_as_it_is_described_is_taken_and_never_deleted(fsx, context):
    [planned] = plan_run(context, **on(fsx["FileSystemId"], **FSX))["file_systems"]

    made = create_file_system.handler({"run": RUN, "file_system": planned["id"]}, context)
    with pytest.raises(FileSystemFailed, match="left as it is"):
        fsx_openzfs.delete(fsx["FileSystemId"])
    assert delete_file_system.handler({"run": RUN, "file_system": planned["id"]}, context)["state"] == "gone"

    assert (made["resource_ids"], table.resources(RUN), fsx["deleted"]) == ([fsx["FileSystemId"]], [], [])


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"Lifecycle": "MISCONFIGURED"}, "fileSystemId", "is OPENZFS on SSD, MISCONFIGURED"),
        ({"FileSystemType": "LUSTRE"}, "fileSystemId", "is LUSTRE on SSD, AVAILABLE"),
        ({"StorageCapacity": 128}, "storageCapacityGiB", "has another; write 128"),
        ({"Tags": [{"Key": tags.RUN, "Value": "theirs"}]}, "fileSystemId", "was made by the run theirs"),
    ],
)
def test_an_fsx_that_is_something_else_is_refused_with_what_it_is(fsx, context, change, field, words):
    fsx["described"].update(change)

    assert words in refused(fsx["FileSystemId"], context, **FSX)[field]


def test_an_fsx_in_a_zone_without_subnets_of_the_stack_is_refused(fsx, stack, context, monkeypatch):
    first, second, *_ = stack["SUBNET_IDS"].split(",")
    fsx["described"]["SubnetIds"] = [second]
    monkeypatch.setenv("SUBNET_IDS", first)

    rule = "is in us-east-1b, and the stack has subnets in us-east-1a only"
    assert rule in refused(fsx["FileSystemId"], context, **FSX)["fileSystemId"]


def test_a_same_az_fleet_is_launched_in_the_zone_of_an_existing_file_system(fsx, stack, context):
    second = stack["SUBNET_IDS"].split(",")[1]
    fsx["described"]["SubnetIds"] = [second]
    efs_client = cached_client("efs")
    one_zone = efs_client.create_file_system(CreationToken="theirs", AvailabilityZoneName="us-east-1b")["FileSystemId"]
    efs_client.create_mount_target(FileSystemId=one_zone, SubnetId=second)

    for storage in (FSX | {"fileSystemId": fsx["FileSystemId"]}, {"type": "efs", "fileSystemId": one_zone}):
        whole = storage | ({"deployment": "oneZone"} if storage["type"] == "efs" else {})
        assert clouds.subnets(whole)[0] == second
        assert clouds.zone_of(whole) == "us-east-1b"
    own = {"type": "efs", "fileSystemId": one_zone, "performanceMode": "generalPurpose", "throughputMode": "bursting",
           "deployment": "oneZone", "provisionedThroughputMiBps": None}  # fmt: skip
    assert not [refusal for refusal in efs.refusals(own) if "us-east-1a" in refusal.rule]


@pytest.mark.parametrize(("is_theirs", "crossed"), [(True, 7e9), (False, 5e9)], ids=["theirs in b", "a new one in a"])
def test_bytes_that_cross_zones_are_counted_from_where_the_storage_is(fsx, stack, context, is_theirs, crossed):
    fsx["described"]["SubnetIds"] = [stack["SUBNET_IDS"].split(",")[1]]
    storage = FSX | ({"fileSystemId": fsx["FileSystemId"]} if is_theirs else {})
    fleet = [{"instanceType": "m6i.large", "count": 2, "placement": "spread"}]
    cell = plan_run(context, storage=[storage], fleet=fleet)["cells"][0]
    board = Board.of_cell(RUN, cell["id"])

    launch_fleet.handler({"run": RUN, "cell": cell["id"], "resource_ids": [fsx["FileSystemId"]]}, context)
    for instance, zone, moved in zip(bucket.get(board.fleet)["instances"], "ac", (2e9, 5e9), strict=True):
        samples = [
            {**step, "step": n, "started_at": 1.0, "ended_at": 2.0, "work": {"files": 64.0, "write_bytes": moved},
             "metrics": {"files_per_s": 64.0, "duration_s": 1.0}}
            for n, step in enumerate(cell["steps"])
        ]  # fmt: skip
        identity = {"id": instance, "type": "m6i.large", "availability_zone": f"us-east-1{zone}"}
        document = {"schema": 1, "run": RUN, "cell": cell["id"], "instance": identity, "samples": samples}
        bucket.put(f"{board.instances}AROA:{instance}/samples.json", document)
    analyse_cell.handler({"run": RUN, "cell": cell["id"]}, context)

    [repetition, *_] = bucket.get(board.result)["points"][0]["fleet"]
    assert repetition["crossed_bytes"] == crossed


def test_an_fsx_whose_group_need_not_let_the_fleet_in_is_named_with_what_to_add(fsx, stack, context, monkeypatch):
    monkeypatch.setenv("MULTI_AZ_CIDR", "")
    ec2, [interface] = boto3.client("ec2"), fsx["NetworkInterfaceIds"]
    vpc = ec2.describe_subnets(SubnetIds=fsx["SubnetIds"])["Subnets"][0]["VpcId"]
    group = ec2.create_security_group(GroupName="own", Description="own", VpcId=vpc)["GroupId"]
    ec2.modify_network_interface_attribute(NetworkInterfaceId=interface, Groups=[group])

    problem = refused(fsx["FileSystemId"], context, **FSX)["fileSystemId"]

    assert f"--network-interface-id {interface} --groups {group} {stack['FILE_SYSTEM_SECURITY_GROUP_ID']}" in problem


@pytest.fixture
def letters(stack):
    """Somebody's own bucket with an object, in the stack's region."""
    s3 = boto3.client("s3", region_name="us-east-1")
    s3.create_bucket(Bucket="theirs")
    s3.put_object(Bucket="theirs", Key="letters/2026/a", Body=b"a")
    return {"type": "s3", "client": "command", "bucket": "theirs", "prefix": "letters/2026"}


def test_objects_of_somebody_are_read_where_they_are_and_neither_marked_nor_deleted(letters, context):
    assert list(s3.refusals(letters)) == []
    assert existing_id(letters) == "theirs/letters/2026"

    mount = clouds.mount_of(letters, ["theirs/letters/2026"], RUN)

    assert mount == {
        "kind": "s3", "bucket": "theirs", "prefix": "letters/2026", "region": "us-east-1", "client": "command",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "field", "rule"),
    [
        ({"bucket": "nobodys"}, "bucket", "does not exist"),
        ({"bucket": "elsewhere"}, "bucket", "is in eu-west-1, and the stack in us-east-1"),
        ({"prefix": "letters/1"}, "prefix", "has no object in theirs"),
    ],
)
def test_objects_that_could_not_be_read_are_refused(letters, changes, field, rule):
    away = {"LocationConstraint": "eu-west-1"}
    boto3.client("s3", region_name="eu-west-1").create_bucket(Bucket="elsewhere", CreateBucketConfiguration=away)

    [refusal] = s3.refusals(letters | changes)

    assert refusal.field == field
    assert rule in refusal.rule


def test_a_bucket_that_is_closed_to_the_stack_is_refused_with_the_parameters_that_open_it(letters):
    with Stubber(cached_client("s3")) as stubbed:
        stubbed.add_client_error("get_bucket_location", "AccessDenied", http_status_code=403)

        [refusal] = s3.refusals(letters)

    assert refusal.rule == "the stack may not read letters/2026/ of it"
    assert "ExistingBucket=theirs ExistingPrefix=letters/2026" in refusal.fix


def test_a_bucket_of_somebody_is_mounted_read_only_and_whole_below_its_prefix(letters):
    storage = {"type": "mountpoint", "bucket": "theirs", "prefix": "letters/2026", "cacheMiB": 64}

    assert list(mountpoint.refusals(storage)) == []
    assert clouds.mount_of(storage, ["theirs/letters/2026"], RUN) == {
        "kind": "mountpoint", "bucket": "theirs", "prefix": "letters/2026", "region": "us-east-1",
        "options": "read-only,max-cache-size=64", "is_read_only": True,
    }  # fmt: skip
    assert clouds.subnets(storage) == network.subnets()
    [refusal] = mountpoint.refusals(storage | {"prefix": "letters/1"})
    assert refusal.field == "prefix"


def test_a_directory_bucket_of_somebody_is_mounted_from_its_own_zone_only(stack):
    zones = [network.zone_id(each) for each in network.subnets()]
    bucket = f"tables--{zones[-1]}--x-s3"
    configuration = {
        "Location": {"Type": "AvailabilityZone", "Name": zones[-1]},
        "Bucket": {"Type": "Directory", "DataRedundancy": "SingleAvailabilityZone"},
    }
    cached_client("s3").create_bucket(Bucket=bucket, CreateBucketConfiguration=configuration)
    cached_client("s3").put_object(Bucket=bucket, Key="sales/a", Body=b"a")
    storage = {"type": "mountpoint", "bucket": bucket, "prefix": "sales"}

    assert list(mountpoint.refusals(storage)) == []
    assert clouds.subnets(storage) == [network.subnets()[-1]]
    assert [each.field for each in mountpoint.refusals(storage | {"prefix": "costs"})] == ["prefix"]
    [refusal] = mountpoint.refusals(storage | {"bucket": "tables--use1-az9--x-s3"})
    assert refusal.rule == f"is in use1-az9, and the stack has subnets in {', '.join(zones)}"
    assert "does not exist" in next(iter(mountpoint.refusals(storage | {"bucket": f"no--{zones[0]}--x-s3"}))).rule


@pytest.mark.parametrize(
    ("allowed", "host", "rules"),
    [
        ("10.0.0.0/16", "10.0.3.7", []),
        ("10.0.0.0/16", "10.1.3.7", ["is outside of 10.0.0.0/16, to which the stack lets its instances out"]),
        ("10.0.0.0/16", "files.example.com", []),
        (
            "",
            "10.0.3.7",
            ["must have the stack's group FileSystemSecurityGroup, as the stack lets its instances out to"],
        ),
    ],
)
def test_an_nfs_server_that_instances_cannot_reach_is_refused_before_anything_is_made(
    stack, monkeypatch, allowed, host, rules
):
    monkeypatch.setenv("MULTI_AZ_CIDR", allowed)

    refused = list(nfs.refusals({"type": "nfs", "source": f"{host}:/export", "options": "hard"}))

    assert [refusal.rule[: len(rule)] for refusal, rule in zip(refused, rules, strict=True)] == rules
    # The server may be in the stack's group, so without MultiAzCidr it is only a doubt.
    assert [refusal.is_doubt for refusal in refused] == [not allowed for _ in rules]


def test_an_nfs_server_is_mounted_as_the_matrix_says_in_a_folder_of_the_run_and_never_made_or_deleted(stack):
    storage = {"type": "nfs", "source": "files.example.com:/export", "options": "nfsvers=4.1,hard"}

    mount = clouds.mount_of(storage, ["files.example.com:/export"], "r")

    assert mount == {
        "kind": "nfs", "source": "files.example.com:/export", "options": "nfsvers=4.1,hard",
        "folder": "storage-matrix-r",
    }  # fmt: skip
    only_read = storage | {"options": "nfsvers=4.1,ro"}
    assert clouds.mount_of(only_read, ["files.example.com:/export"], "r") == {
        "kind": "nfs", "source": "files.example.com:/export", "options": "nfsvers=4.1,ro", "is_read_only": True,
    }  # fmt: skip
    assert (nfs.find("token"), list(nfs.existing()), nfs.delete("files.example.com:/export")) == (None, [], True)


@pytest.mark.parametrize(
    "storage",
    [
        {"type": "nfs", "source": "files.example.com:/export", "options": "hard"},
        {"type": "mountpoint"},
    ],
)
def test_on_this_machine_the_agent_makes_the_folder_of_what_no_service_makes(stack, folders, storage):
    mount = clouds.mount_of(storage, ["files.example.com:/export"], "r")

    assert mount["kind"] == "directory"
    assert mount["is_made_by_agent"]
    assert "is_made_by_agent" not in clouds.mount_of({"type": "efs"}, ["fs-1"], "r")


@pytest.mark.parametrize(
    ("actual", "fix"), [(0, "write 0"), (512, "write 512"), (None, "leave it out"), (2.0, "write 2")]
)
def test_a_field_that_is_zero_where_it_exists_is_told_as_zero_and_not_to_be_left_out(actual, fix):
    [refusal] = reach.otherwise("fs-1", {"readCacheGiB": 64}, {"readCacheGiB": actual})

    assert refusal.fix == fix
