"""What an instance may do with the bucket, tried with its role's own session: below its own name, and nowhere else."""

from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from support.runs import Cloud

CELL = "runs/r/cells/c"
MEET = f"{CELL}/meet/{'0123456789abcdef' * 2}"
OWN, OTHER = "i-0aaaaaaaaaaaaaaaa", "i-0bbbbbbbbbbbbbbbb"


@pytest.fixture(scope="module")
def session(cloud: Cloud) -> dict[str, Any]:
    """A session of the instance role as EC2 makes it: named after the instance."""
    found = cloud.client("cloudformation").describe_stack_resource(
        StackName=cloud.description["stack"], LogicalResourceId="InstanceRole"
    )["StackResourceDetail"]["PhysicalResourceId"]
    arn = cloud.client("iam").get_role(RoleName=found)["Role"]["Arn"]
    return cloud.client("sts").assume_role(RoleArn=arn, RoleSessionName=OWN)


@pytest.fixture(scope="module")
def instance(cloud: Cloud, session: dict[str, Any]) -> Callable[[str], Any]:
    keys = session["Credentials"]

    def client(service: str) -> Any:
        return boto3.client(
            service, endpoint_url=cloud.description["endpoint"], region_name=cloud.description["region"],
            aws_access_key_id=keys["AccessKeyId"], aws_secret_access_key=keys["SecretAccessKey"],
            aws_session_token=keys["SessionToken"],
        )  # fmt: skip

    return client


@pytest.fixture(scope="module")
def role_id(session: dict[str, Any]) -> str:
    """The first half of the role's aws:userid."""
    return session["AssumedRoleUser"]["AssumedRoleId"].partition(":")[0]


@pytest.fixture(scope="module")
def bucket(cloud: Cloud, role_id: str) -> str:
    """The bucket with what a run of others has in it."""
    name = cloud.output("BucketName")
    others = [f"{CELL}/instances/{role_id}:{OTHER}/samples.json", f"{CELL}/result.json", "runs/other/plan.json"]
    for key in [
        *others,
        f"{CELL}/job.json",
        f"{CELL}/meeting.json",
        f"{CELL}/volumes.json",
        f"{MEET}/roster.json",
        f"{MEET}/gates/0000.json",
        "agents/0.pyz",
    ]:
        cloud.client("s3").put_object(Bucket=name, Key=key, Body=b"theirs")
    return name


def refusal(call: Callable[..., Any], **request: Any) -> str | None:
    """The code with which a call is refused."""
    try:
        call(**request)
    except ClientError as error:
        return error.response["Error"]["Code"]
    return None


@pytest.mark.parametrize("name", ["heartbeat", "samples.json", "raw/p01.json.gz", "done.json"])
def test_an_instance_writes_below_its_own_name(instance, bucket, role_id, name):
    key = f"{CELL}/instances/{role_id}:{OWN}/{name}"

    assert refusal(instance("s3").put_object, Bucket=bucket, Key=key, Body=b"ours") is None


@pytest.mark.parametrize(
    "key",
    [
        CELL + "/instances/{role}:" + OTHER + "/samples.json",
        CELL + "/instances/{role}:" + OWN + "x/samples.json",
        CELL + "/instances/{role}:" + OWN,
        CELL + "/instances/{role}:" + OTHER + "/raw/instances/{role}:" + OWN + "/p01.json",
        CELL + "/instances/" + OWN + "/samples.json",
        CELL + "/instances/*/samples.json",
        CELL + "/instances/${{aws:userid}}/samples.json",
        CELL + "/result.json",
        CELL + "/job.json",
        CELL + "/meeting.json",
        CELL + "/fleet.json",
        CELL + "/volumes.json",
        MEET + "/roster.json",
        MEET + "/gates/0001.json",  # without the header that lets S3 write it once
        MEET + "/ready/0001/{role}:" + OWN,
        CELL + "/instances/{role}:" + OWN + "/meet/x/gates/0001.json",
        MEET + "/instances/{role}:" + OWN + "/samples.json",
        "runs/r/plan.json",
        "runs/r/summary.json",
        "agents/0.pyz",
        "instances/{role}:" + OWN + "/samples.json",
    ],
)
def test_an_instance_writes_nothing_else(cloud, instance, bucket, role_id, key):
    key = key.format(role=role_id)
    s3 = instance("s3")

    assert refusal(s3.put_object, Bucket=bucket, Key=key, Body=b"ours") == "AccessDenied"
    assert refusal(s3.create_multipart_upload, Bucket=bucket, Key=key) == "AccessDenied"
    source = {"Bucket": bucket, "Key": f"{CELL}/job.json"}
    assert refusal(s3.copy_object, Bucket=bucket, Key=key, CopySource=source) == "AccessDenied"
    assert refusal(s3.delete_object, Bucket=bucket, Key=key) == "AccessDenied"


def test_an_instance_reads_jobs_gates_and_agents(instance, bucket):
    meeting = (f"{MEET}/roster.json", f"{MEET}/gates/0000.json")
    for key in (f"{CELL}/job.json", f"{CELL}/volumes.json", *meeting, "agents/0.pyz"):
        assert refusal(instance("s3").get_object, Bucket=bucket, Key=key) is None


def test_an_instance_says_ready_for_itself_and_opens_a_gate_once_each(instance, bucket, role_id):
    s3, once = instance("s3"), {"Bucket": bucket, "Body": b"{}", "IfNoneMatch": "*"}
    for key in (f"{MEET}/ready/0003/{role_id}:{OWN}", f"{MEET}/gates/0003.json"):
        assert refusal(s3.put_object, Key=key, **once) is None
        assert refusal(s3.put_object, Key=key, **once) == "PreconditionFailed"
        assert refusal(s3.put_object, Bucket=bucket, Key=key, Body=b"{}") == "AccessDenied"
        assert refusal(s3.delete_object, Bucket=bucket, Key=key) == "AccessDenied"
    for key in (f"{MEET}/ready/0003/{role_id}:{OTHER}", f"{MEET}/roster.json", f"{MEET}/gates/x/0003.bin"):
        assert refusal(s3.put_object, Key=key, **once) == "AccessDenied"


def test_an_instance_lists_the_marks_of_a_step_only_by_the_name_of_its_launch(instance, bucket, role_id):
    s3 = instance("s3")

    assert refusal(s3.list_objects_v2, Bucket=bucket, Prefix=f"{MEET}/ready/0003/") is None
    for prefix in (f"{CELL}/meet/", f"{MEET}/", f"{MEET}/ready/", f"{MEET}/gates/", "runs/"):
        assert refusal(s3.list_objects_v2, Bucket=bucket, Prefix=prefix) == "AccessDenied"


def test_an_instance_reads_no_results_not_even_by_a_copy(instance, bucket, role_id):
    s3 = instance("s3")
    for key in (
        f"{CELL}/instances/{role_id}:{OTHER}/samples.json",
        f"{CELL}/result.json",
        f"{CELL}/meeting.json",
        "runs/other/plan.json",
    ):
        assert refusal(s3.get_object, Bucket=bucket, Key=key) == "AccessDenied"
        assert refusal(s3.head_object, Bucket=bucket, Key=key) == "403"
        own, source = f"{CELL}/instances/{role_id}:{OWN}/copy", {"Bucket": bucket, "Key": key}
        assert refusal(s3.copy_object, Bucket=bucket, Key=own, CopySource=source) == "AccessDenied"


def test_an_instance_lists_nothing_and_deletes_nothing(instance, bucket, role_id):
    s3 = instance("s3")

    for prefix in ("", CELL, f"{CELL}/instances/{role_id}:{OWN}/"):
        assert refusal(s3.list_objects_v2, Bucket=bucket, Prefix=prefix) == "AccessDenied"
        assert refusal(s3.list_object_versions, Bucket=bucket, Prefix=prefix) == "AccessDenied"
    own = f"{CELL}/instances/{role_id}:{OWN}/samples.json"
    assert refusal(s3.delete_object, Bucket=bucket, Key=own) == "AccessDenied"
    assert refusal(s3.delete_objects, Bucket=bucket, Delete={"Objects": [{"Key": own}]}) == "AccessDenied"


@pytest.mark.parametrize(
    ("service", "call", "request_"),
    [
        ("dynamodb", "scan", {"TableName": "ledger"}),
        ("ec2", "describe_instances", {}),
        ("ec2", "terminate_instances", {"InstanceIds": [OTHER]}),
        ("stepfunctions", "list_state_machines", {}),
        ("lambda", "list_functions", {}),
        ("iam", "list_roles", {}),
    ],
)
def test_an_instance_may_ask_no_other_service(instance, service, call, request_):
    assert refusal(getattr(instance(service), call), **request_) in (
        "AccessDenied", "AccessDeniedException", "UnauthorizedOperation",
    )  # fmt: skip


def test_an_instance_may_ask_who_it_is(instance, role_id):
    assert instance("sts").get_caller_identity()["UserId"] == f"{role_id}:{OWN}"
