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


@pytest.mark.parametrize("let_in", ["itself", "subnet"])
def test_fsx_takes_a_group_only_if_it_lets_in_itself_or_the_subnet(cloud, subnet, let_in):
    ec2, fsx = cloud.client("ec2"), cloud.client("fsx")
    place = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]
    group = ec2.create_security_group(GroupName=f"of-{let_in}", Description="servers", VpcId=place["VpcId"])["GroupId"]
    wanted = {**OPENZFS, "SubnetIds": [subnet], "SecurityGroupIds": [group]}
    other = {"UserIdGroupPairs": [{"GroupId": group}]} if let_in == "itself" else {}
    block = {"IpRanges": [{"CidrIp": place["CidrBlock"]}]} if let_in == "subnet" else {}
    rule = {"IpProtocol": "tcp", **other, **block}

    for ports in ({"FromPort": 111, "ToPort": 111}, {"FromPort": 2049, "ToPort": 2049}):
        with pytest.raises(ClientError, match="InvalidNetworkSettings"):
            fsx.create_file_system(**wanted)
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[{**rule, **ports}])

    assert fsx.create_file_system(**wanted)["FileSystem"]["Lifecycle"] == "CREATING"


def test_deleting_before_it_is_available_leaves_no_folder(cloud):
    fsx = cloud.client("fsx")
    name = fsx.create_file_system(ClientRequestToken="t3", **OPENZFS)["FileSystem"]["FileSystemId"]

    fsx.delete_file_system(FileSystemId=name)
    assert fsx.describe_file_systems(FileSystemIds=[name])["FileSystems"][0]["Lifecycle"] == "DELETING"
    time.sleep(1)

    assert not (cloud.workdir / "storage" / "file-systems" / name).exists()
