"""Step: the key of the parameter KmsKeyArn can be used: its state, and the grants of its policy to roles and logs.

The roles' own policies grant the key only if the key's policy delegates to IAM.
https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from botocore.exceptions import ClientError

from cli.verify.checks import Check, assumed, required
from cli.verify.stack import Stack

USABLE = {"KeyState": "Enabled", "KeySpec": "SYMMETRIC_DEFAULT", "KeyUsage": "ENCRYPT_DECRYPT"}
DENIED = ("AccessDeniedException", "AccessDenied")
PAGE = "give the key the policy of docs/company.md"


def checks(stack: Stack) -> Iterator[Check]:
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
        yield assumed(f"key {key}", "can be asked about", str(error), is_so=False, way_out=advice)
        return
    seen = {name: described.get(name) for name in USABLE}
    words = ", ".join(f"{name} {value}" for name, value in seen.items())
    expected = ", ".join(f"{name} {value}" for name, value in USABLE.items())
    yield required(f"key {key}", expected, words, is_so=seen == USABLE, way_out="enable it, or give a symmetric key")
    allowed = [statement for statement in _listed(policy.get("Statement", [])) if statement["Effect"] == "Allow"]
    leaves = any(_names(statement, stack) for statement in allowed)
    yield assumed(
        "policy of the key", "leaves its use to the policies of the account", "so" if leaves else "does not",
        is_so=leaves, way_out=f"{PAGE}, or name each role of the stack in it",
    )  # fmt: skip
    logs = f"logs.{stack.deployment.region}.amazonaws.com"
    lets = any(logs in _principals(statement, "Service") for statement in allowed)
    yield required("policy of the key", f"lets {logs} encrypt", "so" if lets else "does not", is_so=lets, way_out=PAGE)


def _names(statement: dict[str, Any], stack: Stack) -> bool:
    """Return whether a statement leaves the decision to the account's IAM policies."""
    root = f"arn:{stack.partition}:iam::{stack.account}:root"
    return bool({root, stack.account, "*"} & set(_principals(statement, "AWS")))


def _principals(statement: dict[str, Any], kind: str) -> Iterable[str]:
    principal = statement.get("Principal", {})
    return _listed(principal.get(kind, []) if isinstance(principal, dict) else principal)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
