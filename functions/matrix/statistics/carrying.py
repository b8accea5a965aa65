"""Which percentiles a number of values can carry.

The largest of n independent values lies below the true percentile p with probability p^n: that many fleets have seen
nothing of what lies beyond it, and any figure that they print for it is too good. A percentile is carried when this
happens at most 2.5 % of the time, the upper tail of an equal-tailed 95 % interval from order statistics
(Wilks 1941, Ann. Math. Stat. 12, 91-96; David & Nagaraja 2003, Order Statistics, 7.1).

For a percentile that is not carried the lower end of the same interval may still exist: "at least x" (`percentiles`).
Planning asks too, so nothing here imports numpy, which takes longer than the plan of a usual matrix.
"""

import math

CONFIDENCE = 0.95


def needed(level: float, confidence: float = CONFIDENCE) -> int:
    """Return how many independent values a percentile needs: 6 for P50, 13 for P75, 36 for P90, 183 for P98."""
    share = max(level, 100 - level) / 100
    return math.ceil(math.log((1 - confidence) / 2) / math.log(share) - 1e-12)


def is_carried(level: float, independent_n: int, confidence: float = CONFIDENCE) -> bool:
    """Whether so many independent values carry the percentile."""
    return independent_n >= needed(level, confidence)
