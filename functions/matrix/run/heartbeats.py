"""The content of a heartbeat: an instance's current step, its last result, its traffic, and its failing attempts.

An instance writes its own heartbeat, so no value is trusted: values out of bounds are left out. Pure.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matrix.terms.printable import printable

MAX_BYTES = 20_000
# An agent writes up to 45 rates of at most 32 s each.
MAX_RATES, LONGEST_S, OLDEST_S, CLOCKS_S = 64, 64.0, 1200.0, 5.0
MAX_PER_S = 1e13
MAX_STEPS, MAX_METRICS = 10_000, 100
# Number of failing attempts that are shown; mostly there is one.
MAX_TROUBLES, MAX_LETTERS = 3, 1000
STATES = ("preparing", "waiting", "running", "done")
SOURCES = ("disk", "network")


@dataclass(frozen=True)
class Rate:
    """A second of an instance: its end (epoch s), its length, and bytes read, written and operations, each per s."""

    ended_at: float
    lasted_s: float
    moved: tuple[float, float, float]


@dataclass(frozen=True)
class Heartbeat:
    """The content of one heartbeat."""

    state: str
    step: int | None
    """From 0; None before the first."""
    point: str
    since: float | None
    """When its state began, epoch s."""
    troubles: tuple[str, ...]
    """Attempts that go on failing, in words."""
    last: Mapping[str, float]
    """Metrics of its last finished step."""
    of: str
    """Where the rates are counted, one of SOURCES; empty if there are none."""
    counter: str
    """The same for instances that count the same traffic, because they share a machine and its disk or network."""
    rates: tuple[Rate, ...]


def parse(text: bytes, now: float, steps: int = MAX_STEPS) -> Heartbeat | None:
    """Return the values of a heartbeat that are within bounds. None if it cannot be parsed."""
    try:
        heartbeat = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(heartbeat, dict) or heartbeat.get("state") not in STATES:
        return None
    step, lately = heartbeat.get("step"), heartbeat.get("lately")
    lately = lately if isinstance(lately, dict) and lately.get("of") in SOURCES else {}
    return Heartbeat(
        state=str(heartbeat["state"]),
        step=step if type(step) is int and 0 <= step < steps else None,
        point=_words(heartbeat.get("point")),
        since=_number(heartbeat.get("since"), now - 1e6, now + CLOCKS_S),
        troubles=tuple(filter(None, map(_words, _list(heartbeat.get("troubles"))[:MAX_TROUBLES]))),
        last=_metrics(heartbeat.get("last")),
        of=str(lately.get("of", "")),
        counter=_words(lately.get("counter")),
        rates=tuple(rate for entry in _list(lately.get("rates"))[-MAX_RATES:] if (rate := _rate(entry, now))),
    )


def _words(value: Any) -> str:
    return " ".join(printable(value[:MAX_LETTERS]).split()) if isinstance(value, str) else ""


def _metrics(value: Any) -> dict[str, float]:
    known = list(value.items())[:MAX_METRICS] if isinstance(value, dict) else []
    return {name: figure for name, each in known if (figure := _number(each, 0.0, MAX_PER_S)) is not None}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


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
