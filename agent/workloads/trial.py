"""One measured execution of a point: armed, run, then turned into metrics."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Timer
from typing import TYPE_CHECKING, Any, Callable

from agent.errors import ToolFailed
from agent.machine.steady_state import Steadiness
from agent.programs.processes import Armed, Ended

if TYPE_CHECKING:
    from agent.board.peers import Peers


@dataclass
class Outcome:
    """Result of a verified trial."""

    metrics: dict[str, float]
    work: dict[str, float]
    tool: dict[str, Any]
    raw: dict[str, bytes] = field(default_factory=dict)  # file name suffix -> content
    warnings: list[str] = field(default_factory=list)
    # First start and last end of the work itself (monotonic ns), by the workers' stamps or the tool's own word, without
    # the start of programs, a ramp and a report. None: the programs are the work.
    worked_ns: tuple[int, int] | None = None
    # Bytes of "read" and "write" that the tool claims. If the storage's own counters have fewer, a cache served the
    # rest.
    reached: dict[str, float] = field(default_factory=dict)
    # Ended operations by moment (monotonic ns), in rising order; empty if no engine counted them.
    operations: list[tuple[int, int]] = field(default_factory=list)
    # Of the rate in each second; None if unknown, or with too few seconds.
    steadiness: Steadiness | None = None


@dataclass
class Trial:
    """Programs at their gate, with functions to verify and read their results."""

    armed: Armed
    workers: int
    read: Callable[[list[Ended]], Outcome]

    def run(self) -> list[Ended]:
        """The measured part: open the gate, wait for the last to end."""
        self.armed.release()
        return self.armed.wait()


@dataclass
class ImpatientTrial(Trial):
    """A trial of a tool that is known to stall: ended after `at_most_s`, with a message about it."""

    at_most_s: float
    because: str

    def run(self) -> list[Ended]:
        """The measured part. Raises ToolFailed for a tool that stalls."""
        patience = Timer(self.at_most_s, self.armed.terminate)
        patience.daemon = True
        patience.start()
        try:
            return super().run()
        except ToolFailed as err:
            if patience.finished.is_set():
                raise ToolFailed(f"no end within {self.at_most_s:g} s: {self.because}") from err
            raise
        finally:
            patience.cancel()


@dataclass
class LeadingTrial(Trial):
    """The leader's command, at whose end the others may go on."""

    peers: Peers
    step: int

    def run(self) -> list[Ended]:
        try:
            return super().run()
        finally:
            self.peers.end(self.step)


@dataclass
class ServingTrial(LeadingTrial):
    """What the others do meanwhile: they wait, and run what the leader asks for."""

    def run(self) -> list[Ended]:
        self.armed.release()
        self.peers.await_end(self.step)
        return self.armed.wait()
