"""Ask for the rules of the account's Recycle Bin, before anything exists that they would keep."""

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from aws.stack import denials, tags
from aws.stack.clients import impatient_client
from aws.stack.environment import environment
from matrix.plan import recycle_bin
from matrix.plan.recycle_bin import BinRule, Tags
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.problems import Problem, Problems, Weight


def problems(plan: PlanDocument) -> Problems:
    """Yield what the Recycle Bin would keep of a run, or that its rules could not be asked for."""
    of_all = {**plan["tags"], tags.STACK: environment().stack, tags.RUN: plan["run"], tags.OWNER: plan["owner"]}
    try:
        rules = {kind: list(_rules(kind)) for kind in recycle_bin.kinds_of(plan)}
    except (ClientError, BotoCoreError) as error:
        rule = f"could not be asked for its rules ({denials.reason(error)}); what they keep is billed for days"
        fix = "see `aws rbin list-rules --resource-type EBS_VOLUME`: docs/company.md"
        yield Problem(recycle_bin.PATH, environment().region, rule, fix, weight=Weight.MONEY)
    else:
        yield from recycle_bin.problems(rules, plan, of_all, tags.STACK)


def _rules(kind: str) -> Iterator[BinRule]:
    """Yield the rules of a kind; a list of them has no tags."""
    rbin = impatient_client("rbin")
    for page in rbin.get_paginator("list_rules").paginate(ResourceType=kind):
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
