"""Place and time of a run's measurement, and the source of its prices: the line directly below the answer."""

from matrix.report.html import Markup, tag
from matrix.report.view import View
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.names import describe_tools
from matrix.terms.quantities import day

NOT_AWS = {"local": "local disk", "local-vm": "emulated machines", "emulated": "emulated"}
PLANNED = "the plan's prices"


def describe_origin(summary: SummaryDocument) -> str:
    """Name the run of a separate chart, with its environment if that is not AWS: `demo, emulated, not AWS`."""
    run, environment = str(summary.get("run") or ""), str(summary.get("environment"))
    if environment == "published":
        return f"{run}, published by others"
    if environment == "imported":
        return f"{run}, from files of {describe_tools(summary)}"
    return f"{run}, {NOT_AWS[environment]}, not AWS" if environment in NOT_AWS else run


def origin(view: View) -> Markup:
    """Return the line; a reader who copies a duration or a price must see the environment of its validity."""
    facts = [("Measured", _measured(view)), ("Prices", _prices(view))]
    return tag(
        "p",
        *(tag("span", tag("b", name), f" {words}") for name, words in facts if words),
        class_="quiet origin",
    )


def _measured(view: View) -> str:
    summary = view.summary
    environment = str(summary.get("environment"))
    if environment == "published":
        return f"by others: {summary.get('source') or 'the source is not named'}"
    if environment == "imported":
        return f"elsewhere, by {describe_tools(summary)}: {summary.get('source')}"
    region = view.plan.get("region") if view.plan else None
    # If a run recommends nothing, the answer already names its environment.
    is_on_aws = view.decision.get("is_recommendation", True)
    place = (f"in {region}, " if region else "on AWS; the region is not known, ") if is_on_aws else ""
    started = summary.get("started_at")
    return f"{place}{day(started)}" if started is not None else place.removesuffix(", ")


def _prices(view: View) -> str:
    """Name the sources of all costs' prices; the plan's prices with the plan's region and day."""
    if not view.decision.get("is_recommendation", True):
        return ""
    candidates = [each for question in view.questions for each in question["candidates"]]
    bases = dict.fromkeys(each["cost"]["basis"] for each in candidates if each["cost"])
    return "; ".join(_planned(view) if basis == PLANNED else basis for basis in bases)


def _planned(view: View) -> str:
    region, created_at = (view.plan.get("region"), view.plan.get("created_at")) if view.plan else (None, None)
    where = f" of {region}" if region else ""
    when = f", {day(created_at)}" if created_at is not None else ""
    return f"list prices{where}, as planned{when}"
