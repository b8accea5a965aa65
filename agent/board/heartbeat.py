"""A small PUT at regular intervals: it shows Poll fleet that this instance lives, and a person what it is doing."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from agent.errors import AgentError

if TYPE_CHECKING:
    import logging

    from agent.board.blackboard import Blackboard


class Heartbeat:
    """Beats at once, every `period_s` seconds, and at the end, in a thread of its own.

    A change of state waits for the next beat: 1,000 instances with three changes at each of 60 steps would put 0.90 USD
    of objects that nobody reads but who follows their logs.
    """

    def __init__(self, blackboard: Blackboard, period_s: float, log: logging.Logger) -> None:
        """Start beating with the state "preparing"."""
        self._blackboard = blackboard
        self._period_s = period_s
        self._log = log
        self._state: dict[str, object] = {"state": "preparing", "step": None, "point": None}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()

    def say(self, state: str, step: int | None = None, point: str | None = None) -> None:
        """Change the state that the next beat says."""
        self._state = {"state": state, "step": step, "point": point}

    def stop(self) -> None:
        """End the thread after its last beat."""
        self._over.set()
        self._thread.join(timeout=10)

    def _beat(self) -> None:
        while True:
            is_last = self._over.is_set()
            try:
                self._blackboard.put("heartbeat", {"at": time.time(), **self._state})
            except (AgentError, OSError) as err:
                self._log.warning("a heartbeat was lost: %s", err)
            if is_last:
                return
            self._over.wait(self._period_s)
