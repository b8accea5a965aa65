"""The verdict of a candidate in words."""

from matrix.terms.documents.summary import Candidate, Question, Verdict
from matrix.terms.findings.differences import Difference, Open, TooFew
from matrix.terms.findings.lost import Lost
from matrix.terms.quantities import factor
from matrix.terms.verdicts import difference_of, ranked_of

# Figures that differ by less are called equal, and costs by twice as much: no plan is more exact.
SAME = 0.005


def describe_verdict(  # noqa: C901, PLR0911 - one case per code
    candidate: Candidate, *, is_alone: bool = False, is_shown: bool = True, is_brief: bool = False
) -> str:
    """Write the verdict of a candidate.

    `is_alone`: no other was measured; `is_shown`: its comparison has a winner; `is_brief`: `×1.48` without words.
    """
    verdict = candidate["verdict"]
    match verdict["code"]:
        case "lost":
            return Lost.describe(candidate["lost"]) if candidate["lost"] else ""
        case "fastest":
            first = "fastest" if is_shown else "ahead"
            return f"{first} and cheapest" if verdict.get("is_cheapest") else first
        case "slower":
            return "; ".join(
                filter(None, ["cheapest" if verdict.get("is_cheapest") else "", _slower(verdict, is_brief=is_brief)])
            )
        case "only-one":
            return "the only one measured"
        case "cheapest-that-meets":
            if is_alone:
                return "meets the objective, the only one measured"
            is_priced = candidate["cost"] is not None and not candidate["cost"]["missing"]
            return "cheapest that meets the objective" if is_priced else "meets the objective, cost not known"
        case "meets":
            return f"meets the objective, {_dearer(candidate)}"
        case "meets-by-value":
            return "meets the objective by its value only"
        case "misses":
            return f"misses the limit by {100 * verdict['margin']:.0f} %"
        case "no-figure":
            return "no figure of this metric"


def describe_next(other: Candidate, best: Candidate, question: Question, *, is_priced: bool) -> str:
    """Write how another storage stands next to the one that a comparison names, and how their costs differ.

    `×1.26 as slow`, `×1.01 as fast, ×1.38 the cost`, `equal within noise`. Differences are known to the fastest only.
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
    doubt = {Open: ", not shown", TooFew: ", not replicated"}.get(type(difference), "")
    return f"{words}{doubt}{_dearer_by(other, best) if is_priced else ''}"


def _dearer_by(other: Candidate, best: Candidate) -> str:
    """Write a storage's cost as a multiple of another's: `, ×1.38 the cost`; empty if about the same."""
    costs = [each["cost"]["usd"] for each in (best, other) if each["cost"] and not each["cost"]["missing"]]
    if len(costs) < 2 or not min(costs) > 0:  # noqa: PLR2004
        return ""
    mine, theirs = costs
    return "" if max(costs) / min(costs) < 1 + 2 * SAME else f", ×{factor(theirs / mine)} the cost"


def describe_distance(ratio: float, direction: str) -> str:
    """Write how far a storage is from another: `×1.26 as slow`; `direction` is slow or fast."""
    return "equal" if ratio < 1 + SAME else f"×{factor(ratio)} as {direction}"


def _slower(verdict: Verdict, *, is_brief: bool) -> str:
    ratio, difference = verdict.get("times_as_slow"), verdict.get("difference")
    words = "slower" if ratio is None else f"×{factor(ratio)}" if is_brief else describe_distance(ratio, "slow")
    return "; ".join(filter(None, [words, Difference.describe(difference) if difference else ""]))


def _dearer(candidate: Candidate) -> str:
    ratio = candidate.get("times_as_dear")
    if ratio is None:
        return "slower" if candidate["cost"] and not candidate["cost"]["missing"] else "cost not known in full"
    return "slower at the same cost" if ratio < 1 + 2 * SAME else f"×{factor(ratio)} the cost of the cheapest"
