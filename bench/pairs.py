"""Two ways to do the same, in turns, so that other programs on the machine disturb both."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One bar: what was compared, both medians, and the ratio that is compared with the bar."""

    name: str
    ours: float
    theirs: float
    ratio: float
    bar: float  # the least ratio, or the largest of a cost (`is_cost`)
    unit: str
    is_cost: bool = False

    @property
    def is_reached(self) -> bool:
        """Return whether the ratio reaches the bar."""
        return self.ratio <= self.bar if self.is_cost else self.ratio >= self.bar

    def line(self) -> str:
        """Return one row of the table."""
        mark = "ok  " if self.is_reached else "MISS"
        sign = "≤" if self.is_cost else "≥"
        return (
            f"{mark} {self.name:<58} {self.ours:>12,.6g} {self.theirs:>12,.6g} {self.unit:<9}"
            f" {self.ratio:>8.3f}  {sign} {self.bar:g}"
        )


def in_turns(
    name: str, ours: Callable[[], float], theirs: Callable[[], float], *, bar: float, unit: str, rounds: int
) -> Result:
    """Measure the rates of both, alternating who goes first.

    The ratio is that of the best rounds, which were disturbed least. Both sides have the same number of rounds, so a
    busy machine makes them neither miss nor reach a bar.
    """
    rates: dict[str, list[float]] = {"ours": [], "theirs": []}
    ways = {"ours": ours, "theirs": theirs}
    for number in range(rounds):
        for who in sorted(ways, reverse=bool(number % 2)):
            rates[who].append(ways[who]())
    ratio = max(rates["ours"]) / max(rates["theirs"])
    return Result(name, statistics.median(rates["ours"]), statistics.median(rates["theirs"]), ratio, bar, unit)


def against(name: str, ours: Callable[[], float], ideal: float, *, bar: float, unit: str, rounds: int) -> Result:
    """Compare the best of some rounds with a known figure."""
    rates = [ours() for _ in range(rounds)]
    return Result(name, statistics.median(rates), ideal, max(rates) / ideal, bar, unit)


def cost(name: str, seconds: Callable[[], float], *, most_ms: float, rounds: int) -> Result:
    """Compare the fewest milliseconds of some rounds with the most that are allowed."""
    taken_ms = [1000 * seconds() for _ in range(rounds)]
    return Result(name, statistics.median(taken_ms), most_ms, min(taken_ms) / most_ms, 1.0, "ms", is_cost=True)
