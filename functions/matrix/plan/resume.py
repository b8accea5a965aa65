"""Resuming: cells that an earlier run has measured, and the samples it left of the others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from matrix.terms.documents.parts import Attempt, Failure, Fleet, Part, Point, Source
from matrix.terms.documents.plan import PlanCell, PlanDocument
from matrix.terms.problems import InvalidMatrix, Problem

if TYPE_CHECKING:
    from matrix.terms.documents.result import ResultDocument


@dataclass(frozen=True)
class Earlier:
    """An earlier run's part of a cell: the place of its result, or its attempts without a result."""

    reused_from: Source | None  # {"run", "cell"} that measured it, or None
    attempts: list[Attempt] = field(default_factory=list)


def fingerprint(
    storage: Part, workload: Part, fleet: Fleet, points: Sequence[Point], repetitions: int, image: str, launch: int
) -> str:
    """Return a hash that is equal for cells that measure the same; cell ids may differ or be reused between versions.

    Of the image only the operating system counts, because baking does not change the measurement; of points their
    parameters, because labels depend on the other workloads. `launch` is 1 if there is only one, so a run with more
    launches takes that launch over as its first.
    """
    measured = [
        storage,
        workload,
        {key: value for key, value in fleet.items() if key != "architecture"},
        [point["params"] for point in points],
        repetitions,
        image,
        launch,
    ]
    return hashlib.sha256(json.dumps(measured, sort_keys=True).encode()).hexdigest()


def earlier_cells(
    run: str,
    plan: PlanDocument,
    result_of: Callable[[str], ResultDocument | None],
    uploads_of: Callable[[str], int],
) -> dict[str, Earlier]:
    """Return a run's cells by `fingerprint`.

    `result_of` returns a cell's result or None, `uploads_of` the number of its instances that uploaded samples. A
    result is valid if the cell was measured: all samples of all launched instances. A cell measured at its quorum is
    valid too; the quorum is part of the fingerprint, so a matrix with a higher quorum measures it again. Samples of
    other cells stay where they are and become an attempt. They are never mixed with new samples.
    """
    earlier: dict[str, Earlier] = {}
    for cell in plan["cells"]:
        repetitions = max(step["repetition"] for step in cell["steps"])
        # Before images could be chosen, every instance ran Amazon Linux 2023.
        image = cell.get("image") or f"al2023-{cell['fleet']['architecture']}"
        same = fingerprint(
            cell["storage"], cell["workload"], cell["fleet"], cell["points"], repetitions, image, cell.get("launch", 1)
        )
        result = result_of(cell["id"])
        if result and result["state"] == "measured":
            earlier[same] = Earlier(result.get("taken_from") or {"run": run, "cell": cell["id"]})
            continue
        attempts = list(cell.get("attempts", []))
        instances = uploads_of(cell["id"])
        if instances:
            prefix = f"runs/{run}/cells/{cell['id']}/"
            unfinished: Failure = {"name": "NotFinished", "message": "the run ended before the cell did"}
            error = (result["error"] if result else None) or unfinished
            attempts.append({"run": run, "cell": cell["id"], "prefix": prefix, "instances": instances, "error": error})
        earlier[same] = Earlier(None, attempts)
    return earlier


def taken_over(result: ResultDocument, cell: PlanCell) -> ResultDocument:
    """Return an earlier cell's result as that of `cell`, marked with the run that measured it."""
    return {**result, "id": cell["id"], "file_system": cell["file_system"], "taken_from": cell["taken_from"]}


def refusal(run: str, rule: str) -> InvalidMatrix:
    """Return the error of a matrix with an impossible `resume`."""
    return InvalidMatrix([Problem("resume", run, rule, "give the name of an ended run of this stack, or leave it out")])
