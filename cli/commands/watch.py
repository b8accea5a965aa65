"""`matrix watch`: the live view of a run that is in progress."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import typer
from rich.console import Console

from cli.console import opening
from cli.follow import following, progress, running
from cli.follow.following import View
from cli.follow.interruption import InterruptCounter, Interrupted
from cli.follow.progress import NOT_MEASURED, RunProgress
from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import CommandError, NoLocalCloud, UnknownRun, UnreadableRun
from cli.messages.explain import explain
from cli.target import deployment, run_folders
from cli.target.documents import note, readable
from cli.target.place import Place
from cli.target.run_documents import RunDocuments
from cli.target.run_folders import RunFolders
from cli.target.service import Execution, Service
from cli.target.summaries import LATEST
from cli.target.traces import Traces
from matrix.terms.consoles import execution_address
from matrix.terms.documents.plan import PlanDocument


def watch(
    run: options.RunName,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    web: options.Web = False,
    as_json: options.AsJson = False,
    verbose: options.Verbose = False,
) -> None:
    """Follow a run.

    It shows the live view until the run ends, or the answer if it has ended. Without --local or --stack it looks in the
    local cloud if one is running, else on AWS. `latest` is the newest run, including those kept here. Ctrl-C ends the
    view; the run goes on.

    Example: matrix watch latest
    """
    place = Place(local, stack, region)
    if run == LATEST:
        run = _newest(place)
    kept = None if place.is_on_aws else _kept(run)
    if kept is not None and not kept.is_running:
        if not web:
            _show_end(kept, as_json)
            return
        _refuse_forgotten(run)
    if kept is None and not place.is_on_aws:
        run_folders.refuse_loaded(run)
    with place.naming_kept_runs(run):
        service = place.running_service()
        execution = service.execution(run)
    plan = readable(RunDocuments(service, run).plan)
    with opening.following(service, run, is_wanted=web, has_ended=not execution.is_running):
        _follow(service, run, plan, as_json=as_json, verbose=verbose)


def _follow(service: Service, run: str, plan: PlanDocument | None, *, as_json: bool, verbose: bool) -> None:
    console = terminal.stderr() if as_json else terminal.stdout()
    environment = service.deployment.environment
    heartbeats = following.FleetHeartbeats(service, run, plan)
    view = following.view(console, environment, heartbeats, plain=as_json, verbose=verbose)
    with InterruptCounter() as closing, view as shown:
        # The local cloud has no console except the project's own.
        linked = Linked(shown, Traces(service.deployment)) if environment == "aws" and not as_json else shown
        try:
            ended = following.follow(service, run, plan, _WhileRead(linked, console), closing)
        except Interrupted:
            raise following.stopped_looking(service, run) from None
    running.finish(service, ended, as_json=as_json)


@dataclass(frozen=True)
class _WhileRead:
    """A view that ends the command when its reader has gone, as in `matrix watch latest | head`."""

    view: View
    console: Console

    def show(self, now: RunProgress) -> None:
        self.view.show(now)
        if self.console.quiet:
            raise typer.Exit

    def say(self, line: str) -> None:
        self.view.say(line)


def _refuse_forgotten(run: str) -> None:
    """Refuse to show the graph of a local run that no running cloud knows."""
    try:
        Service(deployment.running_local_cloud()).execution(run)
    except (NoLocalCloud, UnknownRun):
        advice = f"its report has what was measured: `matrix report {run} --open`"
        raise CommandError(
            f"{run} has ended, and what Step Functions knew of it has ended with its cloud", advice
        ) from None


def _newest(place: Place) -> str:
    """Return the name of the newest run: of a deployment, or of the kept ones if no local cloud has one."""
    kept = None if place.is_on_aws else next(RunFolders().started(), None)
    if kept and not deployment.is_local_cloud_running():
        return kept
    newest = next(place.running_service().started(), kept)
    if newest is None:
        raise UnknownRun("there is no run yet", "start one: `matrix run FILE`")
    return newest


def _kept(run: str) -> Execution | None:
    """Return the execution of a run of this machine. Damage is noted; without a cloud the run has ended."""
    try:
        return RunFolders().execution(run)
    except UnreadableRun as damage:
        note(damage)
        return None if deployment.is_local_cloud_running() else Execution(run, "UNKNOWN", time.time())


def _show_end(execution: Execution, as_json: bool) -> None:
    """Show the end of a local run from its folder, because its cloud may have ended too."""
    run, folders = execution.run, RunFolders()
    ended = progress.read(folders.progress_rows(run), readable(RunDocuments(folders, run).plan), execution)
    with following.view(terminal.stderr() if as_json else terminal.stdout(), "local", plain=as_json) as shown:
        shown.show(ended)
    running.finish_kept(ended, as_json=as_json)


# --- links into the AWS console ---------------------------------------------------------------------------------------

# The item of an iteration of "Each file system".
ITEM = "file_system"


@dataclass
class Linked:
    """A view that also links to the AWS console.

    The cells of a file system run in a child execution of a distributed Map. Its name is generated and three clicks
    away from the run, so users would not find it.
    """

    view: View
    traces: Traces
    _linked: set[str] = field(default_factory=set)
    _begun: int = 0

    def show(self, now: RunProgress) -> None:
        """Show a moment, and the links that are new."""
        if not self._linked:
            self._say(now.execution.run, now.execution.arn)
        begun = sum(system.state not in ("planned", NOT_MEASURED) for system in now.file_systems)
        if begun > self._begun:
            self._begun = begun
            self._guarded(lambda: self._say_children(now.execution.run))
        self.view.show(now)

    def say(self, line: str) -> None:
        self.view.say(line)

    def _say_children(self, run: str) -> None:
        for arn, _ in self.traces.children(run):
            if arn not in self._linked:
                self._say(str(self.traces.item(arn).get(ITEM, arn)), arn)

    def _say(self, name: str, arn: str) -> None:
        self._linked.add(arn)
        self.view.say(f"{name} in the AWS console: {execution_address(arn)}")

    def _guarded(self, act: Callable[[], None]) -> None:
        """Go on without links where the user lacks the right, or AWS throttles: they are not part of the run."""
        try:
            act()
        except Exception as error:
            self.view.say(f"no links to file systems: {explain(error).message}")
