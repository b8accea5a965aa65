"""Figures of a run after run: is the newest one beyond the scatter of those before it, and is there a trend?

Both tests take the logarithms of one figure of each run. So they know the scatter between runs (hour, host, zone), as
no test of two runs can.

- A new value: the prediction interval of one more value beside n (Hahn and Meeker, Statistical Intervals, section 3.1).
  It is held against the median of five runs, which no single odd night moves, so the variance is s² (1 + 0.287). The
  scatter s is of the runs without the odd ones: a run beyond the 99 % prediction interval of those before it is left
  out, and then one that is beyond that of all others (Grubbs 1969, Technometrics 11, 1-21; corrected for their number).
  Without that, one odd night hides changes for weeks, and a change that stays would soon hide itself.
- A trend: the t test of the slope of a straight line. It is none if a single step fits the figures better: a change of
  one night, told then, is no drift weeks later.
"""

import math
from collections.abc import Sequence
from statistics import fmean, median
from typing import NamedTuple

import numpy as np

from matrix.statistics.fleet_values import Floats
from matrix.statistics.uncertainty import Uncertainty

RUNS = "runs"
# Fewer values before a new one show no scatter: with four, a new one must be 3.1 standard deviations away at 5 %.
MIN_BEFORE = 5
# Figures that are equal by rounding scatter at least so much, as a standard deviation of logarithms.
MIN_SCATTER = 1e-3
# The variance of the median of one to five independent values of variance 1.
OF_MEDIAN = (1.0, 0.5, 0.4487, 0.2982, 0.2868)
ODD = 0.01


class Shift(NamedTuple):
    """A ratio, and the uncertainty of its logarithm."""

    ratio: float
    uncertainty: Uncertainty

    @property
    def p_value(self) -> float:
        """The chance of a ratio at least so far from 1 if nothing changes."""
        return self.uncertainty.p_value(math.log(self.ratio))


class Expected(NamedTuple):
    """What a next run shows if nothing changes: its figure, with the uncertainty of the logarithm of a ratio to it."""

    figure: float
    uncertainty: Uncertainty


def expected(before: Sequence[float], base: int | None = None) -> Expected:
    """Return what a value after these positive ones is, if it is like those from `base` on; without it, like the last.

    They are in the order of time, MIN_BEFORE at least.
    """
    logs = [math.log(value) for value in before]
    since = logs if base is None else logs[base:]
    level = logs[-MIN_BEFORE:] if base is None else _level(logs, base)
    usual = _usual(since if len(since) >= MIN_BEFORE else logs)
    variance = _scatter(usual) ** 2 * (1 + OF_MEDIAN[len(level) - 1])
    return Expected(math.exp(median(level)), Uncertainty(variance, len(usual) - 1, RUNS))


def new_value(before: Sequence[float], value: float) -> Shift:
    """Return a positive value's ratio to what the values before it let expect."""
    figure, uncertainty = expected(before)
    return Shift(value / figure, uncertainty)


def _level(logs: Sequence[float], base: int) -> Sequence[float]:
    """Return the five values from the base on; if there are fewer, the last five, or of a new level these fewer.

    A base unlike those before it is a new level, such as that of a baseline after an accepted change.
    """
    since, before = logs[base:][:MIN_BEFORE], logs[:base]
    is_new_level = len(before) > 1 and _is_odd(logs[base], _usual(before), ODD)
    return since if len(since) == MIN_BEFORE or is_new_level else logs[-MIN_BEFORE:]


def _usual(logs: Sequence[float]) -> list[float]:
    """Return the values without the odd ones."""
    usual = list(logs[:MIN_BEFORE])
    for value in logs[MIN_BEFORE:]:
        if not _is_odd(value, usual, ODD):
            usual.append(value)
    while len(usual) > MIN_BEFORE:
        middle = fmean(usual)
        farthest = max(usual, key=lambda value: abs(value - middle))
        others = [value for value in usual if value != farthest]
        if len(others) < MIN_BEFORE or not _is_odd(farthest, others, ODD / len(usual)):
            break
        usual = others
    return usual


def _is_odd(value: float, others: Sequence[float], level: float) -> bool:
    """Whether a value is beyond the prediction interval of the others."""
    off = (value - fmean(others)) / (_scatter(others) * math.sqrt(1 + 1 / len(others)))
    return _two_sided(off, len(others) - 1) < level


def _scatter(values: Sequence[float]) -> float:
    """Return the standard deviation. By numpy it would take so few values ten times as long."""
    middle = fmean(values)
    return max(math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1)), MIN_SCATTER)


def trend(values: Sequence[float]) -> Shift:
    """Return the ratio of the last to the first of positive values by a straight line through their logarithms.

    It is 1 if a step fits better.
    """
    logs, places = np.log(values), np.arange(len(values)) - (len(values) - 1) / 2
    across = float(places @ places)
    slope = float(places @ logs / across)
    length, off = len(values) - 1, float(np.square(logs - logs.mean() - slope * places).sum())
    scatter = max(math.sqrt(off / (len(values) - 2)), MIN_SCATTER)
    variance = (scatter * length) ** 2 / across
    ratio = 1.0 if _is_step(logs, off) else math.exp(slope * length)
    return Shift(ratio, Uncertainty(variance, len(values) - 2, RUNS))


def _is_step(logs: Floats, off_line: float) -> bool:
    """Whether a single step is nearer to the values than a line, of which `off_line` is the sum of the squares."""
    centred, before = logs - logs.mean(), np.arange(1, len(logs))
    explained = np.cumsum(centred)[:-1] ** 2 * len(logs) / (before * (len(logs) - before))
    return float(centred @ centred - explained.max()) < off_line


def _two_sided(t: float, degrees: int) -> float:
    from scipy import special  # takes half a second to import

    return float(2 * special.stdtr(degrees, -abs(t)))
