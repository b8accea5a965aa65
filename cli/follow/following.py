"""Follow a run until it ends: each poll makes one call for the execution and one query for its rows."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from rich.console import Console
from rich.live import Live

from cli.follow import live_view, progress, spending
from cli.follow.heartbeats import HeartbeatReader, Heartbeats
from cli.follow.interruption import InterruptCounter, Interrupted
from cli.follow.progress import CellProgress, Measured, RunProgress
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.messages.explain import explain
from cli.target.service import Service
from cli.target.traces import Traces
from cli.target.workdir import cloud_log, run_folder
from contract import retryable
from local.keeping.runs import EXECUTION, how_far
from matrix.input.storage_names import NOT_AWS, brief_names
from matrix.terms.documents.plan import PlanCell, PlanDocument
from matrix.terms.sentences import EMULATED

# On AWS each poll costs money, and its rows change only when Poll fleet runs. A local poll takes processor time from
# the measurement: at one poll a second it was a tenth of the local cloud's processor time.
POLL_EVERY_S = {"local": 2.0, "aws": 5.0}
# `matrix watch` on a run with hundreds of measured cells shows it at once and loads their figures over several polls.
MAX_NEW_CELLS = 20
# An agent writes a heartbeat every 30 s, on this machine every 5 s. Reading one costs money, or processor time.
READ_HEARTBEATS_EVERY_S = {"local": 4.0, "aws": 15.0}
MAX_FLEETS = 8
# The network may return within half a minute, so a failed poll does not end the watch.
MAX_FAILED_POLLS = 6
FAILED_POLL_PAUSE_S = 5.0


class View(Protocol):
    """How progress is shown."""

    def show(self, now: RunProgress) -> None:
        """Show a moment of the run."""

    def say(self, line: str) -> None:
        """Add a line."""


class PlainLines:
    """A line for each cell that has ended, with its time, or for each change: for logs and pipes."""

    def __init__(self, console: Console, *, verbose: bool = False) -> None:
        """Write to this console; `verbose`: each change of a cell's or file system's state too."""
        self._console = console
        self._lines = progress.changes if verbose else progress.endings
        self._last: RunProgress | None = None

    def show(self, now: RunProgress) -> None:
        """Print the changes since the last poll."""
        for line in self._lines(self._last, now):
            self.say(f"{line}; {progress.describe_time(now, time.time())}")
        if self._last is None or self._last.execution.status != now.execution.status:
            self.say(_status_line(now))
        self._last = now

    def say(self, line: str) -> None:
        terminal.print_wrapped(self._console, f"{datetime.now().astimezone():%H:%M:%S} {line}")


class LiveScreen:
    """A view that is redrawn in place."""

    def __init__(self, console: Console, environment: str, heartbeats: "FleetHeartbeats | None") -> None:
        self._console = console
        self._environment = environment
        self._heartbeats = heartbeats
        self._last: RunProgress | None = None
        self.live = Live(console=console, get_renderable=self._draw, refresh_per_second=4)

    def show(self, now: RunProgress) -> None:
        """Draw from now on this moment, with what heartbeats say of it."""
        self._last = self._heartbeats.added_to(now) if self._heartbeats else now

    def say(self, line: str) -> None:
        """Print a line above the view."""
        self.live.console.print(line)

    def _draw(self) -> Any:
        if self._last is None:
            return ""
        return live_view.render(self._last, self._console, time.time(), self._environment)


@dataclass
class FleetHeartbeats:
    """The heartbeats of the running cells of a run, read from time to time."""

    service: Service
    run: str
    plan: PlanDocument | None
    _reader: HeartbeatReader = field(default_factory=HeartbeatReader)
    _next_at: float = 0.0

    def added_to(self, progress: RunProgress) -> RunProgress:
        """Return the progress with what the heartbeats of its first running cells say."""
        now = time.time()
        planned = {cell["id"]: cell for cell in self.plan["cells"]} if self.plan else {}
        running = [cell for cell in progress.cells if cell.state in ("waiting", "running") and cell.id in planned]
        is_due = progress.execution.is_running and now >= self._next_at
        if is_due:
            self._next_at = now + READ_HEARTBEATS_EVERY_S[self.service.deployment.environment]
        shown = {}
        for cell in running[:MAX_FLEETS]:
            # They are not part of the run: the view goes on where the user lacks the right to read them.
            with suppress(Exception):
                if is_due:
                    self._read(cell, now)
                shown[cell.id] = _with_heartbeats(cell, planned[cell.id], self._reader.cells[cell.id], now)
        return replace(progress, cells=tuple(shown.get(cell.id, cell) for cell in progress.cells))

    def _read(self, cell: CellProgress, now: float) -> None:
        listing = list(Traces(self.service.deployment).listing(self.run, f"cells/{cell.id}/instances/"))
        self._reader.read(self.service, self.run, cell.id, listing, cell.steps or 0, now)


def _with_heartbeats(cell: CellProgress, planned: PlanCell, heartbeats: Heartbeats, now: float) -> CellProgress:
    """Return a cell at the step that its heartbeats report, which are newer than its row."""
    step = heartbeats.step()
    if step is None:
        return cell
    return replace(
        cell,
        state="running",
        step=max(step, cell.step or 0),
        share=heartbeats.share(step, planned["expected_s"] / len(planned["steps"]), now)
        if step >= (cell.step or 0)
        else 0.0,
        live=heartbeats.traffic(planned["fleet"]["count"], now) or heartbeats.last_result(planned),
        measuring_since=heartbeats.begun.get(0),
    )


@contextmanager
def view(
    console: Console,
    environment: str,
    heartbeats: FleetHeartbeats | None = None,
    *,
    plain: bool = False,
    verbose: bool = False,
) -> Iterator[View]:
    """Open the view that suits the console: live on a terminal, plain lines elsewhere or where asked for.

    `heartbeats`: of a run that goes on; only the live view reads them. `verbose`: plain lines, one for each change.
    """
    if plain or verbose or not console.is_terminal:
        yield PlainLines(console, verbose=verbose)
        return
    screen = LiveScreen(console, environment, heartbeats)
    with screen.live:
        yield screen


def _status_line(now: RunProgress) -> str:
    execution = now.execution
    reason = f" ({execution.error})" if execution.error else ""
    return f"run {execution.run}: {execution.status}{reason}, {now.counts()}"


def look(
    service: Service,
    run: str,
    plan: PlanDocument | None,
    measured: dict[str, Measured | None] | None = None,
    *,
    was_running: bool = False,
) -> RunProgress:
    """Poll once. Read the execution first: rows read after its end are final.

    `measured` keeps the figures of cells between polls, so that each cell's figures are read once. They are read as
    long as the run goes on, and once more after a poll at which it `was_running`: a cell that ends with its run has
    figures too, and of a run that ended before the first poll the answer has them.
    """
    execution = service.execution(run)
    rows = service.progress_rows(run)
    if measured is not None and (execution.is_running or was_running):
        new = [row["cell"] for row in rows if row.get("state") == "measured" and row.get("cell") not in measured]
        for cell in new[:MAX_NEW_CELLS]:
            measured[cell] = Measured.of(service.point_rows(run, cell))
    now = progress.read(rows, plan, execution, measured)
    if plan is None:
        return now
    cost = spending.describe_spending(spending.spent(rows, now, plan, time.time()))
    names = brief_names(((system["id"], system["storage"]) for system in plan["file_systems"]), mark="")
    return replace(now, cost=cost, names=names, mark=NOT_AWS if plan.get("environment") == EMULATED else "")


def follow(
    service: Service, run: str, plan: PlanDocument | None, shown: View, closing: InterruptCounter
) -> RunProgress:
    """Show a run until it ends; raises Interrupted if the user wants it to end before."""
    failed_polls = 0
    was_running = False
    measured: dict[str, Measured | None] = {}
    while True:
        if closing.is_wanted:
            raise Interrupted
        seen = _kept_at(service, run)
        try:
            now = look(service, run, plan, measured, was_running=was_running)
            if failed_polls:
                shown.say(f"run {run} is seen again")
            failed_polls = 0
        except Exception as error:
            # Also UnknownRun: the run was started or seen just now, and DescribeExecution is eventually consistent.
            # https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeExecution.html
            refuse_dead_cloud(service, run)
            failed_polls += 1
            if failed_polls >= MAX_FAILED_POLLS or not retryable.verdict(error).is_retryable:
                raise _lost_sight(service, run, error) from error
            if failed_polls == 1:
                shown.say(f"run {run} is not seen, looking again: {explain(error).message}")
            closing.sleep(FAILED_POLL_PAUSE_S)
            continue
        shown.show(now)
        was_running = now.execution.is_running
        if not was_running:
            return now
        is_over = partial(_is_kept_again, service, run, seen)
        closing.sleep(POLL_EVERY_S[service.deployment.environment], is_over=is_over)


def stopped_looking(service: Service, run: str) -> CommandError:
    """Return the error for the end of a view of a run that another command has started."""
    again = f"matrix watch {run} {service.deployment.flag}"
    return CommandError("stopped looking; the run goes on", f"again: `{again}`", ExitCode.INTERRUPTED)


def refuse_dead_cloud(service: Service, run: str) -> None:
    """Raise CommandError if the local cloud has ended, because its run ended too; on AWS a run goes on without the
    command."""
    if not service.deployment.has_ended:
        return
    raise CommandError(
        f"the local cloud has ended, and run {run} with it: {how_far(run_folder(run))}",
        f"see what there is: `matrix results {run} --local`; why it ended may stand in {cloud_log()}",
    )


def _kept_at(service: Service, run: str) -> int:
    """Return when a local execution was last kept (ns): when it began or ended. 0 before, and on AWS."""
    if service.deployment.environment == "local":
        with suppress(FileNotFoundError):
            return (run_folder(run) / EXECUTION).stat().st_mtime_ns
    return 0


def _is_kept_again(service: Service, run: str, seen: int) -> bool:
    return _kept_at(service, run) != seen


def _lost_sight(service: Service, run: str, error: Exception) -> CommandError:
    failure = explain(error)
    again = f"the run itself goes on; look again with `matrix watch {run} {service.deployment.flag}`"
    advice = f"{failure.advice}; {again}" if failure.advice else again
    return CommandError(f"lost sight of run {run}: {failure.message}", advice)
