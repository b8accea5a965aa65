"""EFS and FSx: life cycles, tokens, folders."""

import time

import pytest
from botocore.exceptions import ClientError

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
    assert fsx.describe_file_systems(FileSystemIds=[name])["FileSystems"][0]["Lifecycle"] == "DELETING"
    time.sleep(1)

    assert not (cloud.workdir / "storage" / "file-systems" / name).exists()
