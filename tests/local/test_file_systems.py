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
