"""Two ways to do the same, in alternation, so that other programs on the machine disturb both."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One bar: the comparison, both medians, the ratio for comparison with the bar, and the effect of chance on it."""

    name: str
    ours: float
    theirs: float
    ratio: float
    bar: float  # the least ratio
    unit: str
    itself: float = 1.0  # the reference against itself, the smaller over the larger: 1 without disturbance

    def line(self) -> str:
        """Return one row of the table; a bar that is missed by less than the reference misses itself is near."""
        is_reached, is_near = self.ratio >= self.bar, self.ratio >= self.bar * self.itself
        mark = "ok  " if is_reached else "near" if is_near else "MISS"
        return (
            f"{mark} {self.name:<58} {self.ours:>12,.6g} {self.theirs:>12,.6g} {self.unit:<9}"
            f" {self.ratio:>8.3f}  ≥ {self.bar:<5g}  {self.itself:.3f}"
        )


def in_turns(
    name: str, ours: Callable[[], float], theirs: Callable[[], float], *, bar: float, unit: str, rounds: int
) -> Result:
    """Measure both rates: the reference before and after each round, which shows the effect of chance on a ratio.

    The ratio is that of the best rounds, which were disturbed least; the reference is the mean of its best before and
    its best after. All have the same number of turns, so a busy machine makes them neither miss nor reach a bar.
    """
    turns = [(theirs(), ours(), theirs()) for _ in range(rounds)]
    before, own, after = zip(*turns, strict=True)
    best, worst = sorted((max(before), max(after)), reverse=True)
    ratio = max(own) / statistics.mean((best, worst))
    median = statistics.median((*before, *after))
    return Result(name, statistics.median(own), median, ratio, bar, unit, itself=worst / best)
