"""Burst and baseline in a rate over time: the fall from one level to another, if there is one.

The change is the split at which two constants fit the series best by least squares (the classic single change point,
for which running sums are enough). Each level is the median of its side, because a few odd seconds do not move a
median. A fall counts only if all of this holds: both sides last, the fall is large, neither side is a slope, and almost
no second is on the wrong side of the middle between the levels. A rate that rises, wanders, sinks steadily or falls in
more than one step has no burst.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

# A level must last: this many samples, and of a long series a twentieth.
MIN_SAMPLES = 10
MIN_SHARE = 1 / 20
# Shared networks and disks vary by less than this share on their own.
MIN_FALL = 0.2
# The largest difference between halves of a level, as a share of the fall: on an even slope it is half of it.
MAX_SLOPE = 1 / 3
# The least share of samples that must be nearer to their own level than to the other.
MIN_FIT = 0.9


@dataclass(frozen=True)
class Levels:
    """Rates before and after the fall, and the number of samples before it."""

    burst: float
    baseline: float
    samples: int


def find_levels(rates: Sequence[float]) -> Levels | None:
    """Burst and baseline of rates taken at even intervals; None where they show no single fall."""
    split = best_split(rates)
    before, after = rates[:split], rates[split:]
    if min(len(before), len(after)) < max(MIN_SAMPLES, MIN_SHARE * len(rates)):
        return None
    burst, baseline = median(before), median(after)
    fall = burst - baseline
    if fall <= MIN_FALL * burst or not (is_level(before, fall) and is_level(after, fall)):
        return None
    middle = (burst + baseline) / 2
    fitting = sum(rate > middle for rate in before) + sum(rate <= middle for rate in after)
    return Levels(burst, baseline, split) if fitting >= MIN_FIT * len(rates) else None


def best_split(rates: Sequence[float]) -> int:
    """Return the number of samples before the change.

    A constant fitted to a part with sum S and length n explains S²/n of the squares; the best split explains most.
    """
    total, running = sum(rates), 0.0
    best, explained = 0, -1.0
    for before in range(1, len(rates)):
        running += rates[before - 1]
        squares = running**2 / before + (total - running) ** 2 / (len(rates) - before)
        if squares > explained:
            best, explained = before, squares
    return best


def is_level(part: Sequence[float], fall: float) -> bool:
    """Return whether both halves of a part are about equal, relative to the fall: on a slope they are not."""
    half = len(part) // 2
    return abs(median(part[:half]) - median(part[half:])) < MAX_SLOPE * fall
