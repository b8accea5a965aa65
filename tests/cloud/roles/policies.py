"""Judges policies as IAM does: wildcards, variables such as ${aws:userid}, NotAction, NotResource, denies."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

# Keys that every request is checked for: if such a key is missing from a context, the request has no such header.
ALWAYS_READ = {"s3:if-none-match"}


@dataclass(frozen=True)
class Permission:
    """One thing that a request asks for."""

    action: str
    resource: str


def decide(documents: Iterable[dict], permission: Permission, context: dict[str, str]) -> str:
    """Return 'allow', 'implicit deny' or 'explicit deny' of policies. Context keys are lower case."""
    decision = "implicit deny"
    for document in documents:
        for statement in listed(document.get("Statement", [])):
            if not _matches(statement, permission, context):
                continue
            if statement["Effect"] == "Deny":
                return "explicit deny"
            decision = "allow"
    return decision


def about(document: dict, role_arn: str, session_arn: str) -> dict:
    """Return a resource policy with only the statements about a role of the resource's own account.

    An Allow for the account leaves the decision to the role's own policies, so it grants nothing here; a Deny for the
    account applies to all of its roles (IAM guide, "AWS JSON policy elements: Principal"). NotPrincipal is not
    supported, because our policies do not use it.
    """
    account = role_arn.split(":")[4]
    of_account = {account, f"arn:aws:iam::{account}:root"}
    statements = []
    for statement in listed(document.get("Statement", [])):
        principal = statement["Principal"]
        named = set(listed(principal.get("AWS", []) if isinstance(principal, dict) else principal))
        if named & {"*", role_arn, session_arn} or (statement["Effect"] == "Deny" and named & of_account):
            statements.append(statement)
    return {**document, "Statement": statements}


def unknown_keys(documents: Iterable[dict], permission: Permission, context: dict[str, str]) -> set[str]:
    """Return the condition keys that all statements allowing a permission need and the context lacks.

    Empty if the context has all keys of one statement. `decide` assumes that such conditions are met.
    """
    lacking = [
        {key for wanted in (statement.get("Condition") or {}).values() for key in wanted if key.lower() not in context}
        for document in documents
        for statement in listed(document.get("Statement", []))
        if statement["Effect"] == "Allow" and _matches(statement, permission, context)
    ]
    return min(lacking, key=len, default=set())


def _matches(statement: dict, permission: Permission, context: dict[str, str]) -> bool:
    action, resource = permission.action.lower(), permission.resource
    if "Action" in statement and not _any(listed(statement["Action"]), action, context, fold=True):
        return False
    if "NotAction" in statement and _any(listed(statement["NotAction"]), action, context, fold=True):
        return False
    if resource != "*":  # '*': the request names none that could be judged
        if "Resource" in statement and not _any(listed(statement["Resource"]), resource, context):
            return False
        if "NotResource" in statement and _any(listed(statement["NotResource"]), resource, context):
            return False
    return _conditions_hold(statement, context)


def _conditions_hold(statement: dict, context: dict[str, str]) -> bool:
    for operator, wanted in (statement.get("Condition") or {}).items():
        name = operator.split(":")[-1].removesuffix("IfExists")
        for key, patterns in wanted.items():
            # A context that has `aws:requesttag/` has all tags of the request.
            is_read = key.lower() in ALWAYS_READ or f"{key.lower().rpartition('/')[0]}/" in context
            if name == "Null" and is_read:
                if (key.lower() not in context) != (str(patterns).lower() == "true"):
                    return False
                continue
            value = context.get(key.lower())
            if value is None and is_read and not operator.endswith("IfExists"):
                if "Not" not in name:  # an absent key equals nothing
                    return False
                continue
            if value is None or not name.startswith(("String", "Arn", "Bool")):
                if statement["Effect"] == "Deny":
                    return False
                continue
            # Of operators on strings only StringLike knows wildcards; those on ARNs all do.
            is_exact = name.startswith("String") and "Like" not in name
            wanted_values = [_without_wildcards(str(each)) if is_exact else str(each) for each in listed(patterns)]
            is_match = _any(wanted_values, value, context, fold="Bool" in name)
            if is_match == ("Not" in name):
                return False
    return True


def _without_wildcards(pattern: str) -> str:
    """Return a pattern with literal `*` and `?`, except in variables."""
    return "".join(
        part if part.startswith("${") else re.sub(r"[*?]", r"${\g<0>}", part)
        for part in re.split(r"(\$\{[^}]*\})", pattern)
    )


def _any(patterns: list[str], value: str, context: dict[str, str], *, fold: bool = False) -> bool:
    return any(_expression(pattern, _used(pattern, context), fold).fullmatch(value) for pattern in patterns)


def _used(pattern: str, context: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Return only the variables that the pattern names, so that callers share compiled patterns."""
    names = re.findall(r"\$\{([^}]*)\}", pattern)
    return tuple((name, context[name.lower()]) for name in names if name.lower() in context)


@lru_cache(maxsize=10_000)
def _expression(pattern: str, variables: tuple[tuple[str, str], ...], fold: bool) -> re.Pattern[str]:
    """Compile a pattern: `*` and `?` are wildcards, ${name} a variable's value; an unknown one matches nothing."""
    values = dict(variables)
    parts = []
    for token in re.split(r"(\$\{[^}]*\}|\*|\?)", pattern):
        if token.startswith("${"):
            name = token[2:-1]
            parts.append(
                re.escape(name if name in ("*", "?", "$") else values[name])
                if name in values or name in ("*", "?", "$")
                else r"(?!)"
            )
        else:
            parts.append({"*": ".*", "?": "."}.get(token, re.escape(token)))
    return re.compile("".join(parts), re.DOTALL | (re.IGNORECASE if fold else 0))


def listed(value: Any) -> list:
    """Return a value of a policy as a list: IAM takes a single one without brackets."""
    return value if isinstance(value, list) else [value]
