"""CloudFormation: what the embedded deploy and the sam CLI need of it."""

import json

import pytest
from botocore.exceptions import ClientError
from support.running_cloud import function, role

NETWORK = {
    "Parameters": {
        "SubnetIds": {"Type": "CommaDelimitedList", "Default": ""},
        "Existing": {"Type": "List<AWS::EC2::Subnet::Id>", "Default": "subnet-1,subnet-2"},
        "Image": {
            "Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>",
            "Default": "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64",
        },
        "Make": {"Type": "String", "Default": "yes"},
    },
    "Conditions": {
        "MakesVpc": {"Fn::Equals": [{"Ref": "Make"}, "yes"]},
        "HasSubnets": {"Fn::Not": [{"Fn::Equals": [{"Fn::Join": ["", {"Ref": "SubnetIds"}]}, ""]}]},
    },
    "Resources": {
        "Vpc": {"Type": "AWS::EC2::VPC", "Condition": "MakesVpc", "Properties": {"CidrBlock": "10.9.0.0/16"}},
        "Gateway": {"Type": "AWS::EC2::InternetGateway", "Condition": "MakesVpc"},
        "Attachment": {
            "Type": "AWS::EC2::VPCGatewayAttachment",
            "Condition": "MakesVpc",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "InternetGatewayId": {"Ref": "Gateway"}},
        },
        "Routes": {"Type": "AWS::EC2::RouteTable", "Condition": "MakesVpc", "Properties": {"VpcId": {"Ref": "Vpc"}}},
        "Endpoint": {
            "Type": "AWS::EC2::VPCEndpoint",
            "Condition": "MakesVpc",
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.s3"},
                "RouteTableIds": [{"Ref": "Routes"}],
            },
        },
        "Subnet": {
            "Type": "AWS::EC2::Subnet",
            "Condition": "MakesVpc",
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "CidrBlock": {"Fn::Select": [1, {"Fn::Cidr": [{"Fn::GetAtt": ["Vpc", "CidrBlock"]}, 3, 12]}]},
                "AvailabilityZone": {"Fn::Select": ["2", {"Fn::GetAZs": {"Ref": "AWS::Region"}}]},
            },
        },
        "SubnetRoutes": {
            "Type": "AWS::EC2::SubnetRouteTableAssociation",
            "Condition": "MakesVpc",
            "Properties": {"SubnetId": {"Ref": "Subnet"}, "RouteTableId": {"Ref": "Routes"}},
        },
        "Role": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": {"Statement": []},
                "ManagedPolicyArns": [
                    {"Fn::If": ["MakesVpc", {"Ref": "AWS::NoValue"}, "arn:aws:iam::aws:policy/ReadOnlyAccess"]}
                ],
            },
        },
    },
    "Outputs": {
        "VpcId": {"Condition": "MakesVpc", "Value": {"Ref": "Vpc"}},
        "SubnetId": {"Condition": "MakesVpc", "Value": {"Ref": "Subnet"}},
        "HasSubnets": {"Value": {"Fn::If": ["HasSubnets", "yes", "no"]}},
        "SecondExisting": {"Value": {"Fn::Select": [1, {"Ref": "Existing"}]}},
        "Image": {"Value": {"Ref": "Image"}},
    },
}


def test_conditions_lists_and_functions_of_a_network(cloud):
    outputs = cloud.deploy("network", NETWORK)

    subnet = cloud.client("ec2").describe_subnets(SubnetIds=[outputs["SubnetId"]])["Subnets"][0]
    assert subnet["CidrBlock"] == "10.9.16.0/20"
    assert subnet["AvailabilityZone"] == "us-east-1c"
    assert outputs["HasSubnets"] == "no"
    assert outputs["SecondExisting"] == "subnet-2"
    assert outputs["Image"].startswith("ami-")


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


def test_a_false_condition_makes_nothing(cloud):
    outputs = cloud.deploy("no-network", NETWORK, Make="no", SubnetIds="subnet-3,subnet-4")

    assert "VpcId" not in outputs
    assert outputs["HasSubnets"] == "yes"


def test_deleting_a_stack_deletes_its_network(cloud):
    outputs = cloud.deploy("short-lived-network", NETWORK)

    cloud.client("cloudformation").delete_stack(StackName="short-lived-network")

    vpcs = cloud.client("ec2").describe_vpcs()["Vpcs"]
    assert outputs["VpcId"] not in [vpc["VpcId"] for vpc in vpcs]


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


SAM = """
AWSTemplateFormatVersion: 2010-09-09
Transform: AWS::Serverless-2016-10-31
Parameters:
  Colour: {Type: String, Default: blue}
  Every: {Type: String, Default: rate(1 day)}
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: PK, AttributeType: S}]
      KeySchema: [{AttributeName: PK, KeyType: HASH}]
  Unchanged: {Type: AWS::EC2::InternetGateway}
  Paint:
    Type: AWS::Serverless::Function
    Properties:
      Runtime: python3.11
      Handler: index.handler
      InlineCode: |
        import os
        def handler(event, context): return os.environ["COLOUR"] + " " + os.environ["PLACE"]
      Environment:
        Variables:
          COLOUR: !Ref Colour
          PLACE: !Sub ["${Where}-${AWS::Region}", {Where: !Select [0, !Split [":", "here:there"]]}]
      Policies: [AmazonS3ReadOnlyAccess]
      Events:
        Daily: {Type: Schedule, Properties: {Schedule: !Ref Every}}
  Machine:
    Type: AWS::Serverless::StateMachine
    Properties:
      Definition: {StartAt: Paint, States: {Paint: {Type: Task, Resource: "${Paint}", End: true}}}
      DefinitionSubstitutions: {Paint: !GetAtt Paint.Arn}
      Policies: [{LambdaInvokePolicy: {FunctionName: !Ref Paint}}]
Outputs:
  Machine: {Value: !Ref Machine}
  Paint: {Value: !Ref Paint}
"""


def test_a_change_set_of_a_sam_template_gives_outputs_events_and_a_working_stack(cloud):
    cloudformation, states = cloud.client("cloudformation"), cloud.client("stepfunctions")

    _change(cloudformation, "CREATE", SAM, [])
    stack = cloudformation.describe_stacks(StackName="sam")["Stacks"][0]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    execution = states.start_execution(stateMachineArn=outputs["Machine"])["executionArn"]

    assert stack["StackStatus"] == "CREATE_COMPLETE"
    assert json.loads(cloud.wait_for_execution(execution)["output"]) == "blue here-us-east-1"
    events = cloudformation.describe_stack_events(StackName="sam")["StackEvents"]
    assert "Table" in [event["LogicalResourceId"] for event in events]


def test_a_second_change_set_changes_what_changed_and_keeps_previous_values(cloud):
    cloudformation = cloud.client("cloudformation")

    parameters = [
        {"ParameterKey": "Colour", "ParameterValue": "red"},
        {"ParameterKey": "Every", "UsePreviousValue": True},
    ]
    _change(cloudformation, "UPDATE", SAM, parameters)
    stack = cloudformation.describe_stacks(StackName="sam")["Stacks"][0]
    paint = next(output["OutputValue"] for output in stack["Outputs"] if output["OutputKey"] == "Paint")

    reasons = [
        event.get("ResourceStatusReason")
        for event in cloudformation.describe_stack_events(StackName="sam")["StackEvents"]
    ]
    assert stack["StackStatus"] == "UPDATE_COMPLETE", reasons
    answer = cloud.client("lambda").invoke(FunctionName=paint, Payload=b"{}")
    assert json.loads(answer["Payload"].read()) == "red here-us-east-1"


def _change(cloudformation, kind: str, template: str, parameters: list) -> None:
    change = cloudformation.create_change_set(
        StackName="sam",
        ChangeSetName=kind.lower(),
        ChangeSetType=kind,
        TemplateBody=template,
        Parameters=parameters,
        Capabilities=["CAPABILITY_IAM"],
    )["Id"]
    assert cloudformation.describe_change_set(ChangeSetName=change)["Status"] == "CREATE_COMPLETE"
    cloudformation.execute_change_set(ChangeSetName=change)


def test_missing_types_are_made_for_real(cloud):
    resources = {
        "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "with-policy"}},
        "BucketPolicy": {
            "Type": "AWS::S3::BucketPolicy",
            "Properties": {"Bucket": {"Ref": "Bucket"}, "PolicyDocument": {"Statement": [_deny(None), _deny("false")]}},
        },
        "Group": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "g"}},
        "Egress": {
            "Type": "AWS::EC2::SecurityGroupEgress",
            "Properties": {
                "GroupId": {"Fn::GetAtt": ["Group", "GroupId"]},
                "IpProtocol": "tcp",
                "FromPort": 2049,
                "ToPort": 2049,
                "DestinationSecurityGroupId": {"Fn::GetAtt": ["Group", "GroupId"]},
            },
        },
        "Role": role(),
        "Code": function("def handler(event, context): pass"),
        "Schedule": {
            "Type": "AWS::Scheduler::Schedule",
            "Properties": {
                "Name": "nightly",
                "FlexibleTimeWindow": {"Mode": "OFF"},
                "ScheduleExpression": "rate(1 day)",
                "Target": {"Arn": {"Fn::GetAtt": ["Code", "Arn"]}, "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]}},
            },
        },
        "Alarm": {
            "Type": "AWS::CloudWatch::Alarm",
            "Properties": {
                "AlarmName": "failures",
                "MetricName": "Errors",
                "Namespace": "AWS/Lambda",
                "ComparisonOperator": "GreaterThanThreshold",
                "EvaluationPeriods": 1,
                "Period": 60,
                "Statistic": "Sum",
                "Threshold": 0,
            },
        },
    }
    cloud.deploy("missing-types", {"Resources": resources})

    policy = json.loads(cloud.client("s3").get_bucket_policy(Bucket="with-policy")["Policy"])
    assert policy["Statement"] == [_deny(None), _deny("false")]
    assert cloud.client("scheduler").get_schedule(Name="nightly")["ScheduleExpression"] == "rate(1 day)"
    assert cloud.client("cloudwatch").describe_alarms(AlarmNames=["failures"])["MetricAlarms"]

    cloud.client("cloudformation").delete_stack(StackName="missing-types")

    assert not cloud.client("cloudwatch").describe_alarms(AlarmNames=["failures"])["MetricAlarms"]


def _deny(secure: str | None) -> dict:
    statement = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:DeleteBucket",
        "Resource": "arn:aws:s3:::with-policy",
    }
    return {**statement, "Condition": {"Bool": {"aws:SecureTransport": secure}}} if secure else statement
