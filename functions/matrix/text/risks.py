"""Why a figure may promise too much, in words."""

from collections.abc import Sequence

from matrix.terms.documents.summary import Risk
from matrix.terms.figures import quantity, rough_duration, times
from matrix.terms.names import credits_words
from matrix.text.replication import shortage_words


def risk_words(risk: Risk, unit: str) -> str:  # noqa: C901, PLR0911 - a case for each code
    """Write a risk as a clause; `unit` is that of the figure."""
    match risk["code"]:
        case "interval-crosses-limit":
            ends = f"{quantity(risk['low'], unit)} to {quantity(risk['high'], unit)}"
            return f"its {100 * risk['confidence']:.0f} % interval, {ends}, crosses the limit"
        case "slow-tail":
            verb = "is" if risk["slow"] == 1 else "are"
            return (
                f"slow tail: {risk['slow']} of {risk['values']} values {verb} at least twice as slow as the median, "
                f"the slowest {times(risk['slowest'])} as slow"
            )
        case "burst":
            return credits_words(risk["burst"])
        case "judged-by-sustained":
            return (
                f"judged by its sustained rate, {100 * risk['share']:.2g} % of what was measured: "
                f"{credits_words(risk['burst'])}, and the job lasts {rough_duration(risk['job_s'])}"
            )
        case "not-replicated":
            return f"not replicated: {shortage_words(risk['shortages'])}"
        case "not-steady":
            period_s = risk.get("period_s")
            return f"not steady: its rate repeats every {period_s:g} s" if period_s else "not steady: its rate changed"
        case "too-few-samples":
            most = risk.get("most", risk["count"])
            verb = "is" if most == 1 else "are"
            known = f"{risk['count']}" if most == risk["count"] else f"{risk['count']} to {most}"
            of = " in a launch" if risk.get("by_launch") else ""
            return f"P{risk['level']:g} needs {risk['needed']} independent values, there {verb} {known}{of}"
        case "only-worst-known":
            return f"P{risk['level']:g} is not known, this is the worst value"
        case "sample-size-unknown":
            return f"the number of samples behind P{risk['level']:g} is not known"
        case "no-single-values":
            return "no single values are known: there is no interval, and instances count as independent"
        case "cost-incomplete":
            return f"its cost is without {risk['missing']}"
        case "as-written":
            return risk["text"]


def median_words(reasons: Sequence[Risk], unit: str) -> str:
    """Write why several comparisons are ranked by the median, with the range of their sample sizes."""
    counted = [each for each in reasons if each["code"] == "too-few-samples"]
    if not counted:
        return ", or ".join(dict.fromkeys(risk_words(each, unit) for each in reasons))
    fewest = min(counted, key=lambda each: each["count"])
    most = max(each.get("most", each["count"]) for each in counted)
    words = [risk_words({**fewest, "most": most}, unit)]
    others = dict.fromkeys(
        "an unknown number" if each["code"] == "sample-size-unknown" else risk_words(each, unit)
        for each in reasons
        if each["code"] != "too-few-samples"
    )
    return " or ".join([*words, *others])


def risks_words(risks: Sequence[Risk], unit: str) -> str:
    """Write all risks of a candidate; empty where there are none."""
    return "; ".join(risk_words(risk, unit) for risk in risks)
