"""Percentiles of a fleet's samples."""

import math
from collections.abc import Sequence

import numpy as np

from matrix.statistics.fleet_values import Floats
from matrix.statistics.sample_size import CONFIDENCE

# The six of the published Yocto comparison: best, median, three steps of the tail, worst.
LEVELS = (0, 50, 75, 90, 98, 100)
# P0 and P100 are the smallest and the largest observed value, not estimates, so any n is enough for them.
JUDGED_LEVELS = tuple(level for level in LEVELS if 0 < level < 100)  # noqa: PLR2004 - percent
# The same steps of a rate's slow tail, which has the small values.
SLOW_LEVELS_OF_RATES = (25, 10, 2)


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return P0 P50 P75 P90 P98 P100 of the values, in their unit, keyed `p0` … `p100`, and their mean.

    Linear interpolation between closest ranks: numpy's default, type 7 of Hyndman & Fan (1996), as in the published
    tables. Raises ValueError for no values and for values that are not finite numbers.
    """
    if len(values) == 0:
        raise ValueError("percentiles need at least one value")
    array = np.asarray(values, dtype=float)
    if not np.isfinite(array).all():
        raise ValueError("percentiles need finite values")
    figures = np.percentile(array, LEVELS, method="linear")
    return {f"p{level}": float(value) for level, value in zip(LEVELS, figures, strict=True)} | {
        "mean": float(array.mean())
    }


def at_least(pooled: Floats, level: float, independent_n: int) -> float | None:
    """Return a value that the true percentile exceeds with 97.5 % confidence; None if no value qualifies.

    The largest order statistic k with P(Binomial(n, p) >= k) >= 97.5 %: as many as k of n values lie below the
    percentile that often. For values that are not independent, n is the effective sample size (Woodruff 1952, J. Am.
    Stat. Assoc. 47, 635-646; Korn & Graubard 1998, Survey Methodology 24, 193-201).
    """
    rank = sure_rank(level, independent_n)
    if rank == 0:
        return None
    ordered = np.sort(pooled)
    position = math.floor(rank / independent_n * len(ordered) + 1e-9)
    return float(ordered[max(position, 1) - 1])


def at_most(pooled: Floats, level: float, independent_n: int) -> float | None:
    """Return a value that the true percentile is below with 97.5 % confidence: `at_least`, mirrored."""
    least = at_least(-pooled, 100 - level, independent_n)
    return None if least is None else -least


def sure_rank(level: float, count: int) -> int:
    """The largest k with P(Binomial(count, level / 100) >= k) >= 97.5 %; 0 if there is none."""
    sureness, within = 1 - (1 - CONFIDENCE) / 2, 0.0
    # From the largest value down: beyond a tail percentile there are few of many operations.
    for beyond in range(count):
        within += math.exp(_log_binomial(count, beyond, 1 - level / 100))
        if within >= sureness:
            return count - beyond
    return 0


def _log_binomial(count: int, successes: int, share: float) -> float:
    ways = math.lgamma(count + 1) - math.lgamma(successes + 1) - math.lgamma(count - successes + 1)
    return ways + successes * math.log(share) + (count - successes) * math.log1p(-share)
