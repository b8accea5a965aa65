"""A run of files that were imported: what the user tells of them, and how a second import adds a cell.

fio's files never name the storage and the instance type. The user names them, or they stay unknown.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from matrix.answer.results import without_samples
from matrix.check.read import read_matrix
from matrix.plan.planning import plan
from matrix.storages.base import USUAL_INSTANCE_TYPE
from matrix.storages.models import MODELS
from matrix.terms.documents.parts import Part
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.ids import cut
from matrix.terms.names import tell_apart, tools_of
from matrix.terms.printable import printable
from matrix.terms.problems import InvalidMatrix
from matrix.terms.quantities import count_of

IMPORTED = "imported"
UNKNOWN = "unknown"
UNKNOWN_STORAGE = "unknown storage"
LONGEST_SLUG = 40
# A storage is checked as one of a matrix, which needs a workload: the first that suits it.
WORKLOADS: tuple[Part, ...] = (
    {"type": "fio", "rw": "read", "bs": "4k", "size": "1M", "direct": 1, "ioengine": "psync"},
    {"type": "objects", "operation": "get", "requests": 1},
    {"type": "read", "requestSize": "4KiB", "requests": 1},
    {"type": "command", "name": "imported", "command": "true", "expectedSeconds": 1},
)


@dataclass(frozen=True)
class Given:
    """Facts from the user that a tool's files lack; None if unknown."""

    # As a matrix writes it, or in words if a matrix cannot have it.
    storage: Part | str | None = None
    instance_type: str | None = None
    # What several files with the same job are: `hosts` or `repetitions`.
    files_are: str | None = None


@dataclass(frozen=True)
class ImportedRun:
    """A run of a tool's files: its summary without a decision, and the results of its cells."""

    summary: SummaryDocument
    results: list[ResultDocument]


def joined(kept: SummaryDocument, imported: SummaryDocument) -> SummaryDocument:
    """Return a run with the cells of an earlier import of the same name; new cells replace those of the same id."""
    new = {cell["id"]: cell for cell in imported["cells"]}
    cells = [*(cell for cell in kept["cells"] if cell["id"] not in new), *new.values()]
    of_fio = [cell for cell in cells if cell["workload"]["type"] == "fio"]
    for point in (point for cell in of_fio for point in cell["points"]):
        point.pop("label", None)
    tell_apart((cell["workload"], cell["points"]) for cell in of_fio)
    started = [each["started_at"] for each in (kept, imported) if each["started_at"] is not None]
    finished = [each["finished_at"] for each in (kept, imported) if each["finished_at"] is not None]
    sources = dict.fromkeys([*str(kept.get("source") or "").split("; "), *str(imported.get("source")).split("; ")])
    return {
        **imported,
        "source": "; ".join(filter(None, sources)),
        "tools": list(dict.fromkeys([*tools_of(kept), *tools_of(imported)])),
        "cells": cells,
        "started_at": min(started, default=None),
        "finished_at": max(finished, default=None),
        "totals": {"cells": len(cells), "measured": len(cells), "failed": 0},
        "warnings": list(dict.fromkeys([*kept["warnings"], *imported["warnings"]])),
    }


def storage_of(given: Part | str | None) -> tuple[Part, str]:
    """Return a storage with its defaults, and the id of its file system. Raises InvalidMatrix if it is invalid."""
    if given is None:
        return {"type": UNKNOWN_STORAGE}, _slug(UNKNOWN_STORAGE)
    if isinstance(given, str):
        if given not in MODELS:  # such as a disk outside AWS
            return {"type": printable(given)}, _slug(given)
        given = {"type": given}
    model = MODELS.get(str(given.get("type")))
    instance_type = model.traits.usual_instance_type if model else USUAL_INSTANCE_TYPE
    refused: list[InvalidMatrix] = []
    for workload in WORKLOADS:
        matrix = {
            **{"name": "imported", "storage": [given], "workload": [workload]},
            "fleet": [{"instanceType": instance_type, "count": 1}],
        }
        try:
            planned = plan(read_matrix(json.dumps(matrix))).to_document()["cells"][0]
        except InvalidMatrix as invalid:
            refused.append(invalid)
        else:
            return planned["storage"], planned["file_system"]
    # Each error has the problems of the storage; problems of a workload on it do not matter for an import.
    raise refused[0]


def _slug(words: str) -> str:
    return cut("-".join(re.findall(r"[a-z0-9]+", words.lower())) or UNKNOWN, LONGEST_SLUG)


def imported_summary(
    run: str,
    files: Sequence[str],
    results: Sequence[ResultDocument],
    spans: Sequence[tuple[float, float]],
    notes: Sequence[str] = (),
    tools: Sequence[str] = ("fio",),
) -> SummaryDocument:
    """Return the summary of a run of tools' files, without a decision; `spans` are starts and ends (epoch, s)."""
    of_storage = any(each["storage"]["type"] == UNKNOWN_STORAGE for each in results)
    of_instances = any(not each["fleet"]["instanceType"] for each in results)
    unknown = [words for words, is_missing in (("storage", of_storage), ("instance type", of_instances)) if is_missing]
    known = f"; unknown: {', '.join(unknown)}" if unknown else ""
    of_tools = f"{count_of(len(files), 'file')} of {' and '.join(tools)}"
    where = f"read from {of_tools}, nothing was measured here{known}"
    cells = [
        cast("ResultDocument", {**each, "points": [without_samples(point) for point in each["points"]]})
        for each in results
    ]
    summary = {
        **{"schema": 1, "run": run, "name": run, "environment": IMPORTED},
        "source": "; ".join(map(printable, files)),
        "tools": list(tools),
        "started_at": min((start for start, _ in spans), default=None),
        "finished_at": max((end for _, end in spans), default=None),
        "status": "measured",
        "cells": cells,
        "totals": {"cells": len(cells), "measured": len(cells), "failed": 0},
        "cost_usd": None,
        "left_behind": [],
        "warnings": [f"{', '.join(each['id'] for each in results)}: {note}" for note in (where, *notes)],
    }
    return cast("SummaryDocument", summary)
