"""Whether a storage that is ranked by its median has a slow tail that the median does not show."""

import numpy as np

from matrix.answer.decision.words import times
from matrix.statistics.fleet_values import FleetValues

# How many times as slow as the median a value is, to be named: chance and hosts that differ by a third stay below.
SLOW = 2.0


def tail_words(values: FleetValues | None, *, higher_is_better: bool) -> str | None:
    """Name the slow tail: how many values are at least twice as slow as the median, and the slowest; None without."""
    if values is None or values.pooled.min() <= 0:
        return None
    median = float(np.median(values.pooled))
    slowness = median / values.pooled if higher_is_better else values.pooled / median
    slow = int(np.count_nonzero(slowness >= SLOW))
    if not slow:
        return None
    verb = "is" if slow == 1 else "are"
    return (
        f"slow tail: {slow} of {slowness.size} values {verb} at least twice as slow as the median, "
        f"the slowest {times(float(slowness.max()))} as slow"
    )
