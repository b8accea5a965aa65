"""A function test is one handler or one edge module against moto: real boto3 calls, no network, no processes."""

import json
import os
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.client import ClientCreator
from moto import mock_aws
from moto.servicequotas.models import ServiceQuotasBackend
from support.function_events import RUN, load_event

import plan_matrix
from agent_client import carry
from aws.account import standing
from aws.ec2 import images
from aws.records import plans, table
from aws.results import observing
from aws.stack import clients, network
from local.corrections import directory_buckets, recycle_bin, s3_files
from local.corrections import fsx as fsx_stand_in
from local.corrections.folders import Folders
from local.programs import stand_ins

new_client, make_class, load_model = boto3.client, ClientCreator._create_client_class, ClientCreator._load_service_model


@cache
def kept_client(service: str, **how: Any) -> Any:
    """A client for all tests: to make them took half of the time of a set-up."""
    return new_client(service, **how)


def same_client(service: str, **how: Any) -> Any:
    """A kept client, but of S3, whose clients keep sessions of directory buckets."""
    return new_client(service, **how) if service == "s3" else kept_client(service, **how)


classes: dict[str, Any] = {}


def same_class(creator: ClientCreator, service: str, *model: Any) -> Any:
    """The class of a client, which botocore makes for each client anew."""
    if service not in classes:
        classes[service] = make_class(creator, service, *model)
    return classes[service]


models: dict[Any, Any] = {}


def same_model(creator: ClientCreator, service: str, version: str | None = None) -> Any:
    """The model of a service, which botocore makes for each client anew, and asks each of its operations."""
    if (service, version) not in models:
        models[service, version] = load_model(creator, service, version)
    return models[service, version]


class PaidAccount:
    """What the two services answer about an account that may do everything; moto has neither call."""

    def get_account_plan_state(self):
        """Answer as freetier does."""
        return {"accountPlanType": "PAID"}

    def describe_vpc_block_public_access_options(self):
        """Answer as EC2 does in a region where nobody has blocked anything."""
        return {"VpcBlockPublicAccessOptions": {"InternetGatewayBlockMode": "off"}}


class Context:
    """What Lambda hands a function beside the event."""

    function_name = "test"
    memory_limit_in_mb = 128
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:test"
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        """No time but for what is done at once."""
        return 0


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[str, str]]:
    """A bucket, a table, a launch template and a network, as the template makes them."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.setenv(name, "us-east-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    # At each start moto would make 1,300 images of others with their snapshots and volumes: 0.2 s.
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", os.environ.get("MOTO_EC2_LOAD_DEFAULT_AMIS", "false"))
    # moto does not know S3 Files: its calls would go to AWS.
    s3_files.install(Folders(tmp_path / "file-systems"), delay_s=0.0)
    directory_buckets.install()
    recycle_bin.install()
    monkeypatch.setattr(boto3, "client", same_client)
    monkeypatch.setattr(ClientCreator, "_create_client_class", same_class)
    monkeypatch.setattr(ClientCreator, "_load_service_model", same_model)
    with mock_aws(config={"core": {"reset_boto3_session": False}}):
        edges = (clients.client, clients.impatient_client, table._table, plans.plan_of, images.newest)
        for cached in (*edges, network.availability_zone, network.zone_id, observing.described_type):
            cached.cache_clear()
        # moto has the quotas of VPC only.
        monkeypatch.setattr(ServiceQuotasBackend, "get_service_quota", lambda *_, **__: {"Value": 1e7})
        monkeypatch.setattr(standing, "impatient_client", lambda *_: PaidAccount())
        made = _make_stack()
        for name, value in made.items():
            monkeypatch.setenv(name, value)
        yield made


def _make_stack() -> dict[str, str]:
    s3, ec2 = boto3.client("s3"), boto3.client("ec2")
    s3.create_bucket(Bucket="results")
    s3.create_bucket(Bucket="data")
    s3.create_bucket(Bucket="files")
    s3.put_bucket_versioning(Bucket="files", VersioningConfiguration={"Status": "Enabled"})
    boto3.client("dynamodb").create_table(
        TableName="table",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "cell_key", "measured_at")
        ],
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "cell-over-runs",
                "KeySchema": [
                    {"AttributeName": "cell_key", "KeyType": "HASH"},
                    {"AttributeName": "measured_at", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    template = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}}
    boto3.client("cloudformation").create_stack(StackName="storage-matrix", TemplateBody=json.dumps(template))
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    made = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{n}.0/24", AvailabilityZone=f"us-east-1{zone}")
        for n, zone in enumerate("abc")
    ]
    subnets = [one["Subnet"]["SubnetId"] for one in made]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    tables = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"]
    ec2.create_route(
        RouteTableId=tables[0]["RouteTableId"], DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway
    )  # fmt: skip
    for subnet in subnets:
        ec2.modify_subnet_attribute(SubnetId=subnet, MapPublicIpOnLaunch={"Value": True})
    group = ec2.create_security_group(GroupName="fs", Description="fs", VpcId=vpc)["GroupId"]
    # Servers of FSx talk to each other.
    among = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[among])
    connected = [
        ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc)["GroupId"] for name in ("fleet", "peers")
    ]
    template = ec2.create_launch_template(
        LaunchTemplateName="fleet",
        LaunchTemplateData={
            "InstanceInitiatedShutdownBehavior": "terminate",
            "MetadataOptions": {"HttpTokens": "required"},
        },
    )
    return {
        "STACK": "storage-matrix",
        "BUCKET": "results",
        "DATA_BUCKET": "data",
        "FILES_BUCKET": "files",
        "FILES_ROLE_ARN": "arn:aws:iam::123456789012:role/files",
        "TABLE": "table",
        "ENVIRONMENT": "aws",
        "GATE_MARGIN_SECONDS": "2",
        "SUBNET_IDS": ",".join(subnets),
        "INSTANCE_ROLE_ARN": "arn:aws:iam::123456789012:role/fleet",
        "MULTI_AZ_CIDR": "10.0.0.0/16",
        "FILE_SYSTEM_SECURITY_GROUP_ID": group,
        "CONNECTED_SECURITY_GROUP_IDS": ",".join(connected),
        "LAUNCH_TEMPLATE_ID": template["LaunchTemplate"]["LaunchTemplateId"],
        "STATE_MACHINE_ARN": "arn:aws:states:us-east-1:123456789012:stateMachine:storage-matrix-run",
        "AGENT_ROOT": str(Path(__file__).parents[2] / "agent"),
        "AGENT_CLIENT": str(carry.MADE),
        "POWERTOOLS_SERVICE_NAME": "test",
    }


@pytest.fixture
def fsx(stack: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """FSx as the local cloud plays it, each step of a life cycle at once."""
    from moto.fsx import models, responses

    for owner in (models.FileSystem, models.FSxBackend, models.Backup, responses.FSxResponse):
        for name in [name for name, value in vars(owner).items() if callable(value) and not name.startswith("__")]:
            monkeypatch.setattr(owner, name, vars(owner)[name])
    before = set(vars(responses.FSxResponse))
    fsx_stand_in.install(Folders(tmp_path / "fsx"), delay_s=0.0)
    yield boto3.client("fsx")
    for name in set(vars(responses.FSxResponse)) - before:
        delattr(responses.FSxResponse, name)


def until(done: Callable[[], bool], what: str) -> None:
    """Wait until something is done, at most four seconds."""
    for _ in range(200):
        if done():
            return
        time.sleep(0.02)
    raise AssertionError(f"{what} never came")


@pytest.fixture
def context() -> Context:
    """The Lambda context of every invocation here."""
    return Context()


@pytest.fixture
def planned(stack: dict[str, str], context: Context, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The plan of the example matrix, as the functions keep it in memory.

    Without the questions about quotas and routes, which have tests of their own and took half of the time.
    """
    with monkeypatch.context() as unasked:
        unasked.setattr(plan_matrix.quotas, "check", lambda *_: [])
        unasked.setattr(plan_matrix, "ways_out", lambda: ([], []))
        plan_matrix.handler(load_event("plan_matrix"), context)
    return plans.plan_of(RUN)


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders in place of storages, as in the Lambda processes of the local cloud."""
    for module, name, replacement in stand_ins.replacements("/storage"):
        monkeypatch.setattr(module, name, replacement)
