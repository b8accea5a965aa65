"""Figures of a run after run: is the newest one beyond the scatter of those before it, and is there a trend?

Both tests take the logarithms of one figure of each run. So they know the scatter between runs (hour, host, zone), as
no test of two runs can.

- A new value: the prediction interval of one more value after n (Hahn and Meeker, Statistical Intervals, section 3.1),
  mean ± t(n - 1) s √(1 + 1/n). The tests of a series are independent of each other if nothing changes: they are its
  recursive residuals (Brown, Durbin and Evans 1975).
- A trend: the t test of the slope of a straight line.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# Fewer values before a new one show no scatter: with four, a new one must be 3.1 standard deviations away at 5 %.
MIN_BEFORE = 4
# Figures that are equal by rounding scatter at least so much, as a standard deviation of logarithms.
MIN_SCATTER = 1e-3


class Shift(NamedTuple):
    """A ratio, and the chance of one at least so far from 1 if nothing changes."""

    ratio: float
    p_value: float


def new_value(before: Sequence[float], value: float) -> Shift:
    """Return a positive value's ratio to the geometric mean of those before it."""
    logs = np.log(before)
    off = math.log(value) - float(logs.mean())
    scatter = max(float(logs.std(ddof=1)), MIN_SCATTER)
    return Shift(math.exp(off), _two_sided(off / (scatter * math.sqrt(1 + 1 / len(before))), len(before) - 1))


def trend(values: Sequence[float]) -> Shift:
    """Return the ratio of the last to the first of positive values by a straight line through their logarithms."""
    logs, places = np.log(values), np.arange(len(values)) - (len(values) - 1) / 2
    slope = float(places @ logs / (places @ places))
    residual = logs - logs.mean() - slope * places
    scatter = max(math.sqrt(float(residual @ residual) / (len(values) - 2)), MIN_SCATTER)
    t = slope * math.sqrt(float(places @ places)) / scatter
    return Shift(math.exp(slope * (len(values) - 1)), _two_sided(t, len(values) - 2))


def _two_sided(t: float, degrees: int) -> float:
    from scipy import special  # takes half a second to import

    return float(2 * special.stdtr(degrees, -abs(t)))
