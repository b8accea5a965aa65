"""A run's summary and its other documents, from its folder on this machine or from the bucket."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from cli.messages.errors import CommandError, UnknownRun, UnreadableRun
from cli.target import baselines, deployment, known_runs, relaunched, unfinished
from cli.target.documents import note, readable
from cli.target.place import Place
from cli.target.run_documents import RunDocuments
from cli.target.run_folders import RunFolders, RunStore
from cli.target.service import Execution, Service
from cli.target.workdir import run_folder
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.documents.values import ValuesDocument

LATEST = "latest"
VALUES = "summary.values.json"


class NoResults(Exception):
    """A run has no results yet, or ended without any."""


@dataclass(frozen=True)
class FoundRun(RunDocuments):
    """A run and the place that holds it."""

    store: RunStore

    @cached_property
    def summary(self) -> SummaryDocument:
        """Its summary: by its analysis, or, if it ended without analysis, from its cells' results.

        Raises NoResults, but not for a run that `find` returned.
        """
        summary = analysed(self.store, self.run, lambda: _remembered(self.store, self.run))
        if summary is None:
            summary = _without_analysis(self.store, self.run)
        if summary is None:
            raise NoResults
        return summary

    @cached_property
    def values(self) -> ValuesDocument:
        """The values for judging its points; computed from its results if no analysis has written them.

        Raises NoResults.
        """
        if kept := readable(self.document, ValuesDocument, VALUES):
            return kept
        # numpy takes a tenth of a second to import, which other commands must not wait for.
        from matrix.answer.values import values_of

        return values_of(self.summary, self.results())

    def results(self) -> dict[str, ResultDocument]:
        """Return the result of each cell that has one, by its id."""
        cells = self.summary.get("cells", [])
        results = {cell["id"]: result for cell in cells if (result := readable(self.result, cell["id"]))}
        apart = [cell for cell in cells if "launches" in cell and cell["id"] not in results]
        return {**results, **relaunched.joined(self, apart)}

    def has(self, need: "Need") -> bool:
        try:
            need(self)
        except NoResults:
            return False
        return True


Need = Callable[[FoundRun], object]
SUMMARY: Need = attrgetter("summary")


def find(run: str, place: Place, need: Need = SUMMARY) -> FoundRun:
    """Return a run that was analysed, or that ended with the results of some cells.

    `latest` is the newest of these, `baseline:NAME` the run of that baseline, and a beginning of a name the only run
    of this machine that begins so. `need` decides which documents it must have.
    """
    run = baselines.run_named(run, place)
    if not place.is_on_aws:
        folders = RunFolders()
        kept = _first(folders, folders.started() if run == LATEST else [known_runs.whole_name(run)], need)
        if kept is not None:
            return kept
        if place.is_here:
            return _from_local_cloud(run, need)
    with place.naming_kept_runs(run):
        return _from_service(place.service(), run, need)


def _first(store: RunStore, names: Iterable[str], need: Need) -> FoundRun | None:
    """Return the first of these runs that has the needed documents; None if none has."""
    return next((found for name in names if (found := FoundRun(store, name)).has(need)), None)


def analysed(store: RunStore, run: str, execution_of: Callable[[], Execution | None]) -> SummaryDocument | None:
    """Return the summary that a run's analysis wrote; if it is damaged, a summary of the cells' results.

    None if there is none. Raises UnreadableRun if there are no results either.
    """
    try:
        return RunDocuments(store, run).written_summary()
    except UnreadableRun as damage:
        summary = unfinished.summary(store, run, execution_of(), is_damaged=True)
        if summary is None:
            raise
        note(damage)
        return summary


def _without_analysis(store: RunStore, run: str) -> SummaryDocument | None:
    """Return the summary of a run that ended without an analysis; None if it is running or was never started."""
    try:
        execution = store.execution(run)
    except UnknownRun:  # it ended before the 90 days that Step Functions remembers, or was never started
        return unfinished.summary(store, run, None)
    except UnreadableRun as damage:
        # It may still be running; its measured cells are valid in any case.
        note(damage)
        return unfinished.summary(store, run, None)
    return None if execution is None or execution.is_running else unfinished.summary(store, run, execution)


def _remembered(store: RunStore, run: str) -> Execution | None:
    """Return the execution of a run, None if there is no record of it; damage is noted."""
    try:
        return readable(store.execution, run)
    except UnknownRun:
        return None


def _from_local_cloud(run: str, need: Need) -> FoundRun:
    kept = known_runs.kept_runs()
    execution = RunFolders().execution(run) if run in kept else None
    if deployment.is_local_cloud_running() and (execution is None or execution.is_running):
        return _from_service(Service(deployment.running_local_cloud()), run, need)
    if run in kept:
        raise _no_results(run, f"see what there is in {run_folder(run)}/; {unfinished.resume_line(run, '--local')}")
    raise known_runs.unknown_run(f"no local run {run}", run, kept, "for a run on AWS add --stack NAME")


def _from_service(service: Service, run: str, need: Need) -> FoundRun:
    names = list(service.started()) if run == LATEST else [run]
    newest = _first(service, names, need)
    if newest is not None:
        return newest
    if run == LATEST:
        raise UnknownRun("no run has results yet", f"runs: {', '.join(names) or 'none'}; start one: `matrix run FILE`")
    state, flag = service.execution(run).status, service.flag
    raise _no_results(run, f"it is {state}; look at it: `matrix watch {run} {flag}`")


def _no_results(run: str, advice: str) -> CommandError:
    return CommandError(f"run {run} has no results (it ended before a cell was measured, or still goes on)", advice)
