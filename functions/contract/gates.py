"""The gate of a step: its content, the times at which instances open it, and the checks before a gate is used."""

from __future__ import annotations

import json

# Nothing beyond this is read of a gate, because another instance may have written any content.
MAX_BYTES = 1_000
# A gate's start is at most this long after its writing (the largest margin is 10 s, of emulated machines).
LATEST_START_S = 15.0
# S3 reports times in whole seconds.
GRAIN_S = 1.0
# The last ready instance opens the gate. The five instances whose names come first among the marks list again every 2,
# 4, 6, 8 and 10 s, all others rarely: if all of 1,000 listed often, S3 would throttle them.
STANDBYS, STANDBY_S, SELDOM_S = 5, 2.0, 30.0
# Poll fleet opens a gate that no instance has opened by then: after the turn of the last of the five, plus half of it.
OVERDUE_S = 1.5 * STANDBYS * STANDBY_S


class NotBelieved(Exception):
    """No agent of the fleet wrote this gate; the message has its content."""


def start_of(body: bytes, step: int, opened_at: float) -> float:
    """Return the start time (epoch seconds) in a step's gate; `opened_at` is S3's time of the gate.

    Any program on an instance of the fleet may have written the gate. Raises NotBelieved.
    """
    try:
        gate = json.loads(body)
        start_at, is_of_step = float(gate["start_at"]), gate["step"] == step
    except (ValueError, TypeError, KeyError, RecursionError) as err:
        raise NotBelieved(f"the gate of step {step} is not readable: {body[:100]!r}") from err
    if not is_of_step or not opened_at - GRAIN_S <= start_at <= opened_at + LATEST_START_S:
        raise NotBelieved(f"the gate of step {step}, written at {opened_at:.0f}, says {body[:200]!r}")
    return start_at
