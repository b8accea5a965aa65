"""Which percentiles a number of values can carry.

The largest of n independent values lies below the true percentile p with probability p^n: that many fleets have seen
nothing of what lies beyond it, and any figure that they print for it is too good. A percentile is carried when this
happens at most 2.5 % of the time, the upper tail of an equal-tailed 95 % interval from order statistics
(Wilks 1941, Ann. Math. Stat. 12, 91-96; David & Nagaraja 2003, Order Statistics, 7.1).

For a percentile that is not carried the lower end of the same interval may still exist: "at least x".
"""

import math

import numpy as np

from matrix.statistics.fleet_values import Floats
from matrix.statistics.percentiles import LEVELS

CONFIDENCE = 0.95
# P0 and P100 are the smallest and the largest value seen. They claim nothing about other values, so any n carries them.
JUDGED_LEVELS = tuple(level for level in LEVELS if 0 < level < 100)  # noqa: PLR2004 - percent


def needed(level: float, confidence: float = CONFIDENCE) -> int:
    """Return how many independent values a percentile needs: 6 for P50, 13 for P75, 36 for P90, 183 for P98."""
    share = max(level, 100 - level) / 100
    return math.ceil(math.log((1 - confidence) / 2) / math.log(share) - 1e-12)


def is_carried(level: float, independent_n: int, confidence: float = CONFIDENCE) -> bool:
    """Whether so many independent values carry the percentile."""
    return independent_n >= needed(level, confidence)


def at_least(pooled: Floats, level: float, independent_n: int, confidence: float = CONFIDENCE) -> float | None:
    """Return a value that the true percentile exceeds with 97.5 % confidence; None where no value can be named.

    The largest order statistic k with P(Binomial(n, p) >= k) >= 97.5 %: as many as k of n values lie below the
    percentile that often. Values that are not independent are counted as the fewer ones that they are worth
    (Woodruff 1952, J. Am. Stat. Assoc. 47, 635-646; Korn & Graubard 1998, Survey Methodology 24, 193-201).
    """
    rank = _largest_sure_rank(level / 100, independent_n, 1 - (1 - confidence) / 2)
    if rank == 0:
        return None
    ordered = np.sort(pooled)
    position = math.floor(rank / independent_n * len(ordered) + 1e-9)
    return float(ordered[max(position, 1) - 1])


def _largest_sure_rank(share: float, count: int, sureness: float) -> int:
    """The largest k with P(Binomial(count, share) >= k) >= sureness; 0 where there is none."""
    below = 0.0
    for rank in range(count + 1):
        # `below` is P(X < rank) here.
        if 1 - below < sureness:
            return rank - 1
        below += math.exp(_log_binomial(count, rank, share))
    return count


def _log_binomial(count: int, successes: int, share: float) -> float:
    ways = math.lgamma(count + 1) - math.lgamma(successes + 1) - math.lgamma(count - successes + 1)
    return ways + successes * math.log(share) + (count - successes) * math.log1p(-share)
