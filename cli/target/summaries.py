"""A run's summary, from the mirror, the local cloud or AWS."""

from functools import partial
from typing import Any

from cli.messages.errors import CommandError, UnknownRun
from cli.messages.explain import explain
from cli.target import deployment, mirror
from cli.target.service import SHOWN_RUNS, Service
from cli.target.workdir import run_folder, runs_folder
from matrix.terms import sentences

Summary = dict[str, Any]

LATEST = "latest"


def find_run(run: str, *, local: bool, stack: str | None, region: str | None) -> Summary:
    """Return the summary of a run with the single values of each point, where they can be found."""
    summary = find_summary(run, local=local, stack=stack, region=region)
    name = summary["run"]
    if mirror.document(name, "summary.json") is not None and not (stack or region):
        read = partial(mirror.document, name)
    elif summary.get("environment") == "published":
        return summary
    else:
        is_local = local or summary.get("environment") in sentences.ENVIRONMENT_NOTES
        read = partial(Service(deployment.find(local=is_local, stack=stack, region=region)).document, name)
    cells = [_with_samples(cell, read(f"cells/{cell['id']}/result.json")) for cell in summary.get("cells", [])]
    return {**summary, "cells": cells}


def _with_samples(cell: Summary, result: Summary | None) -> Summary:
    """Add single values to a cell's points; results of older versions have none."""
    samples = {point["id"]: point.get("samples") for point in (result or {}).get("points") or []}
    points = [{**point, "samples": samples.get(point["id"])} for point in cell.get("points") or []]
    return {**cell, "points": points}


def find_summary(run: str, *, local: bool, stack: str | None, region: str | None) -> Summary:
    """Return the summary of a run from the mirror, the local cloud or the bucket."""
    deployment.refuse_two_places(local=local, stack=stack)
    on_aws = not local and (stack is not None or region is not None)
    if not on_aws:
        kept = _from_mirror(run)
        if kept is not None:
            return kept
        if local or mirror.mirrored_runs() or deployment.is_local_cloud_running():
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


def _from_mirror(run: str) -> Summary | None:
    if run != LATEST:
        return mirror.document(run, "summary.json")
    summaries = (mirror.document(name, "summary.json") for name in mirror.mirrored_runs())
    return next((summary for summary in summaries if summary is not None), None)


def _from_local_cloud(run: str) -> Summary:
    if deployment.is_local_cloud_running():
        return _from_service(Service(deployment.running_local_cloud()), run)
    kept = mirror.mirrored_runs()
    if run in kept:
        raise _no_summary(run, f"see what there is in {run_folder(run)}/")
    known = f"local runs: {', '.join(kept[:SHOWN_RUNS])}" if kept else "there is none yet: `matrix run FILE --local`"
    raise UnknownRun(f"no local run {run}", f"{known}; for a run on AWS add --stack NAME")


def _from_service(service: Service, run: str) -> Summary:
    names = [execution.run for execution in service.executions(SHOWN_RUNS)] if run == LATEST else [run]
    for name in names:
        summary = service.document(name, "summary.json")
        if summary is not None:
            return summary
    if run == LATEST:
        raise UnknownRun("no run has results yet", f"runs: {', '.join(names) or 'none'}; start one: `matrix run FILE`")
    # Executions are kept for 90 days; of an older run the bucket has the summary, which was returned above.
    state = service.execution(run).status
    raise _no_summary(run, f"it is {state}; look at it: `matrix watch {run} {service.deployment.flag}`")


def _no_summary(run: str, advice: str) -> CommandError:
    return CommandError(f"run {run} has no results (it ended before they were put together, or still goes on)", advice)
