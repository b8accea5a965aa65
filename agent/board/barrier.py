"""The fleet's start barrier: report ready, open the gate if all are ready, else wait for it; start at its time.

The last ready instance sees all marks in its listing and opens the gate, because S3 listings show every write that was
answered before the listing began. A few others list again now and then, in case the last one ends between its mark and
its listing; Poll fleet does so in case all of them end. A conditional write allows only one gate, so the number of
openers does not matter. Every instance uses only the gate that it reads, including the one that opened it. The figures
are in docs/performance.md.
"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.board.barrier_objects import Unanswered
from agent.errors import AgentError, BarrierTimeout, GateForged
from agent.retrying import GaveUp, Series, pauses_until, retried
from contract import gates
from contract.keys import instance_of

if TYPE_CHECKING:
    from agent.board.barrier_objects import BarrierObjects

# time.sleep wakes up to about 1 ms late, so the last 2 ms are spent polling the clock.
SPIN_S = 0.002
# Launch fleet writes the roster within seconds of the launch, mostly before the first instance has booted.
ROSTER_S = 0.3
# On a busy machine requests take long, so others see the gate later too: the margin is three times the duration of the
# ready mark and the listing, at this step or the one before, up to this limit. Seen at a load of 20 on two cores, where
# six agents had just booted: half of them saw their first gate 2 s late, and the others had the storage to themselves.
MAX_BUSY_MARGIN_S = 5.0
_DICE = random.SystemRandom()


@dataclass(frozen=True)
class BarrierRule:
    """How long the parts of a start barrier may take."""

    poll_s: float  # between two polls of the gate
    margin_s: float  # from the opening of a gate to the start
    request_s: float  # that one request about a gate may take
    timeout_s: float


class Barrier:
    """Waits for the other instances before each step."""

    def __init__(self, barrier_objects: BarrierObjects, userid: str, rule: BarrierRule) -> None:
        """`userid` is the role's name for this instance (role id:instance id)."""
        self._objects, self._userid, self._rule = barrier_objects, userid, rule
        self._roster: frozenset[str] | None = None
        self._has_begun = False
        self._ready_at: float | None = None
        self._said_in_s = self._took_s = self._took_before_s = 0.0

    def wait(self, step: int) -> float:
        """Return the fleet's start of a step (epoch seconds) after its gate has opened.

        Raises BarrierTimeout after the rule's timeout, GateForged if no agent of the fleet wrote the gate.
        """
        give_up_at = time.monotonic() + self._rule.timeout_s
        watch = _Watch(self._objects, step)
        listing = Series(f"opening the gate of step {step}")
        self._ready_at = None
        self._took_before_s = self._took_s
        self._say_ready(step, give_up_at)
        # Two threads poll the gate in turn, so that a slow response delays only one of them.
        other = threading.Thread(target=watch.repeat, args=(self._rule.poll_s,), name="gate", daemon=True)
        other.start()
        try:
            list_at = time.monotonic()
            while True:
                if time.monotonic() >= list_at:
                    list_at = time.monotonic() + self._list_and_open(step, listing)
                watch.look()
                if watch.is_over.wait(2 * self._rule.poll_s * _jitter()):
                    if watch.refusal is not None:
                        raise watch.refusal
                    self._has_begun = True
                    return self._checked(step, *watch.gate)
                if time.monotonic() >= give_up_at:
                    raise BarrierTimeout(
                        f"the gate of step {step} did not open within {self._rule.timeout_s:g} s (last seen:"
                        f" {watch.last_seen}); another instance of the fleet is not ready, see its log.gz"
                    )
        finally:
            watch.is_over.set()
            watch.looks.closed()
            listing.closed()

    def _say_ready(self, step: int, give_up_at: float) -> None:
        def say() -> None:
            began = time.monotonic()
            self._objects.say_ready(step, self._userid)
            self._said_in_s = time.monotonic() - began

        try:
            retried(f"the mark of step {step}", say, pauses_until(give_up_at, lambda: _DICE.uniform(0.1, 0.5)))
        except GaveUp as err:
            raise BarrierTimeout(f"this instance could not say that it is ready: {err}") from err

    def _list_and_open(self, step: int, listing: Series) -> float:
        """Open the gate if all are ready; return after how many seconds to list again."""
        try:
            if not self._has_begun:
                # A launch that crashed and is repeated may have other instances.
                self._roster = self._objects.roster()
            if self._roster is None:
                return ROSTER_S * _jitter()
            began = time.monotonic()
            marks = self._objects.ready(step)
            self._took_s = self._said_in_s + time.monotonic() - began
            busy_margin_s = 3 * max(self._took_s, self._took_before_s)
            self._ready_at = marks.get(self._userid)
            if self._roster <= {instance_of(userid) for userid in marks}:
                start_at = time.time() + max(self._rule.margin_s, min(MAX_BUSY_MARGIN_S, busy_margin_s))
                self._objects.open(step, {"step": step, "start_at": start_at, "opener": self._userid})
        except Unanswered as err:
            listing.failed(err)
            return _DICE.uniform(0.1, 0.3)
        listing.succeeded()
        rank = sum(userid < self._userid for userid in marks)
        return gates.STANDBY_S * (rank + 1) if rank < gates.STANDBYS else gates.SELDOM_S

    def _checked(self, step: int, body: bytes, opened_at: float) -> float:
        """Return the start time in a gate, after checks: any program on an instance may have written the gate."""
        try:
            start_at = gates.start_of(body, step, opened_at)
        except gates.NotBelieved as err:
            raise GateForged(str(err)) from err
        if self._ready_at is not None and opened_at < self._ready_at - gates.GRAIN_S:
            early_s = self._ready_at - opened_at
            raise GateForged(f"the gate of step {step} was opened {early_s:.0f} s before this instance was ready")
        return start_at


class _Watch:
    """Shared by two threads that poll a step's gate, until either sees it."""

    def __init__(self, barrier_objects: BarrierObjects, step: int) -> None:
        self.is_over = threading.Event()
        self.gate: tuple[bytes, float] = (b"", 0.0)
        self.refusal: AgentError | None = None  # of the other thread, which cannot raise it to anybody
        self.last_seen = "no gate"
        # An outage of S3 shorter than the barrier's timeout is not a failure.
        self.looks = Series(f"the gate of step {step}")
        self._objects, self._step = barrier_objects, step

    def look(self) -> None:
        """Ask S3 once."""
        try:
            gate = self._objects.gate(self._step)
        except Unanswered as err:
            self.last_seen = str(err)
            self.looks.failed(err)
            return
        self.looks.succeeded()
        self.last_seen = "no gate"
        if gate is not None and not self.is_over.is_set():
            self.gate = gate
            self.is_over.set()

    def repeat(self, poll_s: float) -> None:
        """Poll between the polls of the other thread until the gate exists."""
        pause_s = poll_s
        while not self.is_over.wait(pause_s * _jitter()):
            try:
                self.look()
            except AgentError as err:
                self.refusal = err
                self.is_over.set()
            pause_s = 2 * poll_s


def _jitter() -> float:
    """Return about 1, so that 1,000 instances do not ask at the same instant."""
    return _DICE.uniform(0.9, 1.1)


def sleep_until(due: float) -> None:
    """Return at `due` (monotonic seconds), less than a millisecond late; at once when it is past."""
    while (remaining_s := due - time.monotonic()) > 0:
        if remaining_s > SPIN_S:
            time.sleep(remaining_s - SPIN_S)
