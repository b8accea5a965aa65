"""The verdict of a candidate in words."""

from matrix.terms.documents.summary import Candidate, Question
from matrix.terms.findings.replication import NOT_REPLICATED
from matrix.terms.findings.verdicts import (
    SAME,
    CheapestThatMeets,
    Fastest,
    Lost,
    Meets,
    Open,
    Slower,
    TooFew,
    Verdict,
    describe_distance,
)
from matrix.terms.quantities import factor, times
from matrix.terms.verdicts import difference_of, has_winner, judged, ranked_of


def describe_verdict(  # noqa: PLR0911 - one case per addition
    candidate: Candidate, question: Question, *, is_brief: bool = False
) -> str:
    """Write the verdict of a candidate of a comparison; `is_brief`: `×1.48` without words and what would decide it."""
    if candidate["lost"]:
        return Lost.describe(candidate["lost"])
    verdict = Verdict.read(candidate["verdict"])
    match verdict:
        case Fastest() if not has_winner(question):
            return verdict.at("ahead")
        case Slower(times_as_slow=ratio) if is_brief and ratio is not None:
            return verdict.at(f"×{factor(ratio)}", is_brief=True)
        case CheapestThatMeets() if len(judged(question)) == 1:
            return "meets the objective, the only one measured"
        case CheapestThatMeets() if candidate["cost"] is None or candidate["cost"]["missing"]:
            return "meets the objective, cost not known"
        case Meets():
            return f"{verdict.sentence}, {_dearer(candidate)}"
    return verdict.sentence


def describe_next(other: Candidate, best: Candidate, question: Question, *, is_priced: bool) -> str:
    """Write how another storage stands next to the one that a comparison names, and how their costs differ.

    `1.26 times as slow`, `1.01 times as fast, 1.38 times the cost`, `equal within noise`. Differences are known to the
    fastest only.
    """
    mine, theirs = ranked_of(best)["value"], ranked_of(other)["value"]
    if not min(mine, theirs) > 0:
        return ""
    difference = difference_of(other) or difference_of(best)
    ratio = max(mine, theirs) / min(mine, theirs)
    if isinstance(difference, Open) and difference.low <= 1 <= difference.high:
        return "equal within noise"
    is_faster = (theirs > mine) == question["higher_is_better"]
    words = describe_distance(ratio, "fast" if is_faster else "slow")
    doubt = {Open: ", not shown", TooFew: f", {NOT_REPLICATED}"}.get(type(difference), "")
    return f"{words}{doubt}{_dearer_by(other, best) if is_priced else ''}"


def _dearer_by(other: Candidate, best: Candidate) -> str:
    """Write a storage's cost as a multiple of another's: `, 1.38 times the cost`; empty if about the same."""
    costs = [each["cost"]["usd"] for each in (best, other) if each["cost"] and not each["cost"]["missing"]]
    if len(costs) < 2 or not min(costs) > 0:  # noqa: PLR2004
        return ""
    mine, theirs = costs
    return "" if max(costs) / min(costs) < 1 + 2 * SAME else f", {times(theirs / mine)} the cost"


def _dearer(candidate: Candidate) -> str:
    ratio = candidate.get("times_as_dear")
    if ratio is None:
        return "slower" if candidate["cost"] and not candidate["cost"]["missing"] else "cost not known in full"
    return "at about the same cost" if ratio < 1 + 2 * SAME else f"{times(ratio)} the cost of the cheapest"
