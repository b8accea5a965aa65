"""Signals as exceptions, so that one `finally` cleans up after every way to end."""

from __future__ import annotations

import signal
import time
from types import FrameType

from agent.errors import DeadlinePassed, Terminated


def listen() -> None:
    """Raise Terminated at SIGTERM (shutdown, a terminated instance) and SIGINT."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _terminated)


def set_deadline(deadline_at: float | None) -> None:
    """Raise DeadlinePassed at `deadline_at` (epoch seconds), even while the agent waits."""
    if deadline_at is None:
        return
    remaining_s = deadline_at - time.time()
    if remaining_s <= 0:
        raise DeadlinePassed(f"the cell's deadline was {-remaining_s:.0f} s ago; raise it or measure less in this cell")

    def ring(number: int, frame: FrameType | None) -> None:
        del number, frame
        ignore()
        raise DeadlinePassed("the cell's deadline passed before its last step; raise it or measure less in this cell")

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, remaining_s)


def ignore() -> None:
    """Ignore all interruptions from now on, for the last uploads; only the instance's watchdog still bounds them."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


def _terminated(number: int, frame: FrameType | None) -> None:
    del frame
    ignore()
    raise Terminated(f"the agent was asked to end by {signal.Signals(number).name}")
