"""Parse heartbeats: the current step of an instance and its storage traffic per second. Pure.

An instance writes its own heartbeat, so no value is trusted: values out of bounds are left out.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cli.console.documents import Rates

MAX_BYTES = 20_000
# An agent writes up to 45 rates of at most 32 s each. Heartbeats are not trusted, so check them.
MAX_RATES, LONGEST_S, OLDEST_S, CLOCKS_S = 64, 64.0, 1200.0, 5.0
MAX_PER_S = 1e13
KEPT_S = 600
STATES = ("preparing", "waiting", "running", "done")
SOURCES = ("disk", "network")
# A fleet's sum ends where its latest heartbeat ends; silent instances are ignored.
SILENT_S = 90.0


@dataclass(frozen=True)
class Rate:
    """A second of an instance: its end (epoch s), its length, and bytes read, written and operations, each per s."""

    ended_at: float
    lasted_s: float
    moved: tuple[float, float, float]


@dataclass(frozen=True)
class Beat:
    """The content of one heartbeat."""

    state: str
    step: int | None
    since: float | None
    of: str
    rates: tuple[Rate, ...]


def parse(text: bytes, steps: int, now: float) -> Beat | None:
    """Return the values of a heartbeat that are within bounds. None if it cannot be parsed."""
    try:
        beat = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(beat, dict) or beat.get("state") not in STATES:
        return None
    step, since = beat.get("step"), _number(beat.get("since"), now - 1e6, now + CLOCKS_S)
    lately = beat.get("lately")
    lately = lately if isinstance(lately, dict) and lately.get("of") in SOURCES else {}
    listed = lately.get("rates")
    entries = listed[-MAX_RATES:] if isinstance(listed, list) else []
    rates = tuple(rate for entry in entries if (rate := _rate(entry, now)))
    known = step if type(step) is int and 0 <= step < steps else None
    return Beat(str(beat["state"]), known, since, str(lately.get("of", "")), rates)


def _rate(entry: Any, now: float) -> Rate | None:
    if not isinstance(entry, list) or len(entry) != 5:  # noqa: PLR2004 - see Rate
        return None
    ended_at = _number(entry[0], now - OLDEST_S, now + CLOCKS_S)
    lasted_s = _number(entry[1], 0.0, LONGEST_S)
    moved = [_number(value, 0.0, MAX_PER_S) for value in entry[2:]]
    if ended_at is None or not lasted_s or None in moved:
        return None
    read, written, operations = (float(value or 0.0) for value in moved)
    return Rate(ended_at, lasted_s, (read, written, operations))


def _number(value: Any, least: float, most: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # NaN fails every comparison, and an int may be too large for a float.
    return float(value) if least <= value <= most else None


@dataclass
class Curve:
    """Traffic of an instance by epoch second (bytes read, bytes written, operations), from its heartbeats."""

    until: float = 0.0
    seconds: dict[int, list[float]] = field(default_factory=dict)

    def add(self, rates: Iterable[Rate]) -> None:
        """Add rates that are newer than the known ones. Heartbeats overlap."""
        for rate in rates:
            if rate.ended_at <= self.until + 0.05:
                continue
            self.until = rate.ended_at
            self._spread(rate)
        for second in [second for second in self.seconds if second < self.until - KEPT_S]:
            del self.seconds[second]

    def _spread(self, rate: Rate) -> None:
        """Distribute a rate over its seconds. It may start and end within a second."""
        begun_at = rate.ended_at - rate.lasted_s
        for second in range(math.floor(begun_at), math.ceil(rate.ended_at)):
            share = min(rate.ended_at, second + 1) - max(begun_at, second)
            bins = self.seconds.setdefault(second, [0.0, 0.0, 0.0])
            for place, value in enumerate(rate.moved):
                bins[place] += share * value


@dataclass
class Heartbeats:
    """The heartbeats of a cell's fleet."""

    last: dict[str, Beat] = field(default_factory=dict)
    curves: dict[str, Curve] = field(default_factory=dict)
    begun: dict[int, float] = field(default_factory=dict)
    """When the first instance began each step (epoch s)."""

    def add(self, instance: str, beat: Beat) -> None:
        """Add the newest heartbeat of an instance."""
        self.last[instance] = beat
        self.curves.setdefault(instance, Curve()).add(beat.rates)
        if beat.step is not None and beat.since is not None and beat.state == "running":
            self.begun[beat.step] = min(beat.since, self.begun.get(beat.step, beat.since))

    def step(self) -> int | None:
        """Return the step that most of the fleet has reached: the median; None before any instance reports one."""
        steps = sorted(beat.step for beat in self.last.values() if beat.step is not None)
        return steps[len(steps) // 2] if steps else None

    def rates(self, labels: Mapping[int, str], now: float) -> Rates | None:
        """Return the fleet's sum for each second; None if no traffic is counted."""
        curves = {name: curve for name, curve in self.curves.items() if curve.seconds}
        if not curves:
            return None
        ends = [curve.until for curve in curves.values()]
        heard = [end for end in ends if end > now - SILENT_S]
        # The last second may not be over.
        last = math.floor(min(heard) if heard else max(ends)) - 1
        first = max(last - KEPT_S, min(min(curve.seconds) for curve in curves.values()))
        if last < first:
            return None
        seconds = range(first, last + 1)
        still = (0.0, 0.0, 0.0)

        def sums(place: int) -> list[float]:
            each = (sum(curve.seconds.get(at, still)[place] for curve in curves.values()) for at in seconds)
            return [float(f"{value:.4g}") for value in each]

        return {
            "of": next((beat.of for beat in self.last.values() if beat.of), ""),
            "first": first,
            "read": sums(0),
            "written": sums(1),
            "operations": sums(2),
            "steps": [
                {"at": at, "label": labels.get(step, f"step {step + 1}")}
                for step, at in sorted(self.begun.items())
                if first <= at <= last
            ],
            "instances": len(curves),
        }
