"""Steady state: whether a point's rate settled within its steps, when, and the rate before."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from matrix.samples.file import Sample
from matrix.terms.documents.result import PointResult, PointSteadiness
from matrix.terms.findings.warnings import CellWarning, NotSteady, SteadyLate
from matrix.terms.names import is_unsteady, primary_metric, steady_late


def steadiness_of(samples: Sequence[Sample]) -> PointSteadiness | None:
    """Return the steadiness of a point's samples; None if no sample has any."""
    of_each = [sample.steadiness for sample in samples if sample.steadiness]
    if not of_each:
        return None
    steady = [steadiness for steadiness in of_each if steadiness.state == "steady"]
    count = Counter(steadiness.state for steadiness in of_each)
    return _of(
        {
            "judged": count["steady"] + count["not steady"],
            "steady": count["steady"],
            "from_s": _median([each.from_s for each in steady]),
            "ratio": _median([each.ratio for each in steady]),
            "too_short": count["too short"],
            "too_noisy": count["too noisy"],
        },
        [each.period_s for each in of_each if each.period_s is not None],
        count["not steady"],
    )


def joined_steadiness(of_launches: Sequence[PointSteadiness]) -> PointSteadiness | None:
    """Return how steady the samples of several launches were: counts add up, seconds and ratios are medians."""
    if not of_launches:
        return None
    return _of(
        {
            "judged": sum(each["judged"] for each in of_launches),
            "steady": sum(each["steady"] for each in of_launches),
            "from_s": _median([each["from_s"] for each in of_launches]),
            "ratio": _median([each["ratio"] for each in of_launches]),
            "too_short": sum(each["too_short"] for each in of_launches),
            "too_noisy": sum(each["too_noisy"] for each in of_launches),
        },
        [each["period_s"] for each in of_launches if "period_s" in each],
        sum(map(is_unsteady, of_launches)),
    )


def _of(counted: PointSteadiness, periods: Sequence[float], unsteady: int) -> PointSteadiness:
    """Add the period after which a rate repeats, if most of what was not steady has one."""
    return {**counted, "period_s": median(periods)} if 2 * len(periods) > unsteady else counted


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def steadiness_warnings(points: Sequence[PointResult]) -> list[CellWarning]:
    """Return a warning for each point that was not steady, or was so only late and at another rate."""
    warnings: list[CellWarning] = []
    for point in points:
        steadiness, named = point.get("steadiness"), primary_metric(point)
        if steadiness is None or named is None:
            continue
        at, metric = [point["id"]], named[0]
        if is_unsteady(steadiness):
            judged = steadiness["judged"]
            unsteady, period_s = judged - steadiness["steady"], steadiness.get("period_s")
            warnings.append(
                NotSteady(
                    points=at, metric=metric, share=unsteady / judged, unsteady=unsteady, judged=judged,
                    period_s=period_s,
                )
            )  # fmt: skip
        elif late := steady_late(steadiness):
            from_s, ratio = late
            warnings.append(SteadyLate(points=at, metric=metric, share=abs(1 - ratio), from_s=from_s, ratio=ratio))
    return warnings
