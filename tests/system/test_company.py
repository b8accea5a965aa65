"""Runs in an account whose policies ask for tags: with them they pass, without them they are refused and say why.

The policies are those of docs/deploy, as the permissions boundary of the deployed roles.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from judge import exchanges
from support.company import bounded, document
from support.runs import EBS, EFS, TOUCH, Cloud, matrix, start_cloud

FSX = {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 64}
FIO = {"type": "fio", "rw": "randread", "bs": "4k", "size": "4M", "time_based": 0}
ALL = [EBS, EFS, FSX]
TAGS = {"CostCenter": "4711", "Kostenstelle": "Köln 3"}
CREATING = {"ec2:RunInstances", "ec2:CreateImage", "efs:CreateFileSystem", "fsx:CreateFileSystem"}
RECORD = "exchanges.jsonl"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A cloud that records all calls, and whose roles are under the boundary and the tag policy."""
    folder = tmp_path_factory.mktemp("cloud")
    policies = document("boundary"), document("tag-policy")
    with (
        start_cloud(folder, "--record", str(folder / RECORD)) as started,
        bounded(started, "company", *policies),
    ):
        yield started


def test_a_run_with_the_tags_that_a_policy_asks_for_passes_and_each_creating_call_has_them(cloud: Cloud):
    spot = [{"instanceType": "m6i.large", "count": 1, "spot": True}]

    run = cloud.run("with-tags", matrix(storage=ALL, fleet=spot, image={"bake": True}, tags=TAGS))

    assert run.status == "SUCCEEDED", run.describe()
    creating = [each for each in exchanges.read(cloud.folder / RECORD) if each.call in CREATING]
    assert {each.call for each in creating} == CREATING
    for exchange in creating:
        asked = exchange.parameters()
        kinds = {each["ResourceType"]: each["Tags"] for each in asked.get("TagSpecifications", [])}
        for tag_list in kinds.values() or [asked["Tags"]]:
            given = {tag["Key"]: tag.get("Value") for tag in tag_list}
            assert {key: given.get(key) for key in TAGS} == TAGS, exchange.call
            assert "storage-matrix:stack" in given
        if exchange.call == "ec2:RunInstances":
            assert kinds.keys() >= {"instance", "volume", "network-interface"}
    # The image and its snapshot are kept for later runs.
    left = run.left_behind()
    assert left.keys() == {"open resources"}
    assert all("#_images#" in row for row in left["open resources"])


def test_the_same_run_without_tags_is_refused_with_the_policy_and_what_to_do(cloud: Cloud):
    run = cloud.run("without-tags", matrix(storage=ALL))

    assert run.status == "FAILED"
    errors = {cell["storage"]["type"]: cell["error"] for cell in run.summary()["cells"]}
    assert {kind: error["name"] for kind, error in errors.items()} == dict.fromkeys(errors, "CreationForbidden")
    for kind, action in (("ebs", "ec2:RunInstances"), ("efs", "CreateFileSystem"), ("fsx-openzfs", "CreateFileSystem")):
        message = errors[kind]["message"]
        assert action in message
        assert "with an explicit deny in a permissions boundary" in message
        assert "It gave the tags: Storage Matrix's own only" in message
        assert 'write it into "tags" of the matrix' in message
    assert run.left_behind() == {}


AL2023 = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"


@contextmanager
def closed(cloud: Cloud, *endpoints: str) -> Iterator[None]:
    """Take the way to the internet out of the stack's VPC, which keeps its endpoint of S3, and add endpoints."""
    ec2 = cloud.client("ec2")
    tables = ec2.describe_route_tables(
        Filters=[{"Name": "tag:aws:cloudformation:logical-id", "Values": ["RouteTable"]}]
    )
    [table] = tables["RouteTables"]
    [way] = [route for route in table["Routes"] if route.get("DestinationCidrBlock") == "0.0.0.0/0"]
    route = {"RouteTableId": table["RouteTableId"], "DestinationCidrBlock": "0.0.0.0/0"}
    ec2.delete_route(**route)
    region = cloud.description["region"]
    made = [
        ec2.create_vpc_endpoint(
            VpcId=table["VpcId"], ServiceName=f"com.amazonaws.{region}.{service}", VpcEndpointType="Interface",
            PrivateDnsEnabled=True,
        )["VpcEndpoint"]["VpcEndpointId"]
        for service in endpoints
    ]  # fmt: skip
    try:
        yield
    finally:
        if made:
            ec2.delete_vpc_endpoints(VpcEndpointIds=made)
        ec2.create_route(**route, GatewayId=way["GatewayId"])


def test_a_run_passes_where_tags_a_boundary_and_one_image_are_demanded_and_there_is_no_internet(cloud: Cloud):
    golden = cloud.client("ssm").get_parameter(Name=AL2023)["Parameter"]["Value"]
    others = ("instance", "volume", "network-interface", "subnet", "security-group", "launch-template", "snapshot")
    only_golden = {
        "Effect": "Deny",
        "Action": "ec2:RunInstances",
        "NotResource": [f"arn:aws:ec2:*::image/{golden}", *(f"arn:aws:ec2:*:*:{kind}/*" for kind in others)],
    }
    policies = document("boundary"), document("tag-policy"), {"Statement": [only_golden]}

    with closed(cloud, "sts"), bounded(cloud, "only-golden", *policies):
        run = cloud.run("no-internet", matrix(storage=[EBS, EFS], image={"ami": golden}, tags=TAGS))
        other = cloud.run("another-image", matrix(image={"os": "ubuntu-22.04"}, workload=[TOUCH], tags=TAGS))

    assert run.status == "SUCCEEDED", run.describe()
    assert {cell["state"] for cell in run.summary()["cells"]} == {"measured"}
    assert other.cell()["error"]["name"] == "CreationForbidden"


def test_a_run_without_a_way_out_is_refused_with_the_endpoint_to_create(cloud: Cloud):
    with closed(cloud):
        run = cloud.run("no-sts", matrix(image={"os": "ubuntu-22.04"}, workload=[FIO], tags=TAGS))

    assert run.status == "FAILED"
    cause = run.describe()["cause"]
    assert "have no way to STS" in cause
    assert ".sts --vpc-endpoint-type Interface --private-dns-enabled" in cause
    assert "do not reach the packages of ubuntu-22.04, which instances install: fio" in cause
    assert "no way to S3" not in cause
    assert run.rows() == {}


def test_a_boundary_that_lacks_an_action_is_named_by_the_run_that_needs_it(cloud: Cloud):
    lacking = document("boundary")
    lacking["Statement"][0]["Action"].remove("ec2:RunInstances")

    with bounded(cloud, "lacking", lacking):
        error = cloud.run("lacking", matrix(tags=TAGS)).cell()["error"]

    assert error["name"] == "CreationForbidden"
    assert "because no permissions boundary allows the ec2:RunInstances action" in error["message"]
