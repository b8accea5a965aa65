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
