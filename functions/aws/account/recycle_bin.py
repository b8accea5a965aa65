"""Ask for the rules of the account's Recycle Bin, by which it keeps what is deleted."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from aws.stack import denials, tags
from aws.stack.clients import impatient_client
from aws.stack.environment import environment
from matrix.plan import recycle_bin
from matrix.plan.recycle_bin import BinRule, Tags
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.problems import Problem, Weight


def ask(plan: PlanDocument) -> tuple[dict[str, int | None], Iterable[Problem]]:
    """Return for how many days the bin keeps what a run deletes, by kind, and problems.

    A kind that no rule keeps is missing; None: nobody knows, as the rules could not be asked for.
    """
    of_all = {**plan["tags"], tags.STACK: environment().stack, tags.RUN: plan["run"], tags.OWNER: plan["owner"]}
    try:
        longest = {kind: recycle_bin.keeping(rules(kind), of_all) for kind in recycle_bin.KINDS}
    except (ClientError, BotoCoreError) as error:
        rule = f"could not be asked for its rules ({denials.reason(error)}); what they keep is billed for days"
        fix = "see `aws rbin list-rules --resource-type EBS_VOLUME`: docs/company.md"
        problem = Problem(recycle_bin.PATH, environment().region, rule, fix, weight=Weight.MONEY)
        return dict.fromkeys(recycle_bin.KINDS), [problem]
    kept = {kind: rule for kind, rule in longest.items() if rule}
    days: dict[str, int | None] = {kind: rule.days for kind, rule in kept.items()}
    return days, recycle_bin.problems(kept, plan, of_all, tags.STACK)


def rules(kind: str) -> Iterator[BinRule]:
    """Yield the rules of a kind of resource; a list of them has no tags."""
    rbin = impatient_client("rbin")
    for page in rbin.get_paginator("list_rules").paginate(ResourceType=recycle_bin.KINDS[kind]):
        for listed in page["Rules"]:
            rule = rbin.get_rule(Identifier=listed["Identifier"])
            yield BinRule(
                rule["Identifier"],
                rule["RetentionPeriod"]["RetentionPeriodValue"],
                _tags(rule, "ResourceTags"),
                _tags(rule, "ExcludeResourceTags"),
            )


def _tags(rule: Mapping[str, Any], name: str) -> Tags:
    return tuple((tag["ResourceTagKey"], tag.get("ResourceTagValue")) for tag in rule.get(name, ()))
