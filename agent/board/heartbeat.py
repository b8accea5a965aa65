"""A small PUT at regular intervals: it shows Poll fleet that this instance lives, and users its current activity."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from agent.errors import AgentError, BlackboardUnavailable
from agent.retrying import LOG, Series, troubles
from contract.keys import HEARTBEAT

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.board.blackboard import Blackboard


class Heartbeat:
    """Writes a heartbeat at once, every `period_s` seconds, and at the end, in its own thread.

    A change of state waits for the next heartbeat: 1,000 instances with three changes at each of 60 steps would write
    objects for 0.90 USD, which only users who follow the logs read.

    Current failures are included as `troubles`: an instance that cannot report ready can still report the reason.
    """

    def __init__(self, blackboard: Blackboard, period_s: float) -> None:
        """Start beating with the state "preparing"."""
        self._blackboard = blackboard
        self._period_s = period_s
        self._state: dict[str, object] = {"state": "preparing", "step": None, "point": None, "since": None}
        self._more: Callable[[], dict[str, Any]] = dict
        self._refusal = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._write, name="heartbeat", daemon=True)
        self._thread.start()

    def say(self, state: str, step: int | None = None, point: str | None = None) -> None:
        """Change the state in the next heartbeat.

        Raises BlackboardUnavailable if heartbeats fail: without them the instance counts as silent.
        """
        if self._refusal:
            raise BlackboardUnavailable(self._refusal)
        self._state = {"state": state, "step": step, "point": point, "since": round(time.time(), 1)}

    def tell(self, more: Callable[[], dict[str, Any]]) -> None:
        """Include in each heartbeat what `more` returns then."""
        self._more = more

    def stop(self) -> None:
        """End the thread after its last heartbeat."""
        self._over.set()
        self._thread.join(timeout=10)

    def _extra(self) -> dict[str, Any]:
        try:
            return self._more()
        except Exception:
            # It is for people who watch; an instance without heartbeats counts as dead, and its results are lost.
            LOG.exception("a heartbeat goes without recent rates")
            return {}

    def _write(self) -> None:
        attempts = Series("a heartbeat")
        while True:
            is_last = self._over.is_set()
            heartbeat: dict[str, object] = {"at": time.time(), **self._state, **self._extra()}
            if unmended := troubles():
                heartbeat["troubles"] = unmended
            try:
                self._blackboard.put(HEARTBEAT, heartbeat)
            except (AgentError, OSError) as err:
                if not attempts.failed(err).is_retryable:
                    self._refusal = str(err)
                    return
            else:
                attempts.succeeded()
            if is_last:
                return
            self._over.wait(self._period_s)
