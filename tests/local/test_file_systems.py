"""EFS and FSx: life cycles, tokens, folders."""

import time

import pytest
from botocore.exceptions import ClientError
from support.running_cloud import wait_until

OPENZFS = {
    "FileSystemType": "OPENZFS",
    "StorageCapacity": 64,
    "StorageType": "SSD",
    "SubnetIds": ["subnet-0123456789abcdef0"],
    "OpenZFSConfiguration": {"DeploymentType": "SINGLE_AZ_1", "ThroughputCapacity": 64},
}


@pytest.fixture
def subnet(cloud) -> str:
    return cloud.client("ec2").describe_subnets(Filters=[{"Name": "default-for-az", "Values": ["true"]}])["Subnets"][0][
        "SubnetId"
    ]


def test_a_file_system_has_no_recovery_points(cloud):
    arn = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"

    assert cloud.client("backup").list_recovery_points_by_resource(ResourceArn=arn)["RecoveryPoints"] == []


def test_an_efs_file_system_is_created_used_and_gone(cloud, subnet):
    efs = cloud.client("efs")

    created = efs.create_file_system(CreationToken="one", Encrypted=True, Tags=[{"Key": "run", "Value": "r"}])
    name, folder = created["FileSystemId"], cloud.workdir / "storage" / "file-systems" / created["FileSystemId"]
    assert created["LifeCycleState"] == "creating"
    assert not folder.exists()
    wait_until(lambda: _efs_state(efs, name) == "available", "available")
    assert folder.is_dir()

    target = efs.create_mount_target(FileSystemId=name, SubnetId=subnet)
    assert target["LifeCycleState"] == "creating"
    wait_until(lambda: _targets(efs, name)[0]["LifeCycleState"] == "available", "mount target available")
    with pytest.raises(ClientError, match="FileSystemInUse"):
        efs.delete_file_system(FileSystemId=name)
    efs.delete_mount_target(MountTargetId=target["MountTargetId"])
    (folder / "a").write_text("data")

    efs.delete_file_system(FileSystemId=name)
    assert _efs_state(efs, name) == "deleting"
    efs.delete_file_system(FileSystemId=name)  # once more does no harm
    wait_until(lambda: not folder.exists(), "folder gone")
    with pytest.raises(ClientError, match="FileSystemNotFound"):
        efs.describe_file_systems(FileSystemId=name)


def test_an_efs_creation_token_is_used_once(cloud):
    efs = cloud.client("efs")
    efs.create_file_system(CreationToken="same")

    with pytest.raises(ClientError, match="FileSystemAlreadyExists"):
        efs.create_file_system(CreationToken="same")


def test_an_efs_one_zone_file_system_knows_its_zone(cloud):
    created = cloud.client("efs").create_file_system(CreationToken="zone", AvailabilityZoneName="us-east-1a")

    assert created["AvailabilityZoneName"] == "us-east-1a"
    assert created["AvailabilityZoneId"]


def test_an_fsx_file_system_is_created_and_gone(cloud):
    fsx = cloud.client("fsx")

    created = fsx.create_file_system(ClientRequestToken="t1", **OPENZFS)["FileSystem"]
    name, folder = created["FileSystemId"], cloud.workdir / "storage" / "file-systems" / created["FileSystemId"]
    assert created["Lifecycle"] == "CREATING"
    wait_until(lambda: _fsx(fsx, name)["Lifecycle"] == "AVAILABLE", "available")
    assert folder.is_dir()
    assert _fsx(fsx, name)["DNSName"].startswith(name)
    assert _fsx(fsx, name)["OpenZFSConfiguration"]["RootVolumeId"].startswith("fsvol-")

    assert fsx.delete_file_system(FileSystemId=name)["Lifecycle"] == "DELETING"
    assert _fsx(fsx, name)["Lifecycle"] == "DELETING"
    wait_until(lambda: not folder.exists(), "folder gone")
    with pytest.raises(ClientError, match="FileSystemNotFound"):
        fsx.describe_file_systems(FileSystemIds=[name])


def test_an_fsx_token_gives_the_same_file_system_again(cloud):
    fsx = cloud.client("fsx")

    first, second = (fsx.create_file_system(ClientRequestToken="t2", **OPENZFS)["FileSystem"] for _ in range(2))

    assert first["FileSystemId"] == second["FileSystemId"]
    with pytest.raises(ClientError, match="IncompatibleParameterError"):
        fsx.create_file_system(ClientRequestToken="t2", **{**OPENZFS, "StorageCapacity": 128})


def test_backups_are_listed_by_the_kind_of_their_file_system(cloud):
    fsx = cloud.client("fsx")
    name = fsx.create_file_system(**OPENZFS)["FileSystem"]["FileSystemId"]
    wait_until(lambda: _fsx(fsx, name)["Lifecycle"] == "AVAILABLE", "available")
    backup = fsx.create_backup(FileSystemId=name)["Backup"]["BackupId"]

    def listed(kind: str) -> list[str]:
        of_kind = [
            {"Name": "file-system-type", "Values": [kind]},
            {"Name": "backup-type", "Values": ["USER_INITIATED"]},
        ]
        return [each["BackupId"] for each in fsx.describe_backups(Filters=of_kind)["Backups"]]

    assert backup in listed("OPENZFS")
    assert backup not in listed("ONTAP")


def test_deleting_before_it_is_available_leaves_no_folder(cloud):
    fsx = cloud.client("fsx")
    name = fsx.create_file_system(ClientRequestToken="t3", **OPENZFS)["FileSystem"]["FileSystemId"]

    fsx.delete_file_system(FileSystemId=name)
    time.sleep(1)

    assert not (cloud.workdir / "storage" / "file-systems" / name).exists()


def _efs_state(efs, name: str) -> str:
    return efs.describe_file_systems(FileSystemId=name)["FileSystems"][0]["LifeCycleState"]


def _targets(efs, name: str) -> list:
    return efs.describe_mount_targets(FileSystemId=name)["MountTargets"]


def _fsx(fsx, name: str) -> dict:
    return fsx.describe_file_systems(FileSystemIds=[name])["FileSystems"][0]


LUSTRE = {
    "FileSystemType": "LUSTRE",
    "FileSystemTypeVersion": "2.15",
    "StorageCapacity": 1200,
    "SubnetIds": ["subnet-0123456789abcdef0"],
    "LustreConfiguration": {"DeploymentType": "SCRATCH_2"},
}
TIERING = {
    "StorageCapacity": None, "StorageType": "INTELLIGENT_TIERING",
    "LustreConfiguration": {
        "DeploymentType": "PERSISTENT_2", "ThroughputCapacity": 8000,
        "DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 64},
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
    },
}  # fmt: skip
P2 = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250}


def test_lustre_has_a_mount_name_and_a_network_interface_until_it_is_gone(cloud):
    fsx, ec2 = cloud.client("fsx"), cloud.client("ec2")
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]

    name = fsx.create_file_system(**LUSTRE | {"SubnetIds": [subnet]})["FileSystem"]["FileSystemId"]

    assert _fsx(fsx, name)["Lifecycle"] == "CREATING"
    wait_until(lambda: _fsx(fsx, name)["Lifecycle"] == "AVAILABLE", "available")
    described = _fsx(fsx, name)
    assert (len(described["LustreConfiguration"]["MountName"]), described["FileSystemTypeVersion"]) == (8, "2.15")
    [interface] = described["NetworkInterfaceIds"]
    assert ec2.describe_network_interfaces(NetworkInterfaceIds=[interface])["NetworkInterfaces"]

    fsx.delete_file_system(FileSystemId=name)
    with pytest.raises(fsx.exceptions.FileSystemNotFound):
        wait_until(lambda: _fsx(fsx, name) is None, "gone")
    there = [{"Name": "network-interface-id", "Values": [interface]}]
    assert ec2.describe_network_interfaces(Filters=there)["NetworkInterfaces"] == []


def test_lustre_on_intelligent_tiering_is_described_as_it_was_asked_for_until_it_is_gone(cloud):
    fsx = cloud.client("fsx")
    asked = {key: value for key, value in (LUSTRE | TIERING).items() if value is not None}

    name = fsx.create_file_system(**asked)["FileSystem"]["FileSystemId"]

    wait_until(lambda: _fsx(fsx, name)["Lifecycle"] == "AVAILABLE", "available")
    described = _fsx(fsx, name)
    assert (described["StorageType"], described.get("StorageCapacity")) == ("INTELLIGENT_TIERING", None)
    assert TIERING["LustreConfiguration"].items() <= described["LustreConfiguration"].items()

    fsx.delete_file_system(FileSystemId=name)
    with pytest.raises(fsx.exceptions.FileSystemNotFound):
        wait_until(lambda: _fsx(fsx, name) is None, "gone")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"ThroughputCapacity": 6000}, "BadRequest.*6000 is not a multiple of 4000"),
        ({"ThroughputCapacity": 104_000, "DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"}},
         "ServiceLimitExceeded.*104000 MB/s"),
        ({"PerUnitStorageThroughput": 125}, "BadRequest.*INTELLIGENT_TIERING is PERSISTENT_2, without"),
        ({"DataReadCacheConfiguration": {}}, "BadRequest.*needs DataReadCacheConfiguration"),
        ({"DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED"}}, "BadRequest.*SizeGiB is for"),
        ({"DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 32}},
         "BadRequest.*SizeGiB 32 is not from 64 to 262144"),
        ({"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 3000}}, "BadRequest.*6000 or 12000"),
        ({"MetadataConfiguration": {"Mode": "AUTOMATIC"}}, "BadRequest.*6000 or 12000"),
    ],
)  # fmt: skip
def test_what_fsx_refuses_of_lustre_on_intelligent_tiering_is_refused_with_the_reason(cloud, change, says):
    asked = {key: value for key, value in (LUSTRE | TIERING).items() if value is not None}
    asked["LustreConfiguration"] = TIERING["LustreConfiguration"] | change

    with pytest.raises(ClientError, match=says):
        cloud.client("fsx").create_file_system(**asked)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"StorageType": "INTELLIGENT_TIERING", "LustreConfiguration": TIERING["LustreConfiguration"]}, "BadRequest"),
        ({"LustreConfiguration": P2 | {"ThroughputCapacity": 4000}}, "BadRequest"),
        ({"StorageCapacity": 3600}, "BadRequest"),
        ({"FileSystemTypeVersion": "2.10", "LustreConfiguration": P2}, "BadRequest"),
        ({"SubnetIds": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]}, "BadRequest"),
        ({"KmsKeyId": "arn:aws:kms:us-east-1:1:key/k"}, "BadRequest"),
        ({"LustreConfiguration": {"DeploymentType": "SCRATCH_2", "CopyTagsToBackups": True}}, "BadRequest"),
        ({"LustreConfiguration": P2 | {"MetadataConfiguration": {"Mode": "USER_PROVISIONED"}}}, "BadRequest"),
        ({"LustreConfiguration": P2 | {"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 2000}}},
         "BadRequest"),
        ({"LustreConfiguration": {"DeploymentType": "PERSISTENT_2"}}, "InvalidPerUnitStorageThroughput"),
        ({"LustreConfiguration": P2 | {"PerUnitStorageThroughput": 200}}, "InvalidPerUnitStorageThroughput"),
        ({"StorageCapacity": 103_200}, "ServiceLimitExceeded"),
        ({"FileSystemType": "OPENZFS"}, "MissingFileSystemConfiguration"),
        ({"FileSystemType": "OPENZFS", "StorageType": "INTELLIGENT_TIERING", "OpenZFSConfiguration":
          {"DeploymentType": "SINGLE_AZ_1", "ThroughputCapacity": 64}}, "BadRequest"),
    ],
)  # fmt: skip
def test_what_fsx_refuses_is_refused_by_its_own_error(cloud, change, code):
    with pytest.raises(ClientError) as refused:
        cloud.client("fsx").create_file_system(**LUSTRE | change)

    assert refused.value.response["Error"]["Code"] == code


def test_a_token_of_lustre_with_other_parameters_is_refused(cloud):
    fsx = cloud.client("fsx")
    fsx.create_file_system(ClientRequestToken="l1", **LUSTRE)

    with pytest.raises(ClientError, match="IncompatibleParameterError"):
        fsx.create_file_system(ClientRequestToken="l1", **LUSTRE | {"StorageCapacity": 2400})
