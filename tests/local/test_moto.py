"""Which corrections are still needed: plain moto, without the local cloud, still has each fault.

A test that fails here after an upgrade of moto is good news: remove the correction that its name tells, and the test.
"""

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from threading import Thread

import boto3
import botocore
import pytest
from botocore.exceptions import ClientError
from botocore.loaders import JSONFileLoader
from moto import mock_aws
from moto.core import utils as core_utils
from moto.s3.models import FakeKey, S3Backend
from moto.s3.responses import S3Response
from moto.utilities import utils

from local import quick_start
from local.corrections import conditional_writes, names
from local.programs import service_models

KEYS = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "x"}


@pytest.fixture
def client():
    """Clients of plain moto, in this process."""
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        yield lambda service: boto3.client(service, **KEYS)


def test_this_moto_has_every_name_that_is_corrected():
    names.check()


def test_moto_keeps_what_nobody_has_any_more(client):
    before = len(FakeKey.instances_tracked)
    client("s3").create_bucket(Bucket="bucket")
    for _ in range(3):
        client("s3").put_object(Bucket="bucket", Key="key", Body=b"")

    assert len(FakeKey.instances_tracked) == before + 3


def test_another_moto_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(names, "MOTO_VERSION", "9.9.9")
    monkeypatch.setitem(names.NAMES, "moto.ec2.models.instances", ["Instance.vanished"])

    with pytest.raises(names.MotoChangedError) as changed:
        names.check()

    assert "moto.ec2.models.instances.Instance.vanished" in str(changed.value)
    assert "Install moto==9.9.9" in str(changed.value)


def test_of_what_moto_knows_only_this_regions_part_is_read(monkeypatch):
    monkeypatch.setattr(utils, "load_resource", utils.load_resource)
    monkeypatch.setattr(core_utils, "create_loader", core_utils.create_loader)
    quick_start.load_only("eu-west-1")
    offered = {
        region: utils.load_resource(f"ec2/resources/instance_type_offerings/region/{region}.json.gz")
        for region in ("eu-west-1", "us-east-1")
    }

    assert "m6i.large" in {offer["InstanceType"] for offer in offered["eu-west-1"]}
    assert offered["us-east-1"] == []
    assert utils.load_resource("ec2/resources/ecs/optimized_amis/eu-west-1.json") == []
    assert utils.load_resource("ec2/resources/latest_amis/eu-west-1.json"), "an instance boots one of these"
    assert core_utils.create_loader() is core_utils.create_loader()


def test_models_of_services_are_read_as_botocore_reads_them(monkeypatch):
    folder = Path(botocore.__file__).parent / "data"
    names = ("endpoints", "ssm/2014-11-06/service-2", "ssm/2014-11-06/there-is-none")
    read = [JSONFileLoader().load_file(str(folder / name)) for name in names]
    monkeypatch.setattr(JSONFileLoader, "load_file", JSONFileLoader.load_file)
    service_models.read_quickly()

    quickly = [JSONFileLoader().load_file(str(folder / name)) for name in names]

    assert quickly == read
    assert list(quickly[1]["operations"]) == list(read[1]["operations"])
    assert JSONFileLoader().load_file(str(folder / names[1])) is quickly[1], "it is read once"


def test_sams_models_of_resources_that_we_do_not_have_are_built_only_when_they_are_needed():
    script = (
        "import sys; from local import quick_start; quick_start.load_sam_as_needed()\n"
        "import samtranslator.translator.translator; from samtranslator.internal import schema_source\n"
        "models = [vars(schema_source)[f'aws_serverless_{name}'] for name in quick_start.MODELS_OF_OTHERS]\n"
        "print({type(model).__name__ for model in models}, models[1].Properties.__name__)"
    )

    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert printed.stdout.strip() == "{'_LazyModule'} Properties"


def launch(ec2, **request) -> list[dict]:
    return ec2.run_instances(MinCount=2, MaxCount=2, InstanceType="m6i.large", ImageId="ami-12c6146b", **request)[
        "Instances"
    ]


def test_ec2_launch_idempotently(client):
    first, second = (launch(client("ec2"), ClientToken="t")[0]["InstanceId"] for _ in range(2))

    assert first != second


def test_ec2_keep_volume_performance(client):
    volume = {"VolumeType": "gp3", "VolumeSize": 10, "Iops": 4000, "Throughput": 300}
    launch(client("ec2"), BlockDeviceMappings=[{"DeviceName": "/dev/sdf", "Ebs": volume}])

    assert {v.get("Throughput") for v in client("ec2").describe_volumes()["Volumes"]} == {None}


def test_ec2_leave_out_public_snapshots(client):
    own = client("ec2").describe_snapshots(OwnerIds=["self"])["Snapshots"]

    assert own


def test_ec2_profile_on_every_instance(client):
    client("iam").create_instance_profile(InstanceProfileName="p")
    instances = launch(client("ec2"), IamInstanceProfile={"Name": "p"})

    assert len([instance for instance in instances if "IamInstanceProfile" in instance]) < 2


def test_dynamodb_update_atomically(client, monkeypatch):
    models, seen = importlib.import_module("moto.dynamodb.models"), []
    key = {"AttributeName": "k", "AttributeType": "S"}
    table = {"TableName": "t", "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}]}
    client("dynamodb").create_table(**table, AttributeDefinitions=[key], BillingMode="PAY_PER_REQUEST")
    execute = models.UpdateExpressionExecutor.execute

    def look_meanwhile(self, *arguments):
        seen.extend(client("dynamodb").scan(TableName="t")["Items"])
        return execute(self, *arguments)

    monkeypatch.setattr(models.UpdateExpressionExecutor, "execute", look_meanwhile)
    client("dynamodb").update_item(
        TableName="t",
        Key={"k": {"S": "a"}},
        UpdateExpression="SET v = :v",
        ExpressionAttributeValues={":v": {"S": "1"}},
    )

    assert {"k": {"S": "a"}} in seen


def test_efs_ages(client):
    assert client("efs").create_file_system(CreationToken="t")["LifeCycleState"] == "available"


def test_fsx_ages_and_is_created_once(client):
    request = {"FileSystemType": "OPENZFS", "StorageCapacity": 64, "SubnetIds": ["subnet-0123456789abcdef0"]}
    first, second = (
        client("fsx").create_file_system(ClientRequestToken="t", **request)["FileSystem"] for _ in range(2)
    )

    assert "Lifecycle" not in first
    assert first["FileSystemId"] != second["FileSystemId"]
    assert client("fsx").describe_file_systems(FileSystemIds=["fs-00000000"])["FileSystems"] == []


@pytest.mark.filterwarnings("ignore")
def test_cloudformation_refuse_unknown_types(client):
    template = {"Resources": {"T": {"Type": "AWS::SNS::Topic"}, "N": {"Type": "AWS::Nope::Thing"}}}

    client("cloudformation").create_stack(StackName="s", TemplateBody=json.dumps(template))


def test_cloudformation_retains_only_by_retain(client):
    template = {"Resources": {"B": {"Type": "AWS::S3::Bucket", "DeletionPolicy": "RetainExceptOnCreate"}}}
    client("cloudformation").create_stack(StackName="s", TemplateBody=json.dumps(template))

    client("cloudformation").delete_stack(StackName="s")

    assert client("s3").list_buckets()["Buckets"] == []


def test_cloudformation_gives_groups_their_egress(client):
    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
    properties = {"GroupDescription": "x", "SecurityGroupEgress": [https]}
    template = {"Resources": {"G": {"Type": "AWS::EC2::SecurityGroup", "Properties": properties}}}
    client("cloudformation").create_stack(StackName="s", TemplateBody=json.dumps(template))

    [group] = [g for g in client("ec2").describe_security_groups()["SecurityGroups"] if g["GroupName"] != "default"]
    assert 443 not in [rule.get("FromPort") for rule in group["IpPermissionsEgress"]]


def test_cloudformation_lists_what_was_made(client):
    resources = {"T": {"Type": "AWS::SNS::Topic"}, "N": {"Type": "AWS::SNS::Topic", "Condition": "No"}}
    template = {"Conditions": {"No": {"Fn::Equals": [1, 2]}}, "Resources": resources}
    client("cloudformation").create_stack(StackName="s", TemplateBody=json.dumps(template))

    listed = client("cloudformation").list_stack_resources(StackName="s")["StackResourceSummaries"]
    assert "" in [resource["LogicalResourceId"] for resource in listed]


@pytest.mark.filterwarnings("ignore")
def test_cloudformation_complete_change_sets(client):
    template = {"Resources": {"T": {"Type": "AWS::SNS::Topic"}}, "Outputs": {"T": {"Value": {"Ref": "T"}}}}
    cloudformation = client("cloudformation")
    request = {"StackName": "s", "ChangeSetName": "c", "ChangeSetType": "CREATE", "TemplateBody": json.dumps(template)}

    cloudformation.execute_change_set(ChangeSetName=cloudformation.create_change_set(**request)["Id"])

    assert not cloudformation.describe_stacks(StackName="s")["Stacks"][0].get("Outputs")


@pytest.mark.parametrize(
    "kind",
    [
        "S3::BucketPolicy",
        "Scheduler::Schedule",
        "CloudWatch::Alarm",
        "EC2::SecurityGroupEgress",
        "Lambda::EventInvokeConfig",
        "SNS::TopicPolicy",
    ],
)
def test_cloudformation_resource_types(kind):
    parsing = importlib.import_module("moto.cloudformation.parsing")

    assert f"AWS::{kind}" not in parsing.get_model_map()


@pytest.mark.parametrize("kind", ["InternetGateway", "RouteTable", "VPCEndpoint", "VPCGatewayAttachment"])
def test_cloudformation_network_deletion(kind):
    parsing = importlib.import_module("moto.cloudformation.parsing")

    assert not hasattr(parsing.get_model_map()[f"AWS::EC2::{kind}"], "delete")


def test_subnets_of_stacks(client):
    subnet = {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24", "MapPublicIpOnLaunch": True}
    pair = {"SubnetId": {"Ref": "Subnet"}, "RouteTableId": {"Ref": "Table"}}
    resources = {"Vpc": ("VPC", {"CidrBlock": "10.0.0.0/16"}), "Table": ("RouteTable", {"VpcId": {"Ref": "Vpc"}}),
                 "Subnet": ("Subnet", subnet), "Pair": ("SubnetRouteTableAssociation", pair)}  # fmt: skip
    template = {
        "Resources": {
            name: {"Type": f"AWS::EC2::{kind}", "Properties": properties}
            for name, (kind, properties) in resources.items()
        }
    }

    client("cloudformation").create_stack(StackName="subnets", TemplateBody=json.dumps(template))

    tables = client("ec2").describe_route_tables()["RouteTables"]
    assert not [each for table in tables for each in table["Associations"] if each.get("SubnetId")]


def run(states, definition: dict, name: str | None = None) -> str:
    """Execute a definition in plain moto; the execution's ARN."""
    role = "arn:aws:iam::123456789012:role/r"
    machine = states.create_state_machine(name=f"m{id(definition)}", definition=json.dumps(definition), roleArn=role)
    return states.start_execution(stateMachineArn=machine["stateMachineArn"], **({"name": name} if name else {}))[
        "executionArn"
    ]


def test_service_quotas_of_other_services_than_vpc(client):
    with pytest.raises(ClientError, match="NoSuchResource"):
        client("service-quotas").get_service_quota(ServiceCode="fsx", QuotaCode="L-4EDE4065")


def test_what_verify_asks_for_is_unknown_to_moto(client):
    arn, definition = (
        "arn:aws:iam::123456789012:role/some-role",
        '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}',
    )

    with pytest.raises(NotImplementedError):
        client("iam").simulate_principal_policy(PolicySourceArn=arn, ActionNames=["s3:GetObject"])
    with pytest.raises(NotImplementedError):
        client("stepfunctions").validate_state_machine_definition(definition=definition)


def test_recovery_points_of_aws_backup(client):
    arn = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-1"

    with pytest.raises(ClientError, match="404"):
        client("backup").list_recovery_points_by_resource(ResourceArn=arn)


def test_step_functions_name_executions(client):
    definition = {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}

    assert run(client("stepfunctions"), definition).endswith(":None")


def test_step_functions_jsonata_engine():
    module = importlib.import_module("moto.stepfunctions.parser.asl.jsonata.jsonata")

    assert module._eval_jsonata is None


def test_step_functions_definition_lint(client):
    run(
        client("stepfunctions"),
        {"StartAt": "A", "States": {"A": {"Type": "Succeed"}, "B": {"Type": "Pass", "Next": "C"}}},
    )


def test_step_functions_parser_shares_its_query_languages():
    module = importlib.import_module("moto.stepfunctions.parser.asl.parse.preprocessor")

    assert "__init__" not in vars(module.Preprocessor)
    assert isinstance(module.Preprocessor._query_language_per_scope, list)


def test_step_functions_integer_percentage_is_refused(client):
    processor = {
        "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
        "StartAt": "A",
        "States": {"A": {"Type": "Succeed"}},
    }
    each = {"Type": "Map", "ToleratedFailurePercentage": 100, "ItemProcessor": processor, "End": True}

    with pytest.raises(Exception, match=r"."):
        run(client("stepfunctions"), {"StartAt": "Each", "States": {"Each": each}})


def write_at_once(s3, monkeypatch) -> list[int]:
    """Write a key in another thread while a first write is on its way; the statuses of both answers."""
    put, others, statuses = S3Backend.put_object, [], []
    s3.create_bucket(Bucket="board")

    def write() -> None:
        try:
            answer = s3.put_object(Bucket="board", Key="k", Body=b"", IfNoneMatch="*")
        except ClientError as refused:
            answer = refused.response
        statuses.append(answer["ResponseMetadata"]["HTTPStatusCode"])

    def put_late(*place, **content):
        if not others:
            others.append(Thread(target=write))
            others[0].start()
            others[0].join(0.2)  # for ever, where it has to wait for this write
        return put(*place, **content)

    monkeypatch.setattr(S3Backend, "put_object", put_late)
    write()
    others[0].join()
    return sorted(statuses)


@pytest.fixture
def _uncorrected(monkeypatch):
    """moto's own, also where tests of agents have corrected it in this process."""
    monkeypatch.setattr(S3Response, "put_object", inspect.unwrap(S3Response.put_object))


@pytest.mark.usefixtures("_uncorrected")
def test_s3_conditional_writes(client, monkeypatch):
    assert write_at_once(client("s3"), monkeypatch) == [200, 200]


@pytest.mark.usefixtures("_uncorrected")
def test_s3_takes_no_other_condition_than_that_nothing_is_there(client):
    s3 = client("s3")
    s3.create_bucket(Bucket="board")
    s3.put_object(Bucket="board", Key="k", Body=b"", IfNoneMatch='"9b2c"')  # moto does

    conditional_writes.install()

    with pytest.raises(ClientError, match="NotImplemented"):
        s3.put_object(Bucket="board", Key="k", Body=b"", IfNoneMatch='"9b2c"')


@pytest.mark.usefixtures("_uncorrected")
def test_of_two_conditional_writes_at_once_one_succeeds(client, monkeypatch):
    conditional_writes.install()

    assert write_at_once(client("s3"), monkeypatch) == [200, 412]


def test_moto_says_of_no_image_whether_it_supports_ena(client):
    [image] = client("ec2").describe_images(Owners=["amazon"], MaxResults=1)["Images"][:1]

    assert "EnaSupport" not in image


def test_fsx_names_no_mount_of_lustre_and_takes_any_value(client):
    request = {"FileSystemType": "LUSTRE", "StorageCapacity": 1, "SubnetIds": ["subnet-0123456789abcdef0"]}
    made = client("fsx").create_file_system(**request, LustreConfiguration={"DeploymentType": "PERSISTENT_2"})

    assert "MountName" not in made["FileSystem"]["LustreConfiguration"]
    assert "NetworkInterfaceIds" not in made["FileSystem"]
