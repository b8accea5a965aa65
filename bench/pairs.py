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
    bar: float  # the least ratio, or the largest of a cost (`is_cost`)
    unit: str
    is_cost: bool = False
    itself: float | None = None  # the reference against itself, the smaller over the larger: 1 without disturbance

    @property
    def is_reached(self) -> bool:
        """Return whether the ratio reaches the bar."""
        return self.ratio <= self.bar if self.is_cost else self.ratio >= self.bar

    @property
    def is_missed(self) -> bool:
        """Return whether the bar is missed by more than the reference misses itself."""
        return not self.is_reached and (self.itself is None or self.ratio < self.bar * self.itself)

    def line(self) -> str:
        """Return one row of the table."""
        mark = "MISS" if self.is_missed else "ok  " if self.is_reached else "near"
        sign = "≤" if self.is_cost else "≥"
        itself = "" if self.itself is None else f"  {self.itself:.3f}"
        return (
            f"{mark} {self.name:<58} {self.ours:>12,.6g} {self.theirs:>12,.6g} {self.unit:<9}"
            f" {self.ratio:>8.3f}  {sign} {self.bar:<5g}{itself}".rstrip()
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


def against(name: str, ours: Callable[[], float], ideal: float, *, bar: float, unit: str, rounds: int) -> Result:
    """Compare the best of some rounds with a known figure."""
    rates = [ours() for _ in range(rounds)]
    return Result(name, statistics.median(rates), ideal, max(rates) / ideal, bar, unit)


def cost(name: str, seconds: Callable[[], float], *, most_ms: float, rounds: int) -> Result:
    """Compare the fewest milliseconds of some rounds with the allowed maximum."""
    taken_ms = [1000 * seconds() for _ in range(rounds)]
    return Result(name, statistics.median(taken_ms), most_ms, min(taken_ms) / most_ms, 1.0, "ms", is_cost=True)
