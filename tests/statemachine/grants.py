"""What the template grants to each role, and which of it a run has used."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.iam import Permission, decide
from local.yaml_template import load

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
# In a decision a resource of '*' is one that the request does not name.
UNNAMED = "*"


@dataclass(frozen=True)
class Grant:
    """One action on one resource, as a statement of a role's policy in the template grants it."""

    role: str
    sid: str
    action: str
    resource: str
    condition: str

    def covers(self, role: str, action: str, resource: str) -> bool:
        """Whether a decision of the log may rest on this grant."""
        if (role, action) != (self.role, self.action):
            return False
        pattern = re.sub(r"\$\{[^}]*\}", "*", self.resource)
        statement = {"Effect": "Allow", "Action": self.action, "Resource": pattern}
        return decide([{"Statement": [statement]}], Permission(action, resource), {}) == "allow"


def statements() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every statement of the template's roles, with the logical id of its role."""
    for name, resource in load(TEMPLATE.read_text())["Resources"].items():
        if resource["Type"] == "AWS::IAM::Role":
            for policy in resource["Properties"]["Policies"]:
                for statement in policy["PolicyDocument"]["Statement"]:
                    yield name, statement


def granted() -> list[Grant]:
    """Every grant, one for each pair of action and resource."""
    return [
        Grant(role, statement["Sid"], action, resource, json.dumps(statement.get("Condition", {})))
        for role, statement in statements()
        if statement["Effect"] == "Allow"
        for action in listed(statement["Action"])
        for resource in map(arn, listed(statement["Resource"]))
        if action.partition(":")[0] == service_of(resource) or resource == UNNAMED
    ]


def service_of(resource: str) -> str:
    """The service of an ARN."""
    return resource.split(":")[2] if resource.startswith("arn:") else ""


def arn(resource: Any) -> str:
    """The pattern of ARNs that a Resource of the template stands for; a reference has any name."""
    match resource:
        case str():
            return resource
        case {"Fn::Sub": str(text)}:
            whole = re.sub(r"\$\{(\w+)\.Arn\}", lambda found: _arn_of(found[1]), text).replace("${!", "${")
            return whole.replace("${AWS::Partition}", "aws")
        case {"Ref": "RunStateMachine"}:
            return "arn:aws:states:*"
        case {"Fn::GetAtt": [name, "Arn"]}:
            return _arn_of(name)
    raise AssertionError(f"a Resource that is not understood here: {resource}")


def _arn_of(name: str) -> str:
    if name.endswith("LogGroup"):
        return "arn:aws:logs:*"
    if name.endswith("Role"):
        return "arn:aws:iam:*"
    if name.endswith("Function"):
        return f"arn:aws:lambda:*-{name}-*"
    buckets = dict.fromkeys(("ResultsBucket", "DataBucket"), "arn:aws:s3:::*")
    return {**buckets, "ResultsTable": "arn:aws:dynamodb:*"}[name]


def used(decisions: Iterable[dict[str, str]]) -> set[tuple[str, str, str]]:
    """Role (its logical id), action and resource of every call that was allowed."""
    return {(role_of(one["role"]), one["action"], one["resource"]) for one in decisions if one["decision"] == "allow"}


def role_of(name: str) -> str:
    """The logical id of a deployed role: `<stack>-<logical id>-<random>`."""
    return name.split("-")[-2]


def listed(value: Any) -> list[Any]:
    """A policy may name one thing without a list."""
    return value if isinstance(value, list) else [value]
