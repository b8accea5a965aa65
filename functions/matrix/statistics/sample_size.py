"""Sample sizes: the number of independent values that a percentile needs.

The largest of n independent values lies below the true percentile p with probability p^n. Such a fleet has seen no
value beyond p, so its estimate of p is too good. n is enough if this happens at most 2.5 % of the time, the upper tail
of an equal-tailed 95 % interval from order statistics (Wilks 1941, Ann. Math. Stat. 12, 91-96; David & Nagaraja 2003,
Order Statistics, 7.1). Results store the answer under the key `carried`.

With fewer values the lower end of the same interval may still exist: "at least x" (`percentiles`). Planning uses this
module too, so it must not import numpy, which takes longer than the plan of a usual matrix.
"""

import math

CONFIDENCE = 0.95


def needed(level: float) -> int:
    """Return how many independent values a percentile needs: 6 for P50, 13 for P75, 36 for P90, 183 for P98.

    P0 and P100 are the smallest and the largest observed value, and no estimates: one value is enough.
    """
    share = max(level, 100 - level) / 100
    if share == 1:
        return 1
    return math.ceil(math.log((1 - CONFIDENCE) / 2) / math.log(share) - 1e-12)


def has_enough_samples(level: float, independent_n: int) -> bool:
    """Return whether `independent_n` values are enough for the percentile `level`."""
    return independent_n >= needed(level)
