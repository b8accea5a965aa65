"""Whether a storage that is ranked by its median has a slow tail that the median does not show."""

import numpy as np

from matrix.statistics.fleet_values import FleetValues
from matrix.terms.documents.summary import Risk

# A tail this many times as slow as the median is reported: chance and hosts that differ by a third stay below it.
SLOW = 2.0


def slow_tail(values: FleetValues | None, *, higher_is_better: bool) -> Risk | None:
    """Return how many values are at least twice as slow as the median, and the slowest; None if there are none."""
    if values is None or values.pooled.min() <= 0:
        return None
    median = float(np.median(values.pooled))
    slowness = median / values.pooled if higher_is_better else values.pooled / median
    slow = int(np.count_nonzero(slowness >= SLOW))
    if not slow:
        return None
    return {"code": "slow-tail", "slow": slow, "values": int(slowness.size), "slowest": float(slowness.max())}
