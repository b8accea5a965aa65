"""Tags in the very calls that create: those of the stack and of the matrix beside our own, on each kind of resource."""

import json

import boto3
import pytest
from botocore.exceptions import ClientError
from support.function_events import RUN, plan_run, problems_of_run
from support.refusals import refusal
from support.storages import requests_of

import create_file_system
import launch_fleet
from aws.ec2 import images
from aws.stack import denials, tags
from matrix.check.tags import MAX_OWN, is_own
from matrix.terms.errors import CreationForbidden

OF_STACK = {"CostCenter": "4711", "Team": "storage"}
OF_MATRIX = {"CostCenter": "4712", "Project": "builds"}
FSX = {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 64}
BOTH = {"CostCenter": "4712", "Team": "storage", "Project": "builds"}


def tag_stack(given):
    """Deploy the stack again with tags."""
    template = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}, "Other": {"Type": "AWS::SQS::Queue"}}}
    listed = [{"Key": key, "Value": value} for key, value in given.items()]
    boto3.client("cloudformation").update_stack(
        StackName="storage-matrix", TemplateBody=json.dumps(template), Tags=listed
    )


def given_to(tag_list):
    """Tags of one resource that are not ours."""
    return {tag["Key"]: tag["Value"] for tag in tag_list if not is_own(tag["Key"])}


def test_a_plan_has_the_tags_of_stack_and_matrix(stack, context):
    tag_stack(OF_STACK)

    assert plan_run(context, tags=OF_MATRIX)["tags"] == BOTH


def test_tags_that_are_too_many_together_are_refused_before_anything_exists(stack, context):
    tag_stack({f"s{i}": "v" for i in range(40)})

    [problem] = problems_of_run(context, tags={f"m{i}": "v" for i in range(4)})

    assert problem.path == "tags"


@pytest.mark.parametrize("storage", [{"type": "ebs", "volumeType": "gp3", "sizeGiB": 8}, {"type": "efs"}])
@pytest.mark.parametrize("spot", [False, True])
def test_a_launch_tags_instances_volumes_interfaces_and_spot_requests(stack, context, monkeypatch, storage, spot):
    tag_stack(OF_STACK)
    fleet = [{"instanceType": "m6i.large", "count": 1, "spot": spot}]
    plan = plan_run(context, tags=OF_MATRIX, storage=[storage], fleet=fleet)
    cell = plan["cells"][0]
    asked = requests_of("ec2", "RunInstances")
    monkeypatch.setattr(images, "newest", lambda _: "ami-12c6146b")
    table_row = {"run": RUN, "file_system": cell["file_system"], "cell": cell["id"], "resource_ids": []}
    if storage["type"] == "efs":
        table_row["resource_ids"] = create_file_system.handler(table_row, context)["resource_ids"]

    with monkeypatch.context() as patched:
        patched.setattr("aws.fleet.launching._record_volumes", lambda *_: {})
        launch_fleet.handler(table_row, context)

    [request] = asked
    kinds = {each["ResourceType"]: given_to(each["Tags"]) for each in request["TagSpecifications"]}
    expected = ["instance", "volume", "network-interface", *(["spot-instances-request"] if spot else [])]
    assert kinds == dict.fromkeys(expected, BOTH)


@pytest.mark.parametrize(("storage", "service"), [({"type": "efs"}, "efs"), (FSX, "fsx")])
def test_a_file_system_is_tagged_by_the_call_that_creates_it_and_has_room_for_all_tags(
    stack, context, storage, service
):
    most = {f"k{i}": "v" for i in range(43)}
    plan = plan_run(context, tags=most, storage=[storage])
    asked = requests_of(service, "CreateFileSystem")

    create_file_system.handler({"run": RUN, "file_system": plan["file_systems"][0]["id"]}, context)

    [request] = asked
    assert given_to(request["Tags"]) == most
    assert len(request["Tags"]) <= 50


def test_our_own_tags_are_as_many_as_are_counted(stack, context):
    plan = plan_run(context)

    assert len(tags.tags(plan, file_system="f", cell="c")) == MAX_OWN
    assert len(tags.image_tags(plan, "name", "fingerprint")) <= MAX_OWN


def test_an_image_has_the_tags_in_the_call_that_creates_it(stack, context):
    plan = plan_run(context, tags=OF_MATRIX)

    assert given_to(tags.image_tags(plan, "name", "fingerprint")) == OF_MATRIX


def test_a_tag_that_is_ours_is_never_that_of_a_user(stack, context):
    """An older plan, or one that somebody wrote by hand, may hold one: the sweep must find what is ours."""
    plan = plan_run(context) | {"tags": {"storage-matrix:run": "another"}}

    assert {"Key": "storage-matrix:run", "Value": RUN} in tags.tags(plan, file_system="f")


DENIAL = (
    "User: arn:aws:sts::1:assumed-role/x/y is not authorized to perform: {} on resource: * with an explicit deny in"
)


@pytest.mark.parametrize(
    ("code", "message", "is_of_account"),
    [
        ("UnauthorizedOperation", f"{DENIAL} a service control policy. Encoded authorization failure message: x", True),
        ("AccessDeniedException", f"{DENIAL} a permissions boundary", True),
        ("TagPolicyViolation", "The tag policy does not allow the specified value for the tag key: CostCenter", True),
        ("AccessDenied", "User … because no permissions boundary allows the fsx:CreateFileSystem action", True),
        ("AccessDenied", "User … because no identity-based policy allows the action", False),
        ("InvalidParameterValue", "no such type", False),
    ],
)  # fmt: skip
def test_only_a_policy_of_the_account_is_named_as_one_with_the_tags_that_the_call_gave(code, message, is_of_account):
    expected = CreationForbidden if is_of_account else ClientError
    with pytest.raises(expected) as raised, denials.explained({"tags": {"Team": "x"}}):
        raise refusal(code, "CreateFileSystem", message=message)

    if is_of_account:
        text = str(raised.value)
        assert "It gave the tags: Team, Storage Matrix's own." in text
        assert 'write it into "tags" of the matrix, or deploy the stack with it (sam deploy --tags' in text
        assert "Encoded" not in text
