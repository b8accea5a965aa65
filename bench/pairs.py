"""Two ways to do the same, in turns: what other programs on the machine take away hits both."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One bar: what was compared, both medians, and the ratio that is held against the bar."""

    name: str
    ours: float
    theirs: float
    ratio: float
    bar: float  # least ratio; of costs (`is_cost`) the most
    unit: str
    is_cost: bool = False

    @property
    def is_reached(self) -> bool:
        """Whether the bar was."""
        return self.ratio <= self.bar if self.is_cost else self.ratio >= self.bar

    def line(self) -> str:
        """One row of the table."""
        mark = "ok  " if self.is_reached else "MISS"
        sign = "≤" if self.is_cost else "≥"
        return (
            f"{mark} {self.name:<58} {self.ours:>12,.6g} {self.theirs:>12,.6g} {self.unit:<9}"
            f" {self.ratio:>8.3f}  {sign} {self.bar:g}"
        )


def in_turns(
    name: str, ours: Callable[[], float], theirs: Callable[[], float], *, bar: float, unit: str, rounds: int
) -> Result:
    """Rates of both, alternating who goes first.

    The ratio is that of the best rounds: they were disturbed least. A bar must not be missed because of what else the
    machine did, nor reached by it: both sides have the same number of chances.
    """
    found: dict[str, list[float]] = {"ours": [], "theirs": []}
    ways = {"ours": ours, "theirs": theirs}
    for number in range(rounds):
        for who in sorted(ways, reverse=bool(number % 2)):
            found[who].append(ways[who]())
    ratio = max(found["ours"]) / max(found["theirs"])
    return Result(name, statistics.median(found["ours"]), statistics.median(found["theirs"]), ratio, bar, unit)


def against(name: str, ours: Callable[[], float], ideal: float, *, bar: float, unit: str, rounds: int) -> Result:
    """The best of some rounds against a figure that is known."""
    rates = [ours() for _ in range(rounds)]
    return Result(name, statistics.median(rates), ideal, max(rates) / ideal, bar, unit)


def cost(name: str, seconds: Callable[[], float], *, most_ms: float, rounds: int) -> Result:
    """The least milliseconds of some rounds against the most that they may be."""
    taken_ms = [1000 * seconds() for _ in range(rounds)]
    return Result(name, statistics.median(taken_ms), most_ms, min(taken_ms) / most_ms, 1.0, "ms", is_cost=True)
