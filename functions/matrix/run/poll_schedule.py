"""When to poll a fleet: at the planned interval, and sooner near its expected end, to notice it at once."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matrix.input.pace import LEAST_LOOK_S


@dataclass(frozen=True)
class Look:
    """The next poll of a fleet: seconds until then, and the number of early polls that may follow."""

    wait_s: int
    early_looks: int


def left_s(points: Sequence[str], opened_at: Mapping[int, float], now: float) -> float | None:
    """Return the seconds until the expected end of a fleet; a negative value is the time since then.

    `points` is the point of each step, `opened_at` when (epoch s) the gate of each step so far was opened. A step takes
    as long as the one before it of the same point, or else as the mean of all. None: none has been taken yet.
    """
    last = max(opened_at, default=0)
    if last == 0:
        return None
    mean_s = (opened_at[last] - opened_at[0]) / last
    took_s = {points[step]: opened_at[step + 1] - opened_at[step] for step in range(last)}
    return opened_at[last] - now + sum(took_s.get(point, mean_s) for point in points[last:])


def next_look(poll_s: int, early_looks: int, left_s: float | None) -> Look:
    """Return the next poll of a fleet that is polled each `poll_s` seconds and is expected to end in `left_s`.

    The poll comes at the expected end. An overdue fleet is polled again after as long as it has been overdue, at least
    5 s. A poll never comes later than planned, and as planned if no early polls are left.
    """
    if left_s is None or not early_looks:
        return Look(poll_s, early_looks)
    wait_s = max(LEAST_LOOK_S, math.ceil(abs(left_s)))
    return Look(wait_s, early_looks - 1) if wait_s < poll_s else Look(poll_s, early_looks)
