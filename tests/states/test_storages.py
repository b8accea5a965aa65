"""File systems from creation to the proof that they are gone."""

import json
from datetime import UTC, datetime
from unittest.mock import Mock

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.s3.models import S3Backend
from support.partitions import domains
from support.refusals import refusing
from support.storages import RUN_TAGS, STORAGES, TOKEN, requests_of

from aws.ec2 import volume_mappings
from aws.stack.clients import client
from aws.storages import clouds, prefixes
from aws.storages.efs import cloud as efs
from aws.storages.fsx_openzfs import cloud as fsx_openzfs
from aws.storages.mountpoint import cloud as mountpoint
from aws.storages.s3 import cloud as s3
from aws.storages.s3_express import cloud as s3_express
from local.corrections import mounted_buckets
from local.corrections.folders import Folders
from matrix.terms import keys
from matrix.terms.errors import FileSystemFailed

EFS, FSX, S3, MOUNTED = (STORAGES[name] for name in ("efs", "fsx-openzfs", "s3", "mountpoint"))
OWNER = ("r", "efs", 0)


def create(cloud, storage, token=TOKEN):
    return cloud.create(token, storage, RUN_TAGS, *OWNER)


def test_an_efs_is_mounted_by_its_name_in_the_domain_of_the_regions_partition(stack, monkeypatch):
    assert {"eu-west-1", "us-gov-west-1", "cn-north-1"} <= set(domains())
    for region, domain in domains().items():
        monkeypatch.setenv("AWS_REGION", region)
        assert efs.mount("fs-1", EFS | {"tls": False})["source"] == f"fs-1.efs.{region}.{domain}:/"


def test_an_efs_with_iam_has_its_policy_before_anything_can_reach_it(stack, monkeypatch):
    storage = EFS | {"tls": True, "iam": True}
    made = create(efs, storage)
    reached = []
    monkeypatch.setattr(client("efs"), "create_mount_target", lambda **_: reached.append(policy_of(made)))

    efs.is_ready(made, storage)

    allow, deny = reached[0]["Statement"]
    assert allow["Principal"] == {"AWS": stack["INSTANCE_ROLE_ARN"]}
    assert allow["Resource"].endswith(made)
    assert (deny["Effect"], deny["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def policy_of(file_system):
    return json.loads(boto3.client("efs").describe_file_system_policy(FileSystemId=file_system)["Policy"])


@pytest.mark.parametrize(
    ("ways", "options"), [({"tls": True, "iam": False}, "tls"), ({"tls": True, "iam": True}, "tls,iam")]
)
def test_tls_and_iam_are_the_mount_helpers(stack, ways, options):
    assert efs.mount("fs-1", EFS | ways) == {"kind": "efs", "source": "fs-1:/", "options": options}
    plain = efs.mount("fs-1", EFS | {"tls": False})
    assert (plain["kind"], plain["read_ahead_kib"]) == ("nfs", 15_360)  # what the helper sets by itself


def test_a_one_zone_efs_lives_in_the_fleets_zone_and_has_one_mount_target(stack):
    made = create(efs, EFS | {"deployment": "oneZone"})
    efs.is_ready(made, EFS)

    [found] = boto3.client("efs").describe_file_systems()["FileSystems"]
    assert (found["AvailabilityZoneName"], found["Encrypted"]) == ("us-east-1a", True)
    assert efs.is_ready(made, EFS) is True


def test_no_efs_is_backed_up_though_one_zone_would_be_by_default(stack):
    requests = requests_of("efs", "CreateFileSystem")

    create(efs, EFS | {"deployment": "oneZone"})

    assert requests[0]["Backup"] is False


@pytest.fixture
def lose_answer(monkeypatch):
    """A call of EFS that takes effect twice: botocore asks again when an answer is lost."""

    def lose(operation: str) -> None:
        call = getattr(client("efs"), operation)
        monkeypatch.setattr(client("efs"), operation, lambda **request: [call(**request), call(**request)][-1])

    return lose


def test_an_efs_whose_creation_was_not_heard_of_is_found(stack, lose_answer):
    lose_answer("create_file_system")

    made = create(efs, EFS)

    assert [found["FileSystemId"] for found in boto3.client("efs").describe_file_systems()["FileSystems"]] == [made]


def test_mount_targets_whose_creation_was_not_heard_of_are_found(stack, lose_answer):
    made = create(efs, EFS)
    lose_answer("create_mount_target")

    assert [efs.is_ready(made, EFS), efs.is_ready(made, EFS)] == [False, True]


@pytest.mark.parametrize("operation", ["create_mount_target", "put_file_system_policy"])
def test_an_efs_that_calls_itself_available_too_early_is_looked_at_again(stack, monkeypatch, operation):
    storage = EFS | {"tls": True, "iam": True}
    made = create(efs, storage)

    with monkeypatch.context() as patched:
        patched.setattr(client("efs"), operation, refusing("IncorrectFileSystemLifeCycleState", service="efs"))
        assert efs.is_ready(made, storage) is False

    assert [efs.is_ready(made, storage), efs.is_ready(made, storage)] == [False, True]


def test_a_zone_without_efs_is_named_by_its_subnet_with_the_way_out(stack, monkeypatch):
    made = create(efs, EFS)
    monkeypatch.setattr(client("efs"), "create_mount_target", refusing("UnsupportedAvailabilityZone", service="efs"))

    with pytest.raises(FileSystemFailed, match=r"no EFS in the zone of subnet-\w+; .* AvailabilityZones"):
        efs.is_ready(made, EFS)


def test_mount_targets_whose_deletion_was_not_heard_of_are_gone(stack, lose_answer):
    made = create(efs, EFS)
    efs.is_ready(made, EFS)
    lose_answer("delete_mount_target")

    assert [efs.delete(made) for _ in range(3)][-1] is True


@pytest.mark.parametrize("code", ["FileSystemInUse", "IncorrectFileSystemLifeCycleState"])
def test_an_efs_that_cannot_be_deleted_yet_is_deleted_a_step_later(stack, monkeypatch, code):
    made = create(efs, EFS)

    with monkeypatch.context() as patched:
        patched.setattr(client("efs"), "delete_file_system", refusing(code, service="efs"))
        assert efs.delete(made) is False

    assert [efs.delete(made) for _ in range(2)][-1] is True


def test_a_provisioned_efs_has_the_throughput_that_was_asked_for(stack):
    create(efs, EFS | {"throughputMode": "provisioned", "provisionedThroughputMiBps": 1024})

    [found] = boto3.client("efs").describe_file_systems()["FileSystems"]
    assert found["ProvisionedThroughputInMibps"] == 1024


def test_an_fsx_file_system_is_requested_as_the_matrix_says(stack):
    requests = requests_of("fsx", "CreateFileSystem")

    create(fsx_openzfs, FSX)

    [request] = requests
    assert (request["ClientRequestToken"], request["StorageCapacity"]) == (TOKEN, 256)
    assert len(clouds.token("r", "fsx")) == len(TOKEN) <= 63
    settings = request["OpenZFSConfiguration"]
    assert settings["ThroughputCapacity"] == 4096
    assert settings["DiskIopsConfiguration"] == {"Mode": "USER_PROVISIONED", "Iops": 20000}
    assert (settings["AutomaticBackupRetentionDays"], settings["CopyTagsToBackups"]) == (0, True)
    assert "RouteTableIds" not in settings
    assert set(map(str, RUN_TAGS)) <= set(map(str, request["Tags"]))


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({}, "nfsvers=4.1,rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2"),
        ({"nfsVersion": "4.2", "nconnect": 16}, "nfsvers=4.2,{},nconnect=16"),
        ({"nfsVersion": "3"}, "nfsvers=3,{},mountproto=tcp,nolock"),
    ],
)
def test_an_fsx_file_system_is_mounted_as_the_matrix_says(stack, changes, options):
    made = create(fsx_openzfs, FSX | {"compression": "LZ4", "recordSizeKiB": 16})

    mount = fsx_openzfs.mount(made, FSX | changes)

    assert mount["options"] == options.format("rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2")
    assert mount["source"].endswith(":/fsx")


def test_an_fsx_file_system_is_deleted_without_the_final_backup_that_fsx_would_keep(stack, monkeypatch):
    in_state(monkeypatch, "AVAILABLE")
    deleting = Mock()
    monkeypatch.setattr(client("fsx"), "delete_file_system", deleting)

    assert fsx_openzfs.delete("fs-1") is False

    assert deleting.call_args.kwargs["OpenZFSConfiguration"] == {
        "SkipFinalBackup": True,
        "Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"],
    }


@pytest.mark.parametrize("code", ["BadRequest", "IncompatibleParameterError"])
def test_an_fsx_file_system_that_fsx_still_creates_is_deleted_once_it_is_there(stack, monkeypatch, code):
    made = create(fsx_openzfs, FSX)
    in_state(monkeypatch, "CREATING")
    with monkeypatch.context() as patched:
        patched.setattr(client("fsx"), "delete_file_system", refusing(code, service="fsx"))
        assert fsx_openzfs.delete(made) is False

        in_state(monkeypatch, "AVAILABLE")
        with pytest.raises(ClientError, match=code):
            fsx_openzfs.delete(made)

    assert fsx_openzfs.delete(made) is False
    assert boto3.client("fsx").describe_file_systems()["FileSystems"] == []


def in_state(monkeypatch, lifecycle, **more):
    """Let FSx say that a file system is in this state."""
    described = {"FileSystems": [{"Lifecycle": lifecycle, "Tags": RUN_TAGS, **more}]}
    monkeypatch.setattr(client("fsx"), "describe_file_systems", lambda **_: described)


def test_an_fsx_file_system_that_failed_says_what_fsx_says(stack, monkeypatch):
    in_state(monkeypatch, "FAILED", FailureDetails={"Message": "no capacity in use1-az1"})

    with pytest.raises(FileSystemFailed, match="no capacity in use1-az1"):
        fsx_openzfs.is_ready("fs-1", FSX)


@pytest.mark.parametrize(("own", "asked"), [("rtb-0123456789abcdef0", ["rtb-0123456789abcdef0"]), ("", None)])
def test_a_multi_az_file_system_is_reached_by_the_routes_of_the_fleets_subnets(stack, monkeypatch, own, asked):
    monkeypatch.setenv("ROUTE_TABLE_ID", own)
    seen = requests_of("fsx", "CreateFileSystem")

    create(fsx_openzfs, FSX)
    create(fsx_openzfs, FSX | {"deploymentType": "MULTI_AZ_1"}, clouds.token("r", "other"))

    single, multi = (params["OpenZFSConfiguration"] for params in seen)
    assert "RouteTableIds" not in single
    assert multi.get("RouteTableIds") == asked


def test_a_volume_can_be_made_from_a_snapshot():
    storage = {"volumeType": "gp3", "sizeGiB": 200, "snapshotId": "snap-0123456789abcdef0"}

    [mapping] = volume_mappings.mappings_of(storage | {"volumeInitializationRate": 300}, "m6i.large")

    assert mapping["Ebs"]["SnapshotId"] == "snap-0123456789abcdef0"
    assert mapping["Ebs"]["VolumeInitializationRate"] == 300


def put(key):
    boto3.client("s3").put_object(Bucket="data", Key=key, Body=b"x")


def keys_of_data():
    return [one["Key"] for one in boto3.client("s3").list_objects_v2(Bucket="data").get("Contents", [])]


def test_an_instance_reaches_what_lies_below_its_own_name_only(stack):
    made = create(s3, S3)

    assert s3.mount(made, S3) == {
        **{"kind": "s3", "bucket": "data", "prefix": f"{TOKEN}/{{userid}}", "region": "us-east-1"},
        "client": "boto3",
    }


def test_a_bucket_is_mounted_at_the_instances_own_prefix_with_the_options_of_the_matrix(stack):
    made = create(mountpoint, MOUNTED)
    storage = MOUNTED | {"cacheMiB": 4096, "readPartSize": "16MiB", "writePartSize": 16_000_000}

    assert mountpoint.mount(made, MOUNTED) == {
        "kind": "mountpoint", "bucket": "data", "prefix": f"mount-{TOKEN}/{{userid}}", "region": "us-east-1",
        "options": "allow-delete,allow-overwrite",
    }  # fmt: skip
    assert mountpoint.mount(made, storage)["options"] == (
        "allow-delete,allow-overwrite,read-part-size=16777216,write-part-size=16000000,max-cache-size=4096"
    )


EXPRESS = MOUNTED | {"storageClass": "EXPRESS_ONEZONE", "incrementalUpload": True}


def test_a_directory_bucket_to_mount_is_made_found_and_deleted_and_is_none_to_read(stack):
    read, made = create(s3_express, EXPRESS), create(mountpoint, EXPRESS)
    client("s3").put_object(Bucket=made, Key="AROA123:i-0/file", Body=b"data")

    assert made == f"sm-m{TOKEN[:40]}--use1-az6--x-s3"
    assert mountpoint.mount(made, EXPRESS) == {
        "kind": "mountpoint", "bucket": made, "prefix": "{userid}", "region": "us-east-1",
        "options": "allow-delete,allow-overwrite,incremental-upload",
    }  # fmt: skip
    assert [(each.id, each.tags) for each in mountpoint.existing()] == [(made, RUN_TAGS)]
    assert [each.id for each in s3_express.existing()] == [read]
    assert mountpoint.delete(made) is True
    assert s3_express.find(TOKEN) == read


def test_the_folder_that_plays_a_mount_goes_with_the_prefix_or_the_bucket(stack, tmp_path, monkeypatch):
    monkeypatch.setattr(S3Backend, "delete_object", S3Backend.delete_object)
    monkeypatch.setattr(S3Backend, "delete_bucket", S3Backend.delete_bucket)
    mounted_buckets.install(Folders(tmp_path))
    prefix = create(mountpoint, MOUNTED)
    bucket = create(mountpoint, EXPRESS, clouds.token("r2", "express"))
    for made in (prefix, bucket, "data/other"):
        (tmp_path / made / "below").mkdir(parents=True)

    assert mounted_buckets.PREFIX_TAGS == keys.PREFIX_TAGS
    assert mountpoint.delete(prefix)
    assert mountpoint.delete(bucket)

    assert not (tmp_path / prefix).exists()
    assert not (tmp_path / bucket).exists()
    assert (tmp_path / "data/other").exists()


def test_prefixes_that_are_mounted_and_those_that_are_read_are_told_apart_by_their_names(stack):
    read, mounted = create(s3, S3), create(mountpoint, MOUNTED)
    put(f"mount-{TOKEN}/AROA123:i-0/records")

    assert [each.id for each in s3.existing()] == [read]
    assert [(each.id, each.tags) for each in mountpoint.existing()] == [(mounted, RUN_TAGS)]
    assert mountpoint.find(TOKEN) == mounted
    assert mountpoint.delete(mounted) is True
    assert mountpoint.deleted({mounted: 0.0}) == {mounted}
    assert s3.find(TOKEN) == read


def test_all_objects_of_a_prefix_are_deleted_whose_it_was_last_of_all_and_others_stay(stack, monkeypatch):
    monkeypatch.setattr(prefixes, "OBJECTS_AT_ONCE", 2)
    made, other = create(s3, S3), create(s3, S3, clouds.token("r2", "efs"))
    for n in range(5):
        put(f"{TOKEN}/AROA123:i-{n}/records-8192-8388608")
    requests = []
    delete_objects = client("s3").delete_objects

    def spy(**request):
        requests.append([one["Key"] for one in request["Delete"]["Objects"]])
        return delete_objects(**request)

    monkeypatch.setattr(client("s3"), "delete_objects", spy)

    assert s3.delete(made) is True

    assert [len(keys) for keys in requests] == [2, 2, 2]
    assert requests[-1][-1] == f"{TOKEN}/_tags.json"
    assert s3.find(TOKEN) is None
    assert s3.delete(made) is True
    assert keys_of_data() == [f"{other.partition('/')[2]}/_tags.json"]


def test_objects_that_s3_keeps_are_an_error_and_not_a_success(stack, monkeypatch):
    made = create(s3, S3)
    error = {"Key": f"{TOKEN}/_tags.json", "Code": "AccessDenied"}
    monkeypatch.setattr(client("s3"), "delete_objects", lambda **_: {"Errors": [error]})

    with pytest.raises(FileSystemFailed, match=f"S3 keeps 1 object of data/{TOKEN}, such as .*AccessDenied"):
        s3.delete(made)


def test_of_fsx_each_kind_sweeps_its_own_only(stack, monkeypatch):
    at = datetime.now(UTC)
    listed = [
        {"FileSystemId": f"fs-{kind}", "FileSystemType": kind, "CreationTime": at} for kind in ("OPENZFS", "WINDOWS")
    ]
    pages = Mock(paginate=Mock(return_value=[{"FileSystems": listed}]))
    monkeypatch.setattr(client("fsx"), "get_paginator", lambda _: pages)

    assert [each.id for each in fsx_openzfs.existing()] == ["fs-OPENZFS"]
    assert fsx_openzfs.deleted({"fs-OPENZFS": 0.0, "fs-1": 0.0}) == {"fs-1"}


@pytest.mark.parametrize(
    ("gib", "cache"), [(0, {"SizingMode": "NO_CACHE"}), (512, {"SizingMode": "USER_PROVISIONED", "SizeGiB": 512})]
)
def test_intelligent_tiering_is_asked_for_without_capacity_in_two_subnets(stack, gib, cache):
    seen = requests_of("fsx", "CreateFileSystem")
    tiering = {key: value for key, value in FSX.items() if key not in ("storageCapacityGiB", "iops")}
    tiering |= {"deploymentType": "MULTI_AZ_1", "storageType": "INTELLIGENT_TIERING", "readCacheGiB": gib}

    create(fsx_openzfs, tiering | {"throughputCapacityMBps": 160})

    assert (seen[0]["StorageType"], "StorageCapacity" in seen[0]) == ("INTELLIGENT_TIERING", False)
    assert seen[0]["SubnetIds"] == stack["SUBNET_IDS"].split(",")[:2]
    assert seen[0]["OpenZFSConfiguration"]["ReadCacheConfiguration"] == cache
    assert "DiskIopsConfiguration" not in seen[0]["OpenZFSConfiguration"]
