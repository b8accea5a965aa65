"""Retries: their log lines, their reports in heartbeats, and their end.

For a series of failures, the log has the first one with its reason, at once, and the outcome, but not each of possibly
thousands. During the series, heartbeats include it, so that Poll fleet can report why an instance waits. A failure that
no retry can fix (contract/retryable.py) ends the series at once.

tenacity and stamina, the usual libraries, do less: they repeat one call and sleep. Here two threads poll for a gate, an
event interrupts their pauses, and a series is reported elsewhere. They would also be one more package in the agent's
zip.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Callable, TypeVar

from contract import retryable

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")
LOG = logging.getLogger("agent")
_lock = threading.Lock()
_open: dict[int, Series] = {}


class NotYet(Exception):
    """The expected state is not reached yet; the message has the observed one."""

    is_retryable = True


class GaveUp(Exception):
    """A series ended with a failure that a further attempt might have fixed; the message summarises the series."""

    is_retryable = False


class Series:
    """Failed attempts at one thing, in a row. Threads may share it."""

    def __init__(self, what: str) -> None:
        """`what` names the attempted action or object as a noun: "the mark of step 3"."""
        self.what = what
        self._failures, self._first_at, self._reason = 0, 0.0, ""

    def failed(self, error: BaseException) -> retryable.Verdict:
        """Record a failure; return whether another attempt can fix it."""
        verdict = retryable.verdict(error)
        with _lock:
            self._failures += 1
            self._reason = verdict.reason
            is_first = self._failures == 1
            if is_first:
                self._first_at = time.monotonic()
            _open[id(self)] = self
        if not verdict.is_retryable:
            LOG.error("%s: given up, no retry can fix this: %s", self.what, verdict.reason)
            self._forget()
        elif is_first:
            LOG.warning("%s: tried again after: %s", self.what, verdict.reason)
        return verdict

    def succeeded(self) -> None:
        """Take a success: it ends the series."""
        if self._failures:
            LOG.info("%s: well after %s", self.what, self._how_long())
            self._forget()

    def closed(self) -> None:
        """End the series, whether it succeeded or not."""
        if self._failures:
            LOG.info("%s", self)
            self._forget()

    def __str__(self) -> str:
        """Summarise the series so far; empty without a failure."""
        return f"{self.what}: {self._how_long()}, lastly: {self._reason}" if self._failures else ""

    def _how_long(self) -> str:
        times = "1 failed attempt" if self._failures == 1 else f"{self._failures} failed attempts"
        return f"{times} in {time.monotonic() - self._first_at:.1f} s"

    def _forget(self) -> None:
        with _lock:
            _open.pop(id(self), None)
            self._failures = 0


def troubles() -> list[str]:
    """Return descriptions of all current series of failures."""
    with _lock:
        return [str(series) for series in _open.values()]


def retried(what: str, call: Callable[[], T], pauses: Iterator[float]) -> T:
    """Return the result of `call`, called again after each pause (s) while another attempt can fix its failure.

    Raises the failure that no attempt can fix, or GaveUp after the last pause.
    """
    series = Series(what)
    while True:
        try:
            answer = call()
        except Exception as err:
            if not series.failed(err).is_retryable:
                raise
            pause_s = next(pauses, None)
            if pause_s is None:
                words = str(series)
                series.closed()
                raise GaveUp(words) from err
        else:
            series.succeeded()
            return answer
        time.sleep(pause_s)


def pauses_until(give_up_at: float, draw: Callable[[], float]) -> Iterator[float]:
    """Yield pauses until a moment (time.monotonic)."""
    while time.monotonic() < give_up_at:
        yield draw()


def patience(seconds: float, pause_s: float) -> Iterator[float]:
    """Return equal pauses for so many seconds from now."""
    return pauses_until(time.monotonic() + seconds, lambda: pause_s)
