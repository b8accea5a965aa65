"""Why a figure may promise too much, in words."""

from collections.abc import Sequence

from matrix.terms.documents.summary import Question, Risk
from matrix.terms.findings.credits import describe_credits
from matrix.terms.findings.replication import describe_shortage
from matrix.terms.quantities import rough_duration, times
from matrix.terms.sentences import listed


def describe_risk(risk: Risk) -> str:  # noqa: C901, PLR0911 - a case for each code
    """Write a risk as a clause."""
    match risk["code"]:
        case "slow-tail":
            verb = "is" if risk["slow"] == 1 else "are"
            level = "the median" if risk["level"] == 50 else f"P{risk['level']:g}"  # noqa: PLR2004
            return (
                f"slow tail: {risk['slow']} of {risk['values']} values {verb} at least twice as slow as {level}, "
                f"the slowest {times(risk['slowest'])} as slow"
            )
        case "burst":
            return describe_credits(risk["burst"])
        case "judged-by-sustained":
            return (
                f"judged for a job of {rough_duration(risk['job_s'])}, at {100 * risk['share']:.2g} % of the rate on"
                f" average: {describe_credits(risk['burst'])}"
            )
        case "not-replicated":
            return f"not replicated: {describe_shortage(risk['shortages'])}"
        case "not-steady":
            period_s = risk.get("period_s")
            return f"not steady: its rate repeats every {period_s:g} s" if period_s else "not steady: its rate changed"
        case "too-few-samples":
            verb = "is" if risk.get("most", risk["count"]) == 1 else "are"
            have = "the fleets have" if risk.get("most", risk["count"]) != risk["count"] else f"there {verb}"
            return f"P{risk['level']:g} needs {risk['needed']} independent values, {have} {_counts(risk)}"
        case "only-worst-known":
            return f"P{risk['level']:g} is not known, this is the worst value"
        case "sample-size-unknown":
            return f"the number of samples behind P{risk['level']:g} is not known"
        case "no-single-values":
            return "no single values are known: there is no interval, and that instances are independent is assumed"
        case "cost-incomplete":
            return f"its cost is without {risk['missing']}"


def ranked_by_median(questions: Sequence[Question], where: str) -> str:
    """Write that these comparisons are ranked by the median, and why in short; `where` is their place."""
    [reason, *others] = [why for question in questions if (why := question.get("why_median"))]
    few = f"too few samples for P{reason['level']:g}"
    is_few = all(why["code"] == "too-few-samples" for why in (reason, *others))
    return f"Ranked by the median{where} ({few if is_few else describe_why_median(questions)})."


def describe_why_median(questions: Sequence[Question]) -> str:
    """Write why comparisons are ranked by the median, and the fleets with unknown sample size."""
    reasons = [why for question in questions if (why := question.get("why_median"))]
    sizes = _sizes(questions)
    if not sizes:
        return describe_median(reasons)
    counted, unknown = sizes
    known = _range_of([why for why in reasons if why["code"] == "too-few-samples"])
    verb = "is" if known.get("most", known["count"]) == 1 else "are"
    return (
        f"P{known['level']:g} needs {known['needed']} independent values; at {listed(map(str, counted))} there {verb} "
        f"{_counts(known)}, at {listed(map(str, unknown))} an unknown number"
    )


def _sizes(questions: Sequence[Question]) -> tuple[list[int], list[int]] | None:
    """Return the sizes of the fleets with too few values, and of the fleets with an unknown number of values.

    None if a size is in both, if one of them is empty, or if there is another reason.
    """
    by_code: dict[str, set[int]] = {}
    for question in questions:
        if why := question.get("why_median"):
            by_code.setdefault(why["code"], set()).add(question["instances"])
    if by_code.keys() != {"too-few-samples", "sample-size-unknown"}:
        return None
    counted, unknown = by_code["too-few-samples"], by_code["sample-size-unknown"]
    return None if counted & unknown else (sorted(counted), sorted(unknown))


def _range_of(counted: Sequence[Risk]) -> Risk:
    """Return the risk of the fewest samples, with the most of all."""
    fewest = min(counted, key=lambda each: each["count"])
    return {**fewest, "most": max(each.get("most", each["count"]) for each in counted)}


def _counts(risk: Risk) -> str:
    most = risk.get("most", risk["count"])
    counts = f"{risk['count']}" if most == risk["count"] else f"{risk['count']} to {most}"
    return f"{counts} in a launch" if risk.get("by_launch") else counts


def describe_median(reasons: Sequence[Risk]) -> str:
    """Write why several comparisons are ranked by the median, with the range of their sample sizes."""
    counted = [each for each in reasons if each["code"] == "too-few-samples"]
    if not counted:
        return ", or ".join(dict.fromkeys(describe_risk(each) for each in reasons))
    words = [describe_risk(_range_of(counted))]
    others = dict.fromkeys(
        "an unknown number" if each["code"] == "sample-size-unknown" else describe_risk(each)
        for each in reasons
        if each["code"] != "too-few-samples"
    )
    return " or ".join([*words, *others])


def describe_risks(risks: Sequence[Risk]) -> str:
    """Write all risks of a candidate; empty if there are none."""
    return "; ".join(describe_risk(risk) for risk in risks)
