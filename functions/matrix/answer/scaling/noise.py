"""Noise of the values of a series, to judge whether a law's error is significant.

Noise is the standard error of a value's logarithm: 0.05 means that a value is known to about 5 %. It comes from the
values' own 95 % intervals, or from sizes that were measured several times. If a series has neither, the noise is
assumed, and the answer shows that.
"""

import math
from dataclasses import dataclass

import numpy as np

from matrix.answer.scaling.series import Series
from matrix.statistics.fleet_values import Floats

INTERVALS, REPEATS, ASSUMED = "intervals", "repeats", "assumed"
# Three repetitions that differ by 5 % leave a median that is known to 11 % (95 %), or to 3 to 6 % by this measure.
# Unknown noise is assumed to be larger than that.
ASSUMED_NOISE = 0.10
# Two standard errors on either side make a 95 % interval. One of few repetitions is wider, so this overestimates it.
NORMAL_95 = 1.96
# No value is exact: a run on another day hardly repeats one to 1 %, even if its repetitions are almost equal.
LEAST_NOISE = 0.01
# Degrees of freedom of a standard error that is taken for known.
KNOWN = math.inf


@dataclass(frozen=True)
class Noise:
    """The standard error of the logarithm of each size's mean value, its source, its degrees of freedom."""

    source: str
    sizes: Floats
    means: Floats  # logarithms of T, or of the given values
    errors: Floats
    degrees_of_freedom: float

    @property
    def largest(self) -> float:
        """The noise of the noisiest size."""
        return float(self.errors.max())


def noise_of(series: Series, n: Floats, time: Floats) -> Noise:
    """Return the standard errors of a series' times, a row for each size."""
    logs = np.log(time)
    sizes = np.unique(n)
    of_size = [logs[n == size] for size in sizes]
    counts = np.array([len(values) for values in of_size], dtype=float)
    means = np.array([values.mean() for values in of_size])
    spare = int((counts - 1).sum())
    known = _of_intervals(series, n, sizes)
    if known is not None:
        return Noise(INTERVALS, sizes, means, known, KNOWN)
    if spare > 0:
        # One noise for all sizes, because two measurements of a size hardly show its own.
        within = math.sqrt(sum(float(((values - values.mean()) ** 2).sum()) for values in of_size) / spare)
        return Noise(REPEATS, sizes, means, np.maximum(within, LEAST_NOISE) / np.sqrt(counts), float(spare))
    return Noise(ASSUMED, sizes, means, np.full(len(sizes), ASSUMED_NOISE), KNOWN)


def _of_intervals(series: Series, n: Floats, sizes: Floats) -> Floats | None:
    """Return each size's standard error by the intervals; None if no value has one.

    An interval of few repetitions is narrow by luck as often as wide, so no size gets a smaller error than the root
    mean square of all. A size without an interval, such as a single instance, gets the largest error.
    """
    halves = [
        None if low is None or high is None else math.log(high / low) / 2 / NORMAL_95
        for low, high in zip(series.low or [None] * len(n), series.high or [None] * len(n), strict=True)
    ]
    known = [half for half in halves if half is not None]
    if not known:
        return None
    typical = max(LEAST_NOISE, math.sqrt(float(np.mean(np.square(known)))))
    worst = max(*known, typical)
    each = np.array([worst if half is None else max(half, typical) for half in halves])
    # Several values of one size: their mean is at most as noisy as the noisiest of them.
    return np.array([each[n == size].max() for size in sizes])
