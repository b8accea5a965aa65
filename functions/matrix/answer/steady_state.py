"""Steady state: whether a point's rate settled within its steps, when, and the rate before."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from matrix.samples.file import Sample
from matrix.terms.documents.result import PointResult, PointSteadiness
from matrix.terms.documents.warning import CellWarning, NotSteady
from matrix.terms.names import is_unsteady, primary_metric, steady_late


def steadiness_of(samples: Sequence[Sample]) -> PointSteadiness | None:
    """Return the steadiness of a point's samples; None if no sample has any."""
    of_each = [sample.steadiness for sample in samples if sample.steadiness]
    if not of_each:
        return None
    steady = [steadiness for steadiness in of_each if steadiness.state == "steady"]
    count = Counter(steadiness.state for steadiness in of_each)
    periods = [steadiness.period_s for steadiness in of_each if steadiness.period_s is not None]
    starts = [steadiness.from_s for steadiness in steady if steadiness.from_s is not None]
    ratios = [steadiness.ratio for steadiness in steady if steadiness.ratio is not None]
    of_point: PointSteadiness = {
        "judged": count["steady"] + count["not steady"],
        "steady": count["steady"],
        "from_s": median(starts) if starts else None,
        "ratio": median(ratios) if ratios else None,
        "too_short": count["too short"],
        "too_noisy": count["too noisy"],
    }
    if 2 * len(periods) > count["not steady"]:
        of_point["period_s"] = median(periods)
    return of_point


def joined_steadiness(of_launches: Sequence[PointSteadiness]) -> PointSteadiness:
    """Return how steady the samples of several launches were: counts add up, seconds and ratios are medians."""
    starts = [each["from_s"] for each in of_launches if each["from_s"] is not None]
    ratios = [each["ratio"] for each in of_launches if each["ratio"] is not None]
    periods = [each["period_s"] for each in of_launches if "period_s" in each]
    of_point: PointSteadiness = {
        "judged": sum(each["judged"] for each in of_launches),
        "steady": sum(each["steady"] for each in of_launches),
        "from_s": median(starts) if starts else None,
        "ratio": median(ratios) if ratios else None,
        "too_short": sum(each["too_short"] for each in of_launches),
        "too_noisy": sum(each["too_noisy"] for each in of_launches),
    }
    if 2 * len(periods) > sum(map(is_unsteady, of_launches)):
        of_point["period_s"] = median(periods)
    return of_point


def steadiness_warnings(points: Sequence[PointResult]) -> list[CellWarning]:
    """Return a warning for each point that was not steady, or was so only late and at another rate."""
    warnings: list[CellWarning] = []
    for point in points:
        steadiness, named = point.get("steadiness"), primary_metric(point)
        if steadiness is None or named is None:
            continue
        if is_unsteady(steadiness):
            unsteady = steadiness["judged"] - steadiness["steady"]
            warning: NotSteady = {
                "code": "not-steady",
                "points": [point["id"]],
                "metric": named[0],
                "share": unsteady / steadiness["judged"],
                "unsteady": unsteady,
                "judged": steadiness["judged"],
            }
            if "period_s" in steadiness:
                warning["period_s"] = steadiness["period_s"]
            warnings.append(warning)
        elif late := steady_late(steadiness):
            from_s, ratio = late
            warnings.append(
                {
                    "code": "steady-late",
                    "points": [point["id"]],
                    "metric": named[0],
                    "share": abs(1 - ratio),
                    "from_s": from_s,
                    "ratio": ratio,
                }
            )
    return warnings
