"""Format of the figures of documents: percentiles, bounds, intervals and costs."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from matrix.terms.documents.result import Latency, MetricResult
from matrix.terms.documents.summary import Candidate, PointCost
from matrix.terms.quantities import ABSENT, duration, latency, money, number, quantity

PERCENTILES = ("p0", "p50", "p75", "p90", "p98", "p100")
# Of rates: the best, the median, three percentiles of the tail, the slowest.
RATE_PERCENTILES = ("p100", "p50", "p25", "p10", "p2", "p0")
# Percentiles that only rates have.
SLOW_OF_RATES = ("p2", "p10", "p25")
NOT_CARRIED_NOTE = (
    "≥ x or ≤ x: too few samples for this percentile; it is at least or at most x (97.5 % confidence). "
    "–: too few to say more than the median does."
)


def percentiles_of(metrics: Iterable[MetricResult]) -> tuple[str, ...]:
    """Return the percentiles that a table of one metric shows, the best first.

    Of durations P0 to P100. Of rates P100 down to P0, as a rate's slow values are the small ones; published
    ones without a P10 are shown as durations are.
    """
    return RATE_PERCENTILES if any(metric.get("p10") is not None for metric in metrics) else PERCENTILES


def percentile_of(metric: MetricResult | Latency, name: str) -> float | None:
    """Return a percentile of a metric by its name, such as p90; None if the metric has none of that name."""
    figures: Mapping[str, Any] = metric  # its keys are known only as text here
    value: float | None = figures.get(name)
    return value


def figure(metric: MetricResult, percentile: str, write: Callable[[float | None], str] | None = None) -> str:
    """Format a percentile of a metric. With too few samples it becomes `≥ 6,073`, for rates `≤ 112`, or a dash.

    P50 is always shown: it is the middle of the values, and without an interval it claims nothing more. `write` formats
    a figure whose unit is shown elsewhere.
    """
    unit = metric.get("unit", "")
    if not _is_only_bounded(metric, percentile):
        value = percentile_of(metric, percentile)
        return write(value) if write else quantity(value, unit)
    bound = bound_of(metric, percentile)
    if bound is None:
        return ABSENT
    return f"{'≤' if percentile in SLOW_OF_RATES else '≥'} {write(bound) if write else quantity(bound, unit)}"


def bound_of(metric: MetricResult, percentile: str) -> float | None:
    """Return the bound of a percentile with too few samples: a lower bound, for slow percentiles of rates an upper one.

    None if there are enough samples, or if the nearest known percentile is an equally good bound.
    """
    if not _is_only_bounded(metric, percentile):
        return None
    is_slow_rate = percentile in SLOW_OF_RATES
    bounds = metric.get("at_most") if is_slow_rate else metric.get("at_least")
    bound = (bounds or {}).get(percentile)
    nearer = [percentile_of(metric, name) for name in _between(percentile) if not _is_only_bounded(metric, name)]
    known = [value for value in nearer if value is not None]
    # Each higher percentile is at least a lower one, so a bound that says less adds nothing.
    if bound is None or not known or (bound >= min(known) if is_slow_rate else bound <= max(known)):
        return None
    return bound


@cache
def _between(percentile: str) -> list[str]:
    """Return the percentiles from the median up to another one, or down to it."""
    level = float(percentile[1:])
    names = dict.fromkeys((*PERCENTILES, *RATE_PERCENTILES))
    return [name for name in names if min(level, 50) <= float(name[1:]) <= max(level, 50) and name != percentile]


def _is_only_bounded(metric: MetricResult, percentile: str) -> bool:
    """Whether there are too few samples for a percentile. The median is always shown."""
    return percentile != "p50" and not (metric.get("carried") or {}).get(percentile, True)


def interval(metric: MetricResult, write: Callable[[float | None], str] | None = None) -> str:
    """Write the 95 % interval of the median: `290 – 320 files/s`; without one, its scope or a dash.

    An interval over instances alone is valid only for their hour, which it states: `290 – 320 files/s, not replicated`.
    """
    ends, scope = (metric.get("intervals") or {}).get("p50"), metric.get("scope")
    if not ends:
        return scope or ABSENT
    if write:
        words = f"{write(ends['low'])} – {write(ends['high'])}"
    elif metric.get("unit") == "s":
        words = f"{duration(ends['low'])} – {duration(ends['high'])}"
    else:
        unit = metric.get("unit", "")
        low = latency(ends["low"]) if unit == "µs" else number(ends["low"])
        words = f"{low} – {quantity(ends['high'], unit)}"
    return f"{words}, {scope}" if scope else words


def describe_interval(candidates: Iterable[Candidate]) -> str:
    """Name the intervals of a question's candidates by how often they hold the truth: `95 % interval`."""
    ranked = [each["ranked"] for each in candidates if each["ranked"] and each["ranked"]["low"] is not None]
    return f"{100 * min((each.get('confidence', 0.95) for each in ranked), default=0.95):.0f} % interval"


def sample_count(metric: MetricResult) -> str:
    """Write how many values there are of how many expected: `29/30`; an unknown number is a dash, or `≥19`."""
    n, expected = metric.get("n"), metric.get("expected_n")
    if n is None and "n_at_least" in metric:
        return f"≥{metric['n_at_least']}"
    return f"{ABSENT if n is None else n}/{ABSENT if expected is None else expected}"


# Costs whose interval is wider than this factor from end to end are written as a range.
WIDE_COST = 1.2
ASSUMED_BYTES = "the bytes moved are assumed, not counted"


def describe_cost(cost: PointCost) -> str:
    """Write a cost: `$1.58`; `$0.36 to $0.55` if its interval is wide; `about …` if it depends on an assumption."""
    low, high = cost.get("low_usd"), cost.get("high_usd")
    ends = [low, high] if low is not None and high is not None and high > WIDE_COST * low else [cost["usd"]]
    if cost.get("is_assumed"):
        return f"about {' to '.join(map(_in_two_digits, ends))}"
    return " to ".join(map(money, ends))


def _in_two_digits(usd: float) -> str:
    rounded = float(f"{usd:.2g}")
    return f"${rounded:,.15g}"


def describe_bounded_cost(cost: PointCost) -> str:
    """Write a cost without other words about its missing charges: `at least $1.58` if a price is missing."""
    return f"{'at least ' if cost['missing'] else ''}{describe_cost(cost)}"
