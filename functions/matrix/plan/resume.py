"""Resuming: which cells an earlier run has measured already, and what it left of those that it has not."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matrix.terms.problems import InvalidMatrix, Problem

Document = dict[str, Any]


@dataclass(frozen=True)
class Earlier:
    """What an earlier run has of a cell: where its result is, or the attempts that came to none."""

    taken_from: Document | None  # {"run", "cell"} that measured it, None if nobody has
    attempts: list[Document] = field(default_factory=list)


def sameness(
    storage: Document, workload: Document, fleet: Document, points: Sequence[Document], repetitions: int, image: str
) -> str:
    """Return a hash that is equal for cells that measure the same: their ids alone may mean something else by now.

    The image counts by its operating system; whether it was baked changes nothing that is measured.
    """
    measured = [
        storage,
        workload,
        {key: value for key, value in fleet.items() if key != "architecture"},
        points,
        repetitions,
        image,
    ]
    return hashlib.sha256(json.dumps(measured, sort_keys=True).encode()).hexdigest()


def earlier_cells(
    run: str,
    plan: Mapping[str, Any],
    result_of: Callable[[str], Mapping[str, Any] | None],
    uploads_of: Callable[[str], int],
) -> dict[str, Earlier]:
    """Return what a run has of each of its cells, by `sameness`.

    `result_of` returns a cell's result or None, `uploads_of` how many of its instances uploaded samples. Valid is the
    result of a measured cell: every sample of every instance that was launched. One measured at its quorum is valid
    too, as its matrix says that so many are enough; the quorum is part of the sameness, so who wants more measures
    anew. Samples of any other cell stay where they are and become an attempt: never mixed with those of the next.
    """
    found: dict[str, Earlier] = {}
    for cell in plan["cells"]:
        repetitions = max(step["repetition"] for step in cell["steps"])
        # Before images could be chosen, every instance ran Amazon Linux 2023.
        image = cell.get("image") or f"al2023-{cell['fleet']['architecture']}"
        same = sameness(cell["storage"], cell["workload"], cell["fleet"], cell["points"], repetitions, image)
        result = result_of(cell["id"]) or {}
        if result.get("state") == "measured":
            found[same] = Earlier(result.get("taken_from") or {"run": run, "cell": cell["id"]})
            continue
        attempts = list(cell.get("attempts", []))
        instances = uploads_of(cell["id"])
        if instances:
            prefix = f"runs/{run}/cells/{cell['id']}/"
            error = result.get("error") or {"name": "NotFinished", "message": "the run ended before the cell did"}
            attempts.append(
                {"run": run, "cell": cell["id"], "prefix": prefix, "instances": instances, "error": dict(error)}
            )
        found[same] = Earlier(None, attempts)
    return found


def taken_over(result: Mapping[str, Any], cell: Mapping[str, Any]) -> Document:
    """Return an earlier cell's result as that of `cell`, marked with the run that measured it."""
    own = {name: cell[name] for name in ("id", "file_system")}
    return {**result, **own, "taken_from": cell["taken_from"]}


def refusal(run: str, rule: str) -> InvalidMatrix:
    """Return the error of a matrix whose `resume` cannot be followed."""
    return InvalidMatrix([Problem("resume", run, rule, "give the name of an ended run of this stack, or leave it out")])
