"""A run's summary and its other documents, from its folder here, or from the bucket."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast

from cli.messages.errors import CommandError, UnknownRun, UnreadableRun
from cli.messages.explain import explain
from cli.target import deployment, mirror, relaunched, unfinished
from cli.target.documents import note, readable
from cli.target.service import SHOWN_RUNS, Execution, Service
from cli.target.unfinished import Read, Source
from cli.target.workdir import run_folder, runs_folder
from matrix.terms.documents.result import PointResult, ResultDocument
from matrix.terms.documents.summary import SummaryDocument

LATEST = "latest"


@dataclass(frozen=True)
class FoundRun:
    """A run's summary, and how to read its other documents by their names."""

    summary: SummaryDocument
    read: Read
    service: Service | None = None  # None: it is kept here

    def with_samples(self) -> SummaryDocument:
        """Return the summary with the single values of each point, where they can be found."""
        results = self.results()
        cells = [_with_samples(cell, results.get(cell["id"])) for cell in self.summary.get("cells", [])]
        return {**self.summary, "cells": cells}

    def results(self) -> dict[str, ResultDocument]:
        """Return the result of each cell that has one, by its id."""
        cells = self.summary.get("cells", [])
        results = {
            cell["id"]: cast("ResultDocument", result)
            for cell in cells
            if (result := readable(self.read, f"cells/{cell['id']}/result.json"))
        }
        apart = [cell for cell in cells if "launches" in cell and cell["id"] not in results]
        return {**results, **relaunched.joined(self.read, apart)}


def _with_samples(cell: ResultDocument, result: ResultDocument | None) -> ResultDocument:
    """Add single values to a cell's points; results of older versions have none."""
    samples = {point["id"]: point.get("samples") for point in (result["points"] if result else None) or []}
    points: list[PointResult] = [{**point, "samples": samples.get(point["id"])} for point in cell.get("points") or []]
    return {**cell, "points": points}


def find(run: str, *, local: bool, stack: str | None, region: str | None) -> FoundRun:
    """Return a run that was analysed, or has ended with the results of some cells; `latest` is the newest of these."""
    deployment.refuse_two_places(local=local, stack=stack)
    on_aws = not local and (stack is not None or region is not None)
    if not on_aws:
        names = mirror.kept_runs() if run == LATEST else [run]
        kept = next(filter(None, map(_kept, names)), None)
        if kept is not None:
            return kept
        if local or mirror.kept_runs() or deployment.is_local_cloud_running():
            return _from_local_cloud(run)
    try:
        return _from_service(Service(deployment.find(local=False, stack=stack, region=region)), run)
    except Exception as error:
        if on_aws:
            raise
        # The user did not ask for AWS, so the likely mistake is the wrong working directory.
        failure = explain(error)
        no_run = f"no local run is kept in {runs_folder()}/, so AWS was asked: {failure.message}"
        raise CommandError(
            no_run, f"go to the folder where the run was started; or {failure.advice}", failure.code
        ) from error


def _kept(run: str) -> FoundRun | None:
    source = kept_here(run)
    summary = analysed(run, source, lambda: readable(mirror.execution, run), "--local")
    if summary is None:
        try:
            execution = mirror.execution(run)
        except UnreadableRun as damage:
            # Nobody knows whether it goes on; what it has measured stands all the same.
            note(damage)
            summary = unfinished.summary(run, source, None, "--local")
        else:
            if execution is not None and not execution.is_running:
                summary = unfinished.summary(run, source, execution, "--local")
    return None if summary is None else FoundRun(summary, source.read)


def kept_here(run: str) -> Source:
    """Return what a run has left in its folder."""
    return Source(partial(mirror.document, run), partial(mirror.measured_cells, run))


def in_bucket(service: Service, run: str) -> Source:
    """Return what a run has left in the bucket."""
    return Source(partial(service.document, run), partial(service.measured_cells, run))


def analysed(
    run: str, source: Source, execution_of: Callable[[], Execution | None], flag: str
) -> SummaryDocument | None:
    """Return the summary that the analysis of a run has left; where it is damaged, what its cells' results say.

    None where there is none. Raises UnreadableRun where there are no results either.
    """
    try:
        return cast("SummaryDocument | None", source.read("summary.json"))
    except UnreadableRun as damage:
        summary = unfinished.summary(run, source, execution_of(), flag, is_damaged=True)
        if summary is None:
            raise
        note(damage)
        return summary


def _from_local_cloud(run: str) -> FoundRun:
    kept = mirror.kept_runs()
    execution = mirror.execution(run) if run in kept else None
    if deployment.is_local_cloud_running() and (execution is None or execution.is_running):
        return _from_service(Service(deployment.running_local_cloud()), run)
    if run in kept:
        raise _no_results(run, f"see what there is in {run_folder(run)}/; {unfinished.resume_line(run, '--local')}")
    known = f"local runs: {', '.join(kept[:SHOWN_RUNS])}" if kept else "there is none yet: `matrix run FILE --local`"
    raise UnknownRun(f"no local run {run}", f"{known}; for a run on AWS add --stack NAME")


def _from_service(service: Service, run: str) -> FoundRun:
    names = [execution.run for execution in service.executions(SHOWN_RUNS)] if run == LATEST else [run]
    newest = next(_in_bucket(service, names), None)
    if newest is not None:
        return newest
    if run == LATEST:
        raise UnknownRun("no run has results yet", f"runs: {', '.join(names) or 'none'}; start one: `matrix run FILE`")
    state, flag = service.execution(run).status, service.deployment.flag
    raise _no_results(run, f"it is {state}; look at it: `matrix watch {run} {flag}`")


def _in_bucket(service: Service, names: list[str]) -> Iterator[FoundRun]:
    flag = service.deployment.flag
    for name in names:
        source = in_bucket(service, name)
        execution_of = partial(_remembered, service, name)
        summary = analysed(name, source, execution_of, flag)
        if summary is None:
            execution = execution_of()
            if execution is None or not execution.is_running:
                summary = unfinished.summary(name, source, execution, flag)
        if summary is not None:
            yield FoundRun(summary, source.read, service)


def _remembered(service: Service, run: str) -> Execution | None:
    try:
        return service.execution(run)
    except UnknownRun:  # longer ago than the 90 days that Step Functions remembers, or it never was
        return None


def _no_results(run: str, advice: str) -> CommandError:
    return CommandError(f"run {run} has no results (it ended before a cell was measured, or still goes on)", advice)
