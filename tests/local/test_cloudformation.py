"""CloudFormation: what the embedded deploy and the sam CLI need of it."""

import json

import pytest
from botocore.exceptions import ClientError
from support.deployed_policies import policies_of
from support.running_cloud import role


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


def test_a_role_has_the_policies_that_a_template_names_also_after_a_change_of_it(cloud):
    def template(action: str, *named: str) -> dict:
        def document(sid: str) -> dict:
            statement = {"Sid": sid, "Effect": "Allow", "Action": action, "Resource": "*"}
            return {"Version": "2012-10-17", "Statement": [statement]}

        own = role()
        own["Properties"] |= {
            "ManagedPolicyArns": [*({"Ref": name} for name in named), "arn:aws:iam::aws:policy/ReadOnlyAccess"],
            "Policies": [{"PolicyName": "own", "PolicyDocument": document("Own")}],
        }
        shared = {"Type": "AWS::IAM::ManagedPolicy"}
        resources = {name: shared | {"Properties": {"PolicyDocument": document(name)}} for name in ("First", "Second")}
        outputs = {name: {"Value": {"Ref": name}} for name in ("Role", "First", "Second")}
        return {"Resources": {"Role": own, **resources}, "Outputs": outputs}

    made = cloud.deploy("attached", template("s3:GetObject", "First"))
    iam, cloudformation = cloud.client("iam"), cloud.client("cloudformation")

    def rights() -> dict[str, str]:
        statements = [document["Statement"][0] for document in policies_of(cloud, made["Role"]).values()]
        return {statement["Sid"]: statement["Action"] for statement in statements}

    assert rights() == {"Own": "s3:GetObject", "First": "s3:GetObject"}
    body = json.dumps(template("s3:PutObject", "Second"))
    cloudformation.update_stack(StackName="attached", TemplateBody=body, Capabilities=["CAPABILITY_IAM"])
    assert rights() == {"Own": "s3:PutObject", "Second": "s3:PutObject"}
    cloudformation.delete_stack(StackName="attached")
    left = {each["Arn"] for each in iam.list_policies(Scope="Local")["Policies"]}
    assert {made["First"], made["Second"]} & left == set()
