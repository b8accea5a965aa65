"""A small PUT at regular intervals, which shows Poll fleet that this instance is alive and what it is doing."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from agent.errors import AgentError

if TYPE_CHECKING:
    import logging

    from agent.board.blackboard import Blackboard


class Heartbeat:
    """Beats every `period_s` seconds and at each change of state, in a thread of its own."""

    def __init__(self, blackboard: Blackboard, period_s: float, log: logging.Logger) -> None:
        """Start beating with the state "preparing"."""
        self._blackboard = blackboard
        self._period_s = period_s
        self._log = log
        self._state: dict[str, object] = {"state": "preparing", "step": None, "point": None}
        self._wake = threading.Event()
        self._is_over = False
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()

    def say(self, state: str, step: int | None = None, point: str | None = None) -> None:
        """Change the state; the thread tells S3, the caller does not wait."""
        self._state = {"state": state, "step": step, "point": point}
        self._wake.set()

    def stop(self) -> None:
        """End the thread after its last beat."""
        self._is_over = True
        self._wake.set()
        self._thread.join(timeout=10)

    def _beat(self) -> None:
        while True:
            self._wake.clear()
            is_last = self._is_over
            try:
                self._blackboard.put("heartbeat", {"at": time.time(), **self._state})
            except (AgentError, OSError) as err:
                self._log.warning("a heartbeat was lost: %s", err)
            if is_last:
                return
            self._wake.wait(self._period_s)
