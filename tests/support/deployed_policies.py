"""The policies of deployed roles: read, evaluated again, and with one action removed."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import yaml
from cloud.roles.policies import Permission, decide
from support.grants import listed
from support.runs import Cloud

Policies = dict[str, dict[str, Any]]


def policies_of(cloud: Cloud, role: str) -> Policies:
    """The policies of a role by name: its own, and those of the stack that it has attached."""
    iam = cloud.client("iam")
    names = iam.list_role_policies(RoleName=role)["PolicyNames"]
    documents = {one: iam.get_role_policy(RoleName=role, PolicyName=one)["PolicyDocument"] for one in names}
    for one in attached(cloud, role):
        version = iam.get_policy(PolicyArn=one["PolicyArn"])["Policy"]["DefaultVersionId"]
        found = iam.get_policy_version(PolicyArn=one["PolicyArn"], VersionId=version)
        documents[one["PolicyName"]] = found["PolicyVersion"]["Document"]
    # In botocore's JSON form; moto writes CloudFormation's input in Python's form, which is YAML too.
    return {one: yaml.safe_load(text) if isinstance(text, str) else text for one, text in documents.items()}


def attached(cloud: Cloud, role: str) -> list[dict[str, str]]:
    """The policies of the stack that a role has attached, and other roles too."""
    found = cloud.client("iam").list_attached_role_policies(RoleName=role)["AttachedPolicies"]
    return [dict(one) for one in found if ":aws:policy/" not in one["PolicyArn"]]


def put(cloud: Cloud, role: str, policies: Policies) -> None:
    """Replace a role's policies by name, delete those without a statement; both for the next call.

    What was attached is then the role's own, so that other roles keep theirs.
    """
    iam = cloud.client("iam")
    for one in attached(cloud, role):
        iam.detach_role_policy(RoleName=role, PolicyArn=one["PolicyArn"])
    for one, document in policies.items():
        if document["Statement"]:
            iam.put_role_policy(RoleName=role, PolicyName=one, PolicyDocument=json.dumps(document))
        else:
            iam.delete_role_policy(RoleName=role, PolicyName=one)


def actions_of(policies: Policies) -> Iterator[tuple[str, str]]:
    """Each allowed action with the Sid of its statement."""
    for document in policies.values():
        for statement in document["Statement"]:
            if statement["Effect"] == "Allow":
                for action in listed(statement["Action"]):
                    yield statement["Sid"], action


def without(policies: Policies, sid: str, action: str) -> Policies:
    """The policies without one action of one statement."""
    mutant = copy.deepcopy(policies)
    for document in mutant.values():
        for statement in document["Statement"]:
            if statement["Sid"] == sid:
                statement["Action"] = [one for one in listed(statement["Action"]) if one != action]
        document["Statement"] = [one for one in document["Statement"] if one["Action"]]
    assert mutant != policies, f"{sid} does not grant {action}"
    return mutant


def is_allowed(policies: Policies, decision: dict[str, str]) -> bool:
    """Whether policies allow the call of a decision; known conditions are the caller, and the parameters of S3."""
    told = {key: value for key, value in decision.get("context", {}).items() if key.startswith("s3:")}
    asked = Permission(decision["action"], decision["resource"])
    return decide(policies.values(), asked, {"aws:userid": decision["userid"], **told}) == "allow"
