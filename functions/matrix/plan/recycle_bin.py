"""The account's Recycle Bin: its rules keep volumes and snapshots that a run deletes, and AWS bills them for days."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from matrix.storages.models import MODELS
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.problems import Problem, Problems, Weight
from matrix.terms.quantities import count_of

PATH = "Recycle Bin"
# Kinds of resources, as receipts name them, and their names in rules.
VOLUME, SNAPSHOT = "volume", "ebs-snapshot"
KINDS = {VOLUME: "EBS_VOLUME", SNAPSHOT: "EBS_SNAPSHOT"}
CODE = "the-recycle-bin-keeps-nothing"
HOURS_A_DAY = 24
Tags = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True)
class BinRule:
    """A retention rule: with `tags` it keeps what has one of them, else all that has none of `excluded`."""

    id: str
    days: int
    tags: Tags = ()
    excluded: Tags = ()

    def keeps(self, tags: Mapping[str, str]) -> bool:
        """Return whether a deleted resource with these tags is kept. A tag without a value stands for any value."""
        return _has(tags, self.tags) if self.tags else not _has(tags, self.excluded)


def _has(tags: Mapping[str, str], wanted: Tags) -> bool:
    return any(key in tags and value in (None, "", tags[key]) for key, value in wanted)


def keeping(rules: Iterable[BinRule], tags: Mapping[str, str]) -> BinRule | None:
    """Return the rule that keeps what has these tags; of several AWS takes the longest."""
    return max((rule for rule in rules if rule.keeps(tags)), key=lambda rule: rule.days, default=None)


def problems(kept: Mapping[str, BinRule], plan: PlanDocument, tags: Mapping[str, str], own_tag: str) -> Problems:
    """Yield a warning for each kind that a rule keeps, and a problem if its price does not fit into the budget.

    `kept` has the rule by kind, `tags` are those of everything that the run makes.
    """
    for kind, longest in kept.items():
        if kind == SNAPSHOT and not any(image["bake"] for image in plan["images"]):
            continue
        days = count_of(longest.days, "day")
        if longest.tags:
            fix = f"give the run no tag that the rule {longest.id} looks for"
        else:
            fix = f"exclude the tag {own_tag}={tags[own_tag]} from the rule {longest.id}: docs/company.md"
        if kind == SNAPSHOT:
            rule = f"keeps snapshots of baked images for {days} after `matrix reap --images`, at the price of snapshots"
            yield Problem(PATH, longest.id, rule, fix, weight=Weight.MONEY, code=CODE)
            continue
        kept_usd = kept_usd_a_day(plan) * longest.days
        rule = (
            f"keeps the run's volumes for {days} after it has deleted them: about {kept_usd:.2f} USD more, and they"
            " count against your quotas of volumes until then"
        )
        yield Problem(PATH, longest.id, rule, fix, weight=Weight.MONEY, code=CODE)
        needed_usd = plan["totals"]["cost_usd"]["expected"] + kept_usd
        budget_usd = plan.get("budget_usd")
        if budget_usd is not None and needed_usd > budget_usd:
            rule = f"is less than the {needed_usd:.2f} USD that are expected with what the Recycle Bin keeps"
            yield Problem("budgetUsd", budget_usd, rule, fix)


def kept_usd_a_day(plan: PlanDocument) -> float:
    """Return about what all volumes of a run cost a day: those of its fleets, not those of caches and builders."""
    hourly_usd = 0.0
    for cell in plan["cells"]:
        if "taken_from" in cell:
            continue
        count, rates, storage = cell["fleet"]["count"], cell["rates_usd"], cell["storage"]
        data_volumes = sum(number for number, _ in MODELS[storage["type"]].volumes_of(storage, count))
        hourly_usd += count * (rates["root_volume_hour"] + rates.get("work_volume_hour", 0.0))
        hourly_usd += data_volumes * rates["data_volume_hour"]
    return hourly_usd * HOURS_A_DAY
