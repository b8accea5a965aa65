"""Steady state: whether a point's rate had settled within its steps, from when on, and what came before."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from matrix.samples.file import Sample
from matrix.terms.documents.result import PointResult, PointSteadiness
from matrix.terms.names import is_mostly_before, is_unsteady, primary_metric


def steadiness_of(samples: Sequence[Sample]) -> PointSteadiness | None:
    """Return how steady the samples of a point were; None where none of them tells."""
    of_each = [sample.steadiness for sample in samples if sample.steadiness]
    if not of_each:
        return None
    steady = [steadiness for steadiness in of_each if steadiness.state == "steady"]
    count = Counter(steadiness.state for steadiness in of_each)
    starts = [steadiness.from_s for steadiness in steady if steadiness.from_s is not None]
    ratios = [steadiness.ratio for steadiness in steady if steadiness.ratio is not None]
    return {
        "judged": count["steady"] + count["not steady"],
        "steady": count["steady"],
        "from_s": median(starts) if starts else None,
        "ratio": median(ratios) if ratios else None,
        "too_short": count["too short"],
        "too_noisy": count["too noisy"],
    }


def joined_steadiness(of_launches: Sequence[PointSteadiness]) -> PointSteadiness:
    """Return how steady the samples of several launches were: counts add up, seconds and ratios are medians."""
    starts = [each["from_s"] for each in of_launches if each["from_s"] is not None]
    ratios = [each["ratio"] for each in of_launches if each["ratio"] is not None]
    return {
        "judged": sum(each["judged"] for each in of_launches),
        "steady": sum(each["steady"] for each in of_launches),
        "from_s": median(starts) if starts else None,
        "ratio": median(ratios) if ratios else None,
        "too_short": sum(each["too_short"] for each in of_launches),
        "too_noisy": sum(each["too_noisy"] for each in of_launches),
    }


def steadiness_warnings(points: Sequence[PointResult]) -> list[str]:
    """Return a sentence for each point that was not steady, or was so only late and at another rate."""
    sentences = []
    for point in points:
        steadiness, named = point.get("steadiness"), primary_metric(point)
        if steadiness is None or named is None:
            continue
        where = f"{point['id']}, {named[0]}"
        if is_unsteady(steadiness):
            unsteady = steadiness["judged"] - steadiness["steady"]
            sentences.append(
                f"{where}: not steady: at the end of {unsteady} of {steadiness['judged']} samples what was done each "
                "second still changed by more than a tenth, or differed by more than a fifth (SNIA PTS): let steps "
                "last longer, or write the storage full before (precondition)"
            )
        elif is_mostly_before(steadiness):
            share = 100 * (steadiness["ratio"] or 0)
            sentences.append(
                f"{where}: steady from second {steadiness['from_s']:g} on, at {share:.0f} % of the rate of the whole "
                "step: the figure holds what was before, a burst or a cold start; longer steps make it less"
            )
    return sentences
