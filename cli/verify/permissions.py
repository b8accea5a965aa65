"""Step: IAM's policy simulator, which is free, allows the deployed roles every call that runs make.

calls.json holds the calls of all runs of tests/system/test_privilege.py on the local cloud, each once, with resource
and condition keys. The simulator evaluates the deployed roles with their permission boundaries, which the local cloud
does not know. It evaluates policies of the organization only if they have no conditions on global keys. Almost every
organization has such a condition (aws:RequestedRegion), so a denial by the organization alone does not fail the step.
https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_testing-policies.html
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from cli.verify.checks import Check, assumed, required, shown
from cli.verify.stack import Stack

CALLS = Path(__file__).with_name("calls.json")
# Calls of roles that exist only with optional parameters (Schedule, NotifyEmail, NotifyTopicArn), as template.yaml
# grants them. A test compares them with the template.
OPTIONAL_CALLS = Path(__file__).with_name("optional_calls.json")
# EC2 sets role id and instance id; the simulator accepts any value.
USERID = "AROA00000000000000000:i-00000000000000000"
# The simulator takes each key with its type: https://docs.aws.amazon.com/IAM/latest/APIReference/API_ContextEntry.html
# Multivalued keys in IAM's list of global condition keys.
LISTS = ("aws:calledvia",)
# Keys that the template compares with `Bool`.
BOOLEANS = ("aws:securetransport", "elasticfilesystem:encrypted", "kms:grantisforawsresource")
# IAM simulates a list of actions in one call; a longer list makes a denial harder to read.
ACTIONS_AT_ONCE = 20
SHOWN = 8
ASK = (
    "the role is not as this tree deploys it, or a permission boundary of the account forbids it: deploy again, or ask "
    "for the named actions"
)
ASK_ORGANIZATION = (
    "the simulator misjudges service control policies with conditions, and does not say whether the role itself would "
    "be allowed: ask who keeps the organization's policies, or see whether the runs below are denied"
)


def checks(stack: Stack) -> Iterator[Check]:
    """Simulate the calls of each role; yield one check for each role."""
    calls = json.loads(CALLS.read_text())
    calls += [call for call in json.loads(OPTIONAL_CALLS.read_text()) if _is_of_stack(call, stack)]
    for role in sorted({call["role"] for call in calls}):
        own = [call for call in calls if call["role"] == role]
        denied, of_organization, unasked = [], [], set()
        for asked, result in answers(stack, role, own):
            missing = result.get("MissingContextValues", [])
            if result["EvalDecision"] == "allowed":
                continue
            if missing and result["EvalDecision"] == "implicitDeny":
                unasked |= {f"{result['EvalActionName']} ({', '.join(missing)})"}
            elif _is_of_organization(result):
                of_organization.append(f"{result['EvalActionName']} on {asked}: {result['EvalDecision']}")
            else:
                denied.append(f"{result['EvalActionName']} on {asked}: {result['EvalDecision']}")
        yield _of_role(role, len(own) - len(of_organization), denied)
        if of_organization:
            yield assumed(
                role, "allowed by the organization's policies", shown(of_organization, SHOWN),
                is_so=False, fix=ASK_ORGANIZATION,
            )  # fmt: skip
        if unasked:
            yield assumed(
                role, "every condition can be asked about", f"not judged: {', '.join(sorted(unasked))}",
                is_so=False, fix="the run itself will show it",
            )  # fmt: skip


def _is_of_stack(call: Mapping[str, str], stack: Stack) -> bool:
    """Return whether the stack has the role of a call and everything that the call's resource names."""
    return call["role"] in stack.resources and _names_in(call["resource"]) <= _known(stack).keys()


def _is_of_organization(result: Mapping[str, Any]) -> bool:
    """Return whether a policy of the organization denies the call, and no permission boundary does."""
    boundary = result.get("PermissionsBoundaryDecisionDetail", {}).get("AllowedByPermissionsBoundary", True)
    organization = result.get("OrganizationsDecisionDetail", {}).get("AllowedByOrganizations", True)
    return bool(boundary and not organization)


def _of_role(role: str, count: int, denied: list[str]) -> Check:
    allowed = f"all {count} calls allowed"
    return required(role, allowed, shown(denied, SHOWN) or allowed, is_so=not denied, fix=ASK)


def answers(stack: Stack, role: str, calls: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (resource, evaluation) of each call of a role. Calls with equal resource and context share a simulation."""
    together: dict[tuple[str, str], list[str]] = defaultdict(list)
    for call in calls:
        together[call["resource"], json.dumps(call.get("context", {}))].append(call["action"])
    client = stack.client("iam")
    arn = f"arn:{stack.partition}:iam::{stack.account}:role{stack.role_path}{stack.resources[role]}"
    for (resource, context), actions in together.items():
        named = filled(resource, stack)
        for start in range(0, len(actions), ACTIONS_AT_ONCE):
            answer = client.simulate_principal_policy(
                PolicySourceArn=arn,
                ActionNames=actions[start : start + ACTIONS_AT_ONCE],
                ResourceArns=[named],
                ContextEntries=list(_entries(json.loads(context), stack)),
            )
            yield from ((named, result) for result in answer["EvaluationResults"])


def _entries(context: dict[str, str], stack: Stack) -> Iterator[dict[str, Any]]:
    region = stack.deployment.region or ""
    general = {"aws:RequestedRegion": region, "aws:userid": USERID, "aws:SecureTransport": "true"}
    for key, value in {**general, **context}.items():
        kind = {**dict.fromkeys(LISTS, "stringList"), **dict.fromkeys(BOOLEANS, "boolean")}.get(key.lower(), "string")
        yield {"ContextKeyName": key, "ContextKeyType": kind, "ContextKeyValues": [filled(value, stack)]}


def filled(text: str, stack: Stack) -> str:
    """Return a text of calls.json with the names of this stack, its roles below their path."""
    text = text.replace(":role/{", f":role{stack.role_path}{{")
    known = _known(stack)
    for name in _names_in(text):
        text = text.replace(f"{{{name}}}", known[name])
    return text


def _names_in(text: str) -> set[str]:
    return {part.partition("}")[0] for part in text.split("{")[1:]}


def _known(stack: Stack) -> dict[str, str]:
    """Return the values for the names in a call: parameters, physical ids, and attributes of the stack."""
    deployment = stack.deployment
    return {
        **{name: value for name, value in stack.parameters.items() if value},
        **stack.names,
        "stack": deployment.stack, "region": deployment.region or "", "account": stack.account,
        "partition": stack.partition, "userid": USERID,
    }  # fmt: skip


# --- the key of the parameter KmsKeyArn: its state, and what its policy grants ----------------------------------------

# The roles' own policies grant the key only if the key's policy delegates to IAM.
# https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
USABLE = {"KeyState": "Enabled", "KeySpec": "SYMMETRIC_DEFAULT", "KeyUsage": "ENCRYPT_DECRYPT"}
DENIED = ("AccessDeniedException", "AccessDenied")
PAGE = "give the key the policy of docs/company.md"


def key_checks(stack: Stack) -> Iterator[Check]:
    """Ask KMS of the key, if the stack has one."""
    key = stack.parameters.get("KmsKeyArn")
    if not key:
        return
    client = stack.client("kms")
    try:
        described = client.describe_key(KeyId=key)["KeyMetadata"]
        policy = json.loads(client.get_key_policy(KeyId=key, PolicyName="default")["Policy"])
    except ClientError as error:
        if error.response["Error"]["Code"] not in DENIED:
            raise
        advice = "you may not ask of the key yourself (kms:DescribeKey, kms:GetKeyPolicy); the first run shows it"
        yield assumed(f"key {key}", "can be asked about", str(error), is_so=False, fix=advice)
        return
    seen = {name: described.get(name) for name in USABLE}
    words = ", ".join(f"{name} {value}" for name, value in seen.items())
    expected = ", ".join(f"{name} {value}" for name, value in USABLE.items())
    yield required(f"key {key}", expected, words, is_so=seen == USABLE, fix="enable it, or give a symmetric key")
    allowed = [statement for statement in _listed(policy.get("Statement", [])) if statement["Effect"] == "Allow"]
    leaves = any(_names(statement, stack) for statement in allowed)
    yield assumed(
        "policy of the key", "leaves its use to the policies of the account", "so" if leaves else "does not",
        is_so=leaves, fix=f"{PAGE}, or name each role of the stack in it",
    )  # fmt: skip
    logs = f"logs.{stack.deployment.region}.amazonaws.com"
    lets = any(logs in _principals(statement, "Service") for statement in allowed)
    yield required("policy of the key", f"lets {logs} encrypt", "so" if lets else "does not", is_so=lets, fix=PAGE)


def _names(statement: dict[str, Any], stack: Stack) -> bool:
    """Return whether a statement leaves the decision to the account's IAM policies."""
    root = f"arn:{stack.partition}:iam::{stack.account}:root"
    return bool({root, stack.account, "*"} & set(_principals(statement, "AWS")))


def _principals(statement: dict[str, Any], kind: str) -> Iterable[str]:
    principal = statement.get("Principal", {})
    return _listed(principal.get(kind, []) if isinstance(principal, dict) else principal)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
