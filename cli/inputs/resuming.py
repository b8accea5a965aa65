"""`matrix run --resume RUN`: find the measured cells of an earlier run, so that only the rest is planned."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from cli.inputs import planning
from cli.inputs.planning import Planned
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode, UnknownRun
from cli.target import run_folders
from cli.target.run_documents import RunDocuments
from cli.target.service import Service
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.result import ResultDocument


def plan_rest(service: Service, run: str, file: Path | None, region: str | None) -> Planned:
    """Plan the cells that a run has not measured, by its own matrix or by the one in `file`."""
    if service.is_here:
        # The local cloud's bucket is deleted when it stops; the run's folder has its files.
        for path in run_folders.restore(service, run):
            terminal.print_wrapped(terminal.stderr(), f"Note: {path} cannot be read, so what it says is not taken over")
    _refuse_running(service, run)
    earlier = RunDocuments(service, run)
    plan = earlier.plan()
    if plan is None:
        raise service.unknown(run)
    matrix = earlier.matrix() if file is None else _parsed(file)
    # The user agreed to the whole run, so the rest needs its own confirmation.
    whole = {name: value for name, value in (matrix or {}).items() if name != "agreed" or file is not None}
    text = json.dumps({**whole, "resume": run}).encode()
    return planning.plan_text(text, region, _earlier(service, run, plan))


def _refuse_running(service: Service, run: str) -> None:
    """Refuse to resume a running run, whose cells would be measured twice; Plan matrix refuses it too."""
    try:
        is_running = service.execution(run).is_running
    except UnknownRun:  # of an earlier local cloud, or longer ago than the 90 days that Step Functions remembers
        return
    if is_running:
        raise CommandError(
            f"{run} is still running, and only an ended run can be resumed",
            f"wait for its end: `matrix watch {run}`",
            ExitCode.BAD_INPUT,
        )


def _parsed(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(planning.read(file))
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise CommandError(f"{file} holds no matrix", f"see what is wrong: `matrix plan {file}`", ExitCode.BAD_INPUT)
    return document


def _earlier(service: Service, run: str, plan: PlanDocument) -> Any:
    from matrix.plan.resume import earlier_cells

    uploads: Counter[str] = Counter()
    results: set[str] = set()
    for name in service.names(run):
        match name.split("/"):
            case ["cells", cell, "instances", _, "samples.json"]:
                uploads[cell] += 1
            case ["cells", cell, "result.json"]:
                results.add(cell)

    def result_of(cell: str) -> ResultDocument | None:
        return RunDocuments(service, run).result(cell) if cell in results else None

    return earlier_cells(run, plan, result_of, uploads.__getitem__)
