"""The fleet's barrier: write ready, wait until the gate of this step opens, sleep until the start time in it."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

from agent.errors import BarrierTimeout, BlackboardUnavailable

if TYPE_CHECKING:
    from agent.board.blackboard import Blackboard

# time.sleep wakes up to about 1 ms late, so the last 2 ms are spent polling the clock.
SPIN_S = 0.002


class Barrier:
    """Waits for the other instances before each step."""

    def __init__(self, blackboard: Blackboard, poll_s: float, timeout_s: float) -> None:
        """Poll gate.json every `poll_s` seconds; give a step's gate `timeout_s` seconds to open."""
        self._blackboard = blackboard
        self._poll_s = poll_s
        self._timeout_s = timeout_s

    def wait(self, step: int) -> float:
        """Put ready-<step> and return the fleet's start time (epoch seconds) once the gate has opened."""
        self._blackboard.put(f"ready-{step:04d}", {"at": time.time()})
        give_up_at = time.monotonic() + self._timeout_s
        seen: object = "nothing"
        while time.monotonic() < give_up_at:
            try:
                gate = self._blackboard.gate()
            except BlackboardUnavailable as err:
                seen = err  # an outage of S3 shorter than the barrier's timeout is no failure
            else:
                seen = gate if gate is not None else "no gate.json"
                if gate is not None and gate["step"] >= step:
                    return self._start_time(step, gate)
            # Jitter, so that 1,000 instances do not ask at the same instant.
            time.sleep(self._poll_s * random.uniform(0.9, 1.1))  # noqa: S311
        raise BarrierTimeout(
            f"the gate of step {step} did not open within {self._timeout_s:g} s (last seen: {seen}); "
            "another instance of the fleet is not ready, see its log.gz"
        )

    @staticmethod
    def _start_time(step: int, gate: dict[str, Any]) -> float:
        if gate["step"] > step:
            raise BarrierTimeout(
                f"the fleet went on to step {gate['step']} while this instance was getting ready for step {step}"
            )
        return float(gate["start_at"])


def sleep_until(start_at: float) -> None:
    """Return at `start_at` (epoch seconds), less than a millisecond late; at once when it is past."""
    while (remaining_s := start_at - time.time()) > 0:
        if remaining_s > SPIN_S:
            time.sleep(remaining_s - SPIN_S)
