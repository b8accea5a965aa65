"""Stop a run from the browser, as Ctrl-C does: the execution stops, Reap deletes, the receipt is written."""

import os
import signal
import threading
from dataclasses import dataclass, field
from typing import Protocol

from cli.console.documents import Stopping, StopView
from cli.follow import interruption, running
from cli.follow.interruption import InterruptCounter
from cli.follow.progress import RunProgress
from cli.messages.explain import explain
from cli.target.documents import readable
from cli.target.run_documents import RunDocuments
from cli.target.service import Service

MAX_LINES = 200


class Stop(Protocol):
    """The action of the Stop button."""

    def start(self, run: str) -> None:
        """Start to stop a run; repeated calls have no effect."""

    def view(self, run: str) -> StopView:
        """Return the state of the stop."""


@dataclass
class _Lines:
    """Collects the messages of the clean-up."""

    lines: list[str] = field(default_factory=list)

    def say(self, line: str) -> None:
        self.lines.append(line)
        del self.lines[:-MAX_LINES]

    def show(self, now: RunProgress) -> None:
        """Show nothing: the page shows the run itself."""


@dataclass
class OwnStop:
    """Stops a run from this process, as `matrix stop` does."""

    service: Service
    _views: dict[str, tuple[Stopping, _Lines]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, run: str) -> None:
        """Start to stop the run in a thread."""
        with self._lock:
            if self._views.get(run, ("no",))[0] in ("stopping", "stopped"):
                return
            lines = _Lines()
            self._views[run] = "stopping", lines
        # Not a daemon thread: the clean-up finishes even if the command exits.
        threading.Thread(target=self._stop, args=(run, lines), name=f"stop {run}").start()

    def _stop(self, run: str, lines: _Lines) -> None:
        state: Stopping = "failed"
        try:
            last, clean = running.stop(
                self.service, run, readable(RunDocuments(self.service, run).plan), lines, InterruptCounter()
            )
            for line in interruption.what_became(last, clean, self.service):
                lines.say(line.strip())
            state = "stopped" if clean.is_complete else state
        except Exception as error:
            lines.say(explain(error).message)
        self._views[run] = state, lines

    def view(self, run: str) -> StopView:
        state, lines = self._views.get(run, ("no", _Lines()))
        return {"state": state, "lines": list(lines.lines)}


@dataclass
class AsCtrlC:
    """Stops the run that this process follows by SIGINT, as Ctrl-C does. The terminal shows the progress."""

    run: str
    others: Stop
    """For other runs of the deployment."""
    lines: list[str] = field(default_factory=list)
    """The command's messages about the stopped run."""
    has_ended: bool = False
    """Whether the command has finished its clean-up."""
    is_asked: bool = False
    """Whether the button was pressed for the run that this process follows."""

    def start(self, run: str) -> None:
        """Send the signal once."""
        if run != self.run:
            self.others.start(run)
        elif not self.is_asked:
            self.is_asked = True
            os.kill(os.getpid(), signal.SIGINT)

    def view(self, run: str) -> StopView:
        """Return the progress of the command's stop."""
        if run != self.run:
            return self.others.view(run)
        if not self.is_asked:
            return {"state": "no", "lines": []}
        return {"state": "stopped" if self.has_ended else "stopping", "lines": list(self.lines)}
