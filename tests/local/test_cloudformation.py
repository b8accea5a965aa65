"""CloudFormation: what the embedded deploy and the sam CLI need of it."""

import pytest
from botocore.exceptions import ClientError


def test_a_group_lets_out_what_its_rules_say_and_no_longer_everything(cloud):
    def group(**properties: object) -> dict:
        return {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"GroupDescription": "x", "VpcId": {"Ref": "Vpc"}, **properties},
        }

    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
    nfs = {"IpProtocol": "tcp", "FromPort": 2049, "ToPort": 2049, "DestinationSecurityGroupId": {"Ref": "Open"}}
    resources = {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.8.0.0/16"}},
        "Open": group(),
        "Closed": group(SecurityGroupEgress=[https, nfs]),
    }

    outputs = cloud.deploy(
        "groups", {"Resources": resources, "Outputs": {n: {"Value": {"Ref": n}} for n in ("Open", "Closed")}}
    )

    described = cloud.client("ec2").describe_security_groups(GroupIds=list(outputs.values()))["SecurityGroups"]
    egress = {group["GroupId"]: group["IpPermissionsEgress"] for group in described}
    assert [rule["IpProtocol"] for rule in egress[outputs["Open"]]] == ["-1"]
    assert [rule["FromPort"] for rule in egress[outputs["Closed"]]] == [443, 2049]
    assert egress[outputs["Closed"]][1]["UserIdGroupPairs"][0]["GroupId"] == outputs["Open"]


@pytest.mark.parametrize("policy", ["Retain", "RetainExceptOnCreate"])
def test_deleting_a_stack_leaves_what_is_retained(cloud, policy):
    resources = {
        "Kept": {"Type": "AWS::S3::Bucket", "DeletionPolicy": policy},
        "Gone": {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Delete"},
    }
    outputs = {name: {"Value": {"Ref": name}} for name in resources}
    names = cloud.deploy(f"with-{policy.lower()}", {"Resources": resources, "Outputs": outputs})

    cloud.client("cloudformation").delete_stack(StackName=f"with-{policy.lower()}")

    buckets = {bucket["Name"] for bucket in cloud.client("s3").list_buckets()["Buckets"]}
    assert names["Kept"] in buckets
    assert names["Gone"] not in buckets


def test_an_unknown_resource_type_is_refused(cloud):
    with pytest.raises(ClientError, match=r"Unrecognized resource types: \[AWS::Nope::Thing\]"):
        cloud.deploy("unknown", {"Resources": {"Thing": {"Type": "AWS::Nope::Thing"}}})

    with pytest.raises(ClientError, match="does not exist"):
        cloud.client("cloudformation").describe_stacks(StackName="unknown")


def test_a_failing_resource_is_named_and_the_stack_can_be_tried_again(cloud):
    broken = {
        "Resources": {
            "Fleet": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": "vpc-00000000", "CidrBlock": "10.0.0.0/24"}}
        }
    }

    with pytest.raises(ClientError, match=r"Fleet \(AWS::EC2::Subnet\)"):
        cloud.deploy("retried", broken)

    cloud.deploy("retried", {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})


def test_an_undeclared_parameter_is_refused(cloud):
    with pytest.raises(ClientError, match="do not exist in the template"):
        cloud.deploy("parameters", {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}, Nope="1")
