"""Virtual time: it stands still while anybody works, and jumps to the next moment at which somebody is due."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable


class Clock:
    """The time of one run, in epoch seconds.

    Threads of the interpreter `wait`; time goes on once as many of them wait as `active` says that there are. What is
    due `at` a moment is called by whichever thread came last. So one thread at a time works, in the same order always.
    """

    def __init__(self, now: float) -> None:
        """Begin at a moment."""
        self.now = now
        self.active: Callable[[], int] = lambda: 1
        self.slept_s = 0.0  # by a function, within its call
        self._lock = threading.RLock()
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._waiting = 0

    def time(self) -> float:
        """Return the time, as `time.time` does."""
        return self.now + self.slept_s

    monotonic = time

    def sleep(self, seconds: float) -> None:
        """Let a function sleep within its call: nothing else happens meanwhile."""
        self.slept_s += seconds

    def at(self, moment: float, call: Callable[[], None]) -> None:
        """Call something at a moment."""
        with self._lock:
            heapq.heappush(self._due, (moment, next(self._order), call))

    def wait(self, seconds: float) -> None:
        """Let a thread of the interpreter wait."""
        woken = threading.Event()

        def wake() -> None:
            self._waiting -= 1
            woken.set()

        with self._lock:
            self.at(self.now + seconds, wake)
            self._waiting += 1
            self.go_on()
        woken.wait()

    def go_on(self) -> None:
        """Let time go on if all who are active wait; to be called also when one of them is active no more."""
        with self._lock:
            while self._due and 0 < self._waiting >= self.active():
                moment, _, call = heapq.heappop(self._due)
                self.now = max(self.now, moment)
                call()
