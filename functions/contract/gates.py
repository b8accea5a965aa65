"""The gate of a step: what it holds, who opens it when, and which gates are believed."""

from __future__ import annotations

import json

# Of a gate no more is read: another instance may have written anything.
MOST_BYTES = 1_000
# A gate's start lies at most so long after its writing (the largest margin is 10 s, of emulated machines).
LATEST_START_S = 15.0
# S3 tells times in whole seconds.
GRAIN_S = 1.0
# An instance that says ready last opens the gate. The five whose names come first among the marks list again every 2,
# 4, 6, 8 and 10 s, all others seldom: were all of 1,000 to list often, S3 would throttle them.
STANDBYS, STANDBY_S, SELDOM_S = 5, 2.0, 30.0
# Poll fleet opens what no instance has opened by then: it leaves the last of the five its turn, and half of that more.
OVERDUE_S = 1.5 * STANDBYS * STANDBY_S


class NotBelieved(Exception):
    """No agent of ours has written this gate; the message says what it holds."""


def start_of(body: bytes, step: int, opened_at: float) -> float:
    """Return the start (epoch seconds) that a step's gate says, which S3 has dated with `opened_at`.

    Any instance of the fleet may have written it, whatever runs there. Raises NotBelieved.
    """
    try:
        gate = json.loads(body)
        start_at, is_of_step = float(gate["start_at"]), gate["step"] == step
    except (ValueError, TypeError, KeyError, RecursionError) as err:
        raise NotBelieved(f"the gate of step {step} is not readable: {body[:100]!r}") from err
    if not is_of_step or not opened_at - GRAIN_S <= start_at <= opened_at + LATEST_START_S:
        raise NotBelieved(f"the gate of step {step}, written at {opened_at:.0f}, says {body[:200]!r}")
    return start_at
