"""Intervals of percentiles and of the mean: the estimate, give or take Student's t times its standard error.

The standard error is from `resampling`, the degrees of freedom are from `uncertainty`. If all values are above 0, the
interval is one of logarithms: its ends are at equal ratios from the estimate, because durations and rates vary so.

For several launches the estimate is the mean of the launches' figures; their differences give the standard error.

For a tail percentile over instances and repetitions the same interval covers the true value less often: three to five
repetitions do not show the tail of their shared variation. In simulated fleets of 50 x 3 to 100 x 3 with 2, 5 and 10 %
between repetitions the interval of P90 covered it in 82 to 91 %, else the true value was beyond the worse end. So its
stated confidence is 80 %.

tests/matrix/statistics/test_coverage.py has the figures of simulated fleets (normal, log-normal, bimodal, one slow
instance; 10 x 3, 50 x 3, 50 x 5; repetitions that differ by 0, 2 and 5 %).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.resampling import MEAN, is_two_way, uncertainties
from matrix.statistics.sample_size import CONFIDENCE
from matrix.statistics.uncertainty import INSTANCES, Uncertainty
from matrix.terms.documents import result as documents

ONE_WAY = "bootstrap, Student's t"
TWO_WAY = "two-way bootstrap, Student's t"
OF_LAUNCHES = "launches, Student's t"
ALL_EQUAL = "all values are equal"
CROSSED_TAIL_CONFIDENCE = 0.80


@dataclass(frozen=True)
class Interval:
    """From low to high, with its confidence, its method, and the kind of sample that would narrow it most."""

    low: float
    high: float
    method: str
    limited_by: str = INSTANCES
    confidence: float = CONFIDENCE
    uncertainty: Uncertainty | None = None  # its source; of logarithms if all values are above 0

    def to_document(self) -> documents.Interval:
        """The form in result.json."""
        return {
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "method": self.method,
            "limited_by": self.limited_by,
        }


def intervals(values: FleetValues, levels: Sequence[float]) -> dict[float | str, Interval]:
    """Return the intervals of percentiles, by level, and of the mean; empty if `resampling.why_none` has a reason."""
    estimates = dict(zip([*levels, MEAN], [*map(values.percentile, levels), values.pooled.mean()], strict=True))
    return {
        name: _interval(values, float(estimates[name]), uncertainty, _confidence(values, name))
        for name, uncertainty in uncertainties(values, levels).items()
    }


def percentile_interval(values: FleetValues, level: float) -> Interval | None:
    """Return the interval of one percentile; None if it has none."""
    return intervals(values, [level]).get(level)


def method_of(values: FleetValues) -> str:
    """Name the method that `resampling` uses for a table of this shape."""
    if values.is_relaunched:
        return OF_LAUNCHES
    return TWO_WAY if is_two_way(values) else ONE_WAY


def _confidence(values: FleetValues, name: float | str) -> float:
    return CROSSED_TAIL_CONFIDENCE if is_two_way(values) and name not in (50, MEAN) else CONFIDENCE


def _interval(values: FleetValues, estimate: float, uncertainty: Uncertainty, confidence: float) -> Interval:
    if np.ptp(values.pooled) == 0:
        return Interval(estimate, estimate, ALL_EQUAL, uncertainty.limited_by, uncertainty=uncertainty)
    half = uncertainty.half_width()
    if values.has_logarithms:
        # Limit the width to a factor of e^100: such an interval has no information, and a wider one overflows.
        ratio = math.exp(min(half, 100.0))
        low, high = estimate / ratio, estimate * ratio
    else:
        low, high = estimate - half, estimate + half
    return Interval(low, high, method_of(values), uncertainty.limited_by, confidence, uncertainty)
