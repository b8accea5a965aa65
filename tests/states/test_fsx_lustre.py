"""FSx for Lustre, function by function."""

from datetime import UTC, datetime
from unittest.mock import Mock

import boto3
import pytest
from botocore.validate import validate_parameters
from judge import prose
from support.storages import RUN_TAGS, STORAGES, TOKEN

from aws.stack.clients import client
from aws.storages.fsx_lustre import cloud as fsx_lustre

OWNER = ("r", "lustre", 0)
SCRATCH = STORAGES["fsx-lustre"]
PERSISTENT = {
    **SCRATCH, "deploymentType": "PERSISTENT_2", "storageCapacityGiB": 2400, "throughputMBpsPerTiB": 250,
}  # fmt: skip
TIERING = {
    "type": "fsx-lustre", "deploymentType": "PERSISTENT_2", "storageType": "INTELLIGENT_TIERING",
    "throughputCapacityMBps": 4000, "readCacheGiB": 512, "metadataIops": 6000, "compression": "NONE",
}  # fmt: skip


@pytest.fixture
def requests(stack, monkeypatch):
    """What FSx is asked to create, each checked by its model and judged by its prose."""
    seen = []
    shape = client("fsx").meta.service_model.operation_model("CreateFileSystem").input_shape

    def create(**request):
        validate_parameters(request, shape)
        assert list(prose.refusals_of_request("fsx", "CreateFileSystem", request)) == []
        seen.append(request)
        return {"FileSystem": {"FileSystemId": "fs-1"}}

    monkeypatch.setattr(client("fsx"), "create_file_system", create)
    return seen


def test_type_and_version_are_always_said_because_those_of_fsx_are_others(requests, stack):
    assert fsx_lustre.create(TOKEN, SCRATCH, RUN_TAGS, *OWNER) == "fs-1"

    [request] = requests
    assert (request["FileSystemType"], request["FileSystemTypeVersion"]) == ("LUSTRE", "2.15")
    assert request["LustreConfiguration"] == {"DeploymentType": "SCRATCH_2", "DataCompressionType": "NONE"}
    assert request["SubnetIds"] == stack["SUBNET_IDS"].split(",")[:1]
    assert request["SecurityGroupIds"] == [stack["FILE_SYSTEM_SECURITY_GROUP_ID"]]
    assert request["Tags"] == [*RUN_TAGS, {"Key": "storage-matrix:token", "Value": TOKEN}]


@pytest.mark.parametrize(
    ("iops", "metadata"),
    [(None, {"Mode": "AUTOMATIC"}), (12_000, {"Mode": "USER_PROVISIONED", "Iops": 12_000})],
)
def test_a_persistent_one_has_its_throughput_its_metadata_iops_and_no_backups(requests, iops, metadata):
    fsx_lustre.create(TOKEN, PERSISTENT | {"metadataIops": iops}, RUN_TAGS, *OWNER)

    assert requests[0]["LustreConfiguration"] == {
        "DeploymentType": "PERSISTENT_2", "DataCompressionType": "NONE", "PerUnitStorageThroughput": 250,
        "MetadataConfiguration": metadata, "AutomaticBackupRetentionDays": 0, "CopyTagsToBackups": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("gib", "cache"), [(0, {"SizingMode": "NO_CACHE"}), (512, {"SizingMode": "USER_PROVISIONED", "SizeGiB": 512})]
)
def test_intelligent_tiering_is_asked_for_without_capacity_with_throughput_cache_and_metadata(requests, gib, cache):
    fsx_lustre.create(TOKEN, TIERING | {"readCacheGiB": gib}, RUN_TAGS, *OWNER)

    [request] = requests
    assert (request["StorageType"], "StorageCapacity" in request) == ("INTELLIGENT_TIERING", False)
    assert len(request["SubnetIds"]) == 1
    assert request["LustreConfiguration"] == {
        "DeploymentType": "PERSISTENT_2", "DataCompressionType": "NONE", "ThroughputCapacity": 4000,
        "DataReadCacheConfiguration": cache, "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
        "AutomaticBackupRetentionDays": 0, "CopyTagsToBackups": True,
    }  # fmt: skip


def test_only_a_persistent_one_is_encrypted_by_the_users_key(requests, monkeypatch):
    monkeypatch.setenv("KMS_KEY_ARN", "arn:aws:kms:eu-west-1:1:key/k")
    fsx_lustre.create(TOKEN, SCRATCH, RUN_TAGS, *OWNER)
    fsx_lustre.create(TOKEN, PERSISTENT, RUN_TAGS, *OWNER)

    assert ["KmsKeyId" in request for request in requests] == [False, True]


def described(**changes):
    lustre = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250, "MountName": "abcd1234",
              "MetadataConfiguration": {"Mode": "AUTOMATIC", "Iops": 3000}, "DataCompressionType": "NONE"}  # fmt: skip
    return {
        "FileSystemId": "fs-0123456789abcdef0", "FileSystemType": "LUSTRE", "FileSystemTypeVersion": "2.15",
        "StorageType": "SSD", "Lifecycle": "AVAILABLE", "StorageCapacity": 2400, "DNSName": "fs.example",
        "CreationTime": datetime(2026, 11, 1, tzinfo=UTC), "Tags": [], "NetworkInterfaceIds": [],
        **changes, "LustreConfiguration": {**lustre, **changes.get("LustreConfiguration", {})},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "stripes"),
    [
        ({}, None),
        ({"stripeCount": -1}, ["-c", "-1"]),
        ({"stripeCount": 4, "stripeSizeMiB": 2}, ["-c", "4", "-S", "2M"]),
    ],
)
def test_it_is_mounted_by_the_names_that_fsx_tells_with_the_stripes_of_the_matrix(stack, monkeypatch, asked, stripes):
    monkeypatch.setattr(client("fsx"), "describe_file_systems", lambda **_: {"FileSystems": [described()]})

    mount = fsx_lustre.mount("fs-1", PERSISTENT | asked)

    assert mount.pop("stripes", None) == stripes
    assert mount == {"kind": "lustre", "source": "fs.example@tcp:/abcd1234", "options": "noatime,flock"}


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({}, None, ""),
        ({"FileSystemTypeVersion": "2.12"}, None, ""),
        ({"FileSystemTypeVersion": "2.10"}, "fileSystemId", "is LUSTRE on SSD, AVAILABLE"),
        ({"Lifecycle": "UPDATING"}, "fileSystemId", "is LUSTRE on SSD, UPDATING"),
        ({"LustreConfiguration": {"DeploymentType": "SCRATCH_1"}}, "fileSystemId", "is LUSTRE on SSD"),
        ({"LustreConfiguration": {"PerUnitStorageThroughput": 500}}, "throughputMBpsPerTiB", "has another"),
        ({"LustreConfiguration": {"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000}}},
         "metadataIops", "has another"),
        ({"LustreConfiguration": {"DataCompressionType": "LZ4"}}, "compression", "has another"),
        ({"Tags": [{"Key": "storage-matrix:run", "Value": "theirs"}]}, "fileSystemId", "was made by the run theirs"),
    ],
)  # fmt: skip
def test_one_that_exists_is_what_the_matrix_says_or_refused_with_what_it_is(stack, monkeypatch, change, field, words):
    found = refusals(stack, monkeypatch, described(**change), PERSISTENT)

    assert [refusal.field for refusal in found] == ([field] if field else [])
    assert all(words in refusal.rule for refusal in found)


def tiered(**changes):
    settings = {"DeploymentType": "PERSISTENT_2", "ThroughputCapacity": 4000, "MountName": "abcd1234",
                "DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 512},
                "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000}, **changes}  # fmt: skip
    file_system = described(StorageType="INTELLIGENT_TIERING")
    del file_system["StorageCapacity"]
    return {**file_system, "LustreConfiguration": settings}


def refusals(stack, monkeypatch, file_system, asked, group=None):
    """The refusals of one that FSx describes so, behind the stack's own group or another."""
    subnet, group = stack["SUBNET_IDS"].split(",")[0], group or stack["FILE_SYSTEM_SECURITY_GROUP_ID"]
    interface = boto3.client("ec2").create_network_interface(SubnetId=subnet, Groups=[group])["NetworkInterface"]
    ids = {"SubnetIds": [subnet], "NetworkInterfaceIds": [interface["NetworkInterfaceId"]]}
    monkeypatch.setattr(client("fsx"), "describe_file_systems", lambda **_: {"FileSystems": [{**file_system, **ids}]})
    return list(fsx_lustre.refusals(asked | {"fileSystemId": "fs-0123456789abcdef0"}))


def refused(*asked):
    return {each.field: each.fix for each in refusals(*asked)}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({}, {}),
        ({"ThroughputCapacity": 8000}, {"throughputCapacityMBps": "write 8000"}),
        ({"DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"}}, {"readCacheGiB": "write 0"}),
        ({"DataReadCacheConfiguration": {"SizingMode": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY", "SizeGiB": 20_480}},
         {"readCacheGiB": "write 20480"}),
        ({"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 12_000}}, {"metadataIops": "write 12000"}),
    ],
)  # fmt: skip
def test_intelligent_tiering_that_exists_is_what_the_matrix_says_or_each_other_field_is_told(
    stack, monkeypatch, change, wrong
):
    assert refused(stack, monkeypatch, tiered(**change), TIERING) == wrong


def test_each_class_is_refused_as_the_other_with_the_fields_to_write(stack, monkeypatch):
    as_ssd = refused(stack, monkeypatch, tiered(), PERSISTENT | {"metadataIops": 6000})
    as_tiered = refused(stack, monkeypatch, described(), TIERING)

    assert as_ssd["storageType"] == "write INTELLIGENT_TIERING"
    assert as_ssd["storageCapacityGiB"] == as_ssd["throughputMBpsPerTiB"] == "leave it out"
    assert as_tiered["storageType"] == as_tiered["readCacheGiB"] == "leave it out"
    assert as_tiered["storageCapacityGiB"] == "write 2400"


def test_one_behind_another_group_is_told_with_the_ports_of_lustre(stack, monkeypatch):
    ec2, subnet = boto3.client("ec2"), stack["SUBNET_IDS"].split(",")[0]
    vpc = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["VpcId"]
    other = ec2.create_security_group(GroupName="o", Description="o", VpcId=vpc)["GroupId"]

    [refusal] = refusals(stack, monkeypatch, described(), PERSISTENT, other)

    assert "at ports 988 and 1018 to 1023" in refusal.rule


def test_quotas_count_each_kind_of_deployment_and_scratch_of_both_generations(stack, monkeypatch):
    listed = [
        described(), described(StorageCapacity=4800),
        described(StorageCapacity=1200, LustreConfiguration={"DeploymentType": "SCRATCH_2"}),
        described(StorageCapacity=3600, LustreConfiguration={"DeploymentType": "SCRATCH_1"}),
        {**tiered(), "StorageCapacity": 0}, tiered(DataReadCacheConfiguration={"SizingMode": "NO_CACHE"}),
        {"FileSystemType": "OPENZFS", "FileSystemId": "fs-2"},
    ]  # fmt: skip
    pages = Mock(paginate=Mock(return_value=[{"FileSystems": listed}]))
    monkeypatch.setattr(client("fsx"), "get_paginator", lambda _: pages)

    used = {code: count() for code, count in fsx_lustre.in_use().items()}

    assert used == {
        "L-FD6F2F22": 4.0, "L-8F1B9C74": 7200.0, "L-C48231E5": 2.0, "L-AD2FC696": 4800.0, "L-0CD18A5D": 8000.0,
        "L-B7391FCE": 512.0,
    }  # fmt: skip
    assert [each.id for each in fsx_lustre.existing()] == ["fs-0123456789abcdef0"] * 6


def test_it_is_deleted_as_fsx_deletes_lustre_by_itself_without_a_backup(stack, monkeypatch):
    asked = []
    monkeypatch.setattr(client("fsx"), "describe_file_systems", lambda **_: {"FileSystems": [described(Tags=RUN_TAGS)]})
    monkeypatch.setattr(client("fsx"), "delete_file_system", lambda **request: asked.append(request))

    assert fsx_lustre.delete("fs-1") is False
    assert asked == [{"FileSystemId": "fs-1"}]
