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
    """The inline policies of a role, by name."""
    iam = cloud.client("iam")
    names = iam.list_role_policies(RoleName=role)["PolicyNames"]
    documents = {one: iam.get_role_policy(RoleName=role, PolicyName=one)["PolicyDocument"] for one in names}
    # In botocore's JSON form; moto writes CloudFormation's input in Python's form, which is YAML too.
    return {one: yaml.safe_load(text) if isinstance(text, str) else text for one, text in documents.items()}


def put(cloud: Cloud, role: str, policies: Policies) -> None:
    """Replace a role's policies by name, delete those without a statement; both for the next call."""
    iam = cloud.client("iam")
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
