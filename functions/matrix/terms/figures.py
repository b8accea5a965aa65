"""Format of figures: three digits, a unit, and a sign if there are too few samples."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeAlias

# Parts of documents by the names of their classes there, which hold findings, and findings write figures: importing
# the classes would be a circle.
MetricResult: TypeAlias = Mapping[str, Any]
Latency: TypeAlias = Mapping[str, Any]
Candidate: TypeAlias = Mapping[str, Any]
PointCost: TypeAlias = Mapping[str, Any]

PERCENTILES = ("p0", "p50", "p75", "p90", "p98", "p100")
# Of rates: the best, the median, three percentiles of the tail, the slowest.
RATE_PERCENTILES = ("p100", "p50", "p25", "p10", "p2", "p0")
# Percentiles that only rates have.
SLOW_OF_RATES = ("p2", "p10", "p25")
ABSENT = "–"
INTERVAL_HEAD = "P50 with 95 % confidence"
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


def duration(seconds: float) -> str:
    """Write a duration as the published tables do (`97m 42s`); below a minute with three digits (`0.648s`, `12.5s`)."""
    if seconds >= 59.95:  # noqa: PLR2004 - three digits would round it up to 60.0s
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes}m {rest:02d}s"
    return f"{number(seconds)}s"


def rough_duration(seconds: float) -> str:
    """Write a duration to the second, for clocks and estimates: `7s`, `2m 05s`; from an hour on `44h 50m`."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:  # noqa: PLR2004 - of an hour
        hours, minutes = divmod(round(seconds / 60), 60)
        return f"{hours}h {minutes:02d}m"
    return f"{minutes}m {rest:02d}s" if minutes else f"{rest}s"


def number(value: float) -> str:
    """Write a figure with three digits, or with all digits before the point: `4,425`, `305`, `86.6`, `0.0124`."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return ABSENT
    decimals = 2 - math.floor(math.log10(abs(value)))
    if decimals <= 0:
        return f"{value:,.0f}"
    return f"{value:.{min(decimals, 6)}f}"


# The value of each operation beyond fio's bins, and until November 2026 beyond the agent's, in metrics.
CUT_OFF_US = 17_112_760.32


def latency(microseconds: float, *, in_ms: bool = False) -> str:
    """Write a latency in µs or ms, without the unit. Three digits (`4,430`), since its bin is known to ± 0.78 %.

    A latency that fio could only count as "slower than my bins reach" is `≥ 17,000,000`.
    """
    unit_us = 1000 if in_ms else 1
    if math.isclose(microseconds, CUT_OFF_US, rel_tol=1e-9):
        return f"≥ {17_000_000 // unit_us:,}"
    return number(float(f"{microseconds / unit_us:.3g}"))


def quantity(value: float | None, unit: str) -> str:
    """Write a figure with its unit; a missing figure is a dash, never a zero."""
    if value is None or not math.isfinite(value):
        return ABSENT
    if unit == "µs":
        return f"{latency(value)} µs"
    return duration(value) if unit == "s" else f"{number(value)} {unit}"


@dataclass(frozen=True)
class Column:
    """Format of the figures of a column; its head has their unit, or each figure if `unit` is empty."""

    unit: str
    write: Callable[[float | None], str]

    @classmethod
    def of(cls, values: Iterable[float | None], unit: str) -> "Column":
        """Choose the unit: each its own if most durations take minutes (`97m 42s`), else the metric's."""
        known = sorted(value for value in values if value is not None and math.isfinite(value))
        if unit == "s" and known and known[len(known) // 2] >= 60:  # noqa: PLR2004 - a minute
            return cls("", partial(quantity, unit="s"))
        return cls(unit, _latency if unit == "µs" else _bare)

    def head(self, words: str) -> str:
        """Write the head of the column: `P50 (MB/s)`."""
        return f"{words} ({self.unit})" if self.unit else words


def _latency(microseconds: float | None) -> str:
    return quantity(microseconds, "µs").removesuffix(" µs")


def _bare(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return ABSENT
    return number(value) if value >= 0 else f"−{number(-value)}"


def percentile_of(metric: MetricResult | Latency, name: str) -> float | None:
    """Return a percentile of a metric by its name, such as p90; None if the metric has none of that name."""
    value: float | None = metric.get(name)
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

    None if there are enough samples, or if the median is an equally good bound.
    """
    if not _is_only_bounded(metric, percentile):
        return None
    is_slow_rate = percentile in SLOW_OF_RATES
    bounds = metric.get("at_most") if is_slow_rate else metric.get("at_least")
    bound: float | None = (bounds or {}).get(percentile)
    median = metric.get("p50")
    # Each higher percentile is at least the median, and each lower one at most, so such a bound adds nothing.
    if bound is None or median is None or (bound >= median if is_slow_rate else bound <= median):
        return None
    return bound


def _is_only_bounded(metric: MetricResult, percentile: str) -> bool:
    """Whether there are too few samples for a percentile. The median is always shown."""
    return percentile != "p50" and not (metric.get("carried") or {}).get(percentile, True)


def interval(metric: MetricResult, name: str = "p50", write: Callable[[float | None], str] | None = None) -> str:
    """Write the 95 % interval of a percentile: `290 – 320 files/s`; without one, its scope or a dash.

    An interval over instances alone is valid only for their hour, which it states: `290 – 320 files/s, not replicated`.
    """
    ends, scope = (metric.get("intervals") or {}).get(name), metric.get("scope")
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


def instant(epoch: float | None) -> str:
    """Write a time in UTC to the second."""
    return ABSENT if epoch is None else datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def day(epoch: float) -> str:
    """Write the day of a time in UTC."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d")


def sample_count(metric: MetricResult) -> str:
    """Write how many values there are of how many expected: `29/30`; an unknown number is a dash, or `≥19`."""
    n, expected = metric.get("n"), metric.get("expected_n")
    if n is None and "n_at_least" in metric:
        return f"≥{metric['n_at_least']}"
    return f"{ABSENT if n is None else n}/{ABSENT if expected is None else expected}"


def money(usd: float | None) -> str:
    """Format US dollars: `$1.58`, `$0.0124`, `$4,425`. Unknown: a dash."""
    return ABSENT if usd is None else f"${usd:,.2f}" if usd >= 1 else f"${number(usd)}"


ASSUMED_BYTES = "the bytes moved are assumed, not counted"


def describe_cost(cost: PointCost) -> str:
    """Write a cost as its document has it: `$1.58`; `about $0.0083` if it depends on an assumption."""
    usd = cost["usd"]
    return f"about ${float(f'{usd:.2g}'):,.15g}" if cost.get("is_assumed") else money(usd)


def describe_bounded_cost(cost: PointCost) -> str:
    """Write a cost without other words about its missing charges: `at least $1.58` if a price is missing."""
    return f"{'at least ' if cost['missing'] else ''}{describe_cost(cost)}"


def times(ratio: float) -> str:
    """Write a ratio: `2.5 times`."""
    return f"{ratio:.1f} times" if ratio < 10 else f"{ratio:.0f} times"  # noqa: PLR2004
