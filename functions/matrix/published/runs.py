"""All published benchmarks as runs, for results, reports, comparisons and the history of a cell."""

import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias, cast

from matrix.published.figures import rows_of, sources, table_of
from matrix.published.table import TableRow
from matrix.published.table_run import metric_result
from matrix.terms.documents.parts import Failure, Fleet, Part
from matrix.terms.documents.result import PointResult, ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.findings.warnings import OfSource
from matrix.terms.grouping import grouped
from matrix.terms.ids import cell_id, unique_slugs
from matrix.terms.names import tell_apart
from matrix.terms.sentences import NOT_PUBLISHED

# Conditions of a figure that are fields of its storage: among a point's parameters they would keep storages apart.
OF_STORAGE = frozenset({"client", "sizeGiB", "throughputMode"})
# The primary metric of a workload, if a source publishes several.
PRIMARY = {"fio": "iops", "touch": "files_per_s"}
COMMAND = "command"
EMPTY = "the source leaves this cell empty"
NO_PERCENTILES = (
    "one value for each point, so no percentiles and no intervals: how often it was measured, the source omits"
)

# The lines of a cell, a list for each of its rows.
CellRows: TypeAlias = list[list[TableRow]]


def published_runs(prefix: str = "published") -> dict[str, SummaryDocument]:
    """Return every published benchmark as a run's summary, by the name of the run, the oldest edition first."""
    names = [name for about in sources().values() for name in about["runs"]]
    return {f"{prefix}-{name}": published_run(name, f"{prefix}-{name}") for name in names}


def published_run(name: str, run: str) -> SummaryDocument:
    """Return a published benchmark, such as `yocto` or `ebs-fio`, as a run's summary."""
    source, about = next((source, about) for source, about in sources().items() if name in about["runs"])
    rows = [lines for lines in map(_first_hand, rows_of(source)) if lines[0].texts.get("run", source) == name]
    cells = list(_cells(source, [[line for line in lines if _is_shown(source, line)] for lines in rows]))
    tell_apart((cell["workload"], cell["points"]) for cell in cells)
    measured = sum(cell["state"] == "measured" for cell in cells)
    at = max((line.at for lines in rows for line in lines if line.at is not None), default=None)
    return {
        "schema": 1,
        "run": run,
        "name": about["runs"][name],
        "environment": "published",
        "source": about["source"],
        "started_at": at,
        "finished_at": at,
        "status": f"{measured} of {len(cells)} rows have figures",
        "cells": cells,
        "totals": {"cells": len(cells), "measured": measured, "failed": len(cells) - measured},
        "cost_usd": None,
        "left_behind": [],
        "warnings": [
            f"published figures, not measured here: {about['source']}",
            about.get("caveat", NO_PERCENTILES),
        ],
    }


def _first_hand(lines: list[TableRow]) -> list[TableRow]:
    """Return the lines of a row, but no command that measures it again besides another workload."""
    return [line for line in lines if line.texts["workload"] != COMMAND] or lines


def _is_shown(source: str, line: TableRow) -> bool:
    """Whether a line is a cell of the run: an empty one only in a table of percentiles."""
    columns = table_of(source).columns
    return any(value is not None or columns[name].level for name, value in line.figures.items())


def _cells(source: str, rows: CellRows) -> Iterator[ResultDocument]:
    """Yield a cell for each storage, workload and fleet; rows that the source got wrong are one of their own."""
    of_cell = grouped((_cell_key(lines[0]), lines) for lines in rows if lines)
    storages = [_storage(group[0][0]) for group in of_cell.values()]
    slugs = unique_slugs({json.dumps(storage): _slug(storage) for storage in storages})
    doubtful: list[CellRows] = []
    for storage, group in zip(storages, of_cell.values(), strict=True):
        wrong = [lines for lines in group if any("suspect" in line.texts for line in lines)]
        if 0 < len(wrong) < len(group):
            doubtful.append(wrong)
        yield _cell(source, [lines for lines in group if lines not in wrong] or group, slugs[json.dumps(storage)], "")
    for group in doubtful:
        yield _cell(source, group, slugs[json.dumps(_storage(group[0][0]))], "-doubtful")


def _cell_key(line: TableRow) -> str:
    size = [line.texts.get("instanceType"), line.number("instances")]
    return json.dumps([_storage(line), line.texts["workload"], size])


def _storage(line: TableRow) -> Part:
    """Return the storage of a line as a matrix would write it, with the client of objects by the source's name."""
    caveats = line.part("caveat").items()
    return line.storage | {name: value for name, value in caveats if name in OF_STORAGE}


def _cell(source: str, rows: CellRows, file_system: str, mark: str) -> ResultDocument:
    first, workload = rows[0][0], rows[0][0].texts["workload"]
    # Without an instance type in the source the fleet has none, so its price is unknown.
    fleet: Fleet = {"instanceType": first.texts.get("instanceType", ""), "count": first.number("instances") or 1}
    told = [lines for lines in rows if lines[0].is_told(table_of(source).columns)]
    doubts = [line.texts["suspect"] for lines in rows for line in lines if "suspect" in line.texts]
    missing: Failure = {"name": NOT_PUBLISHED, "message": next(iter(doubts), EMPTY)}
    remarks = [remark for lines in told for remark in lines[0].remarks]
    size = f"{fleet['instanceType'] or 'untold'}-x{fleet['count']}{mark}"
    return {
        "id": cell_id(file_system, workload, size),
        "file_system": file_system,
        "storage": _storage(first),
        "workload": {"type": workload, **first.part("workload")},
        "fleet": fleet,
        "state": "measured" if told else "failed",
        "error": None if told else missing,
        "expected_s": None,
        "actual_s": None,
        "points": [_point(source, f"p{i:02d}", lines) for i, lines in enumerate(told, start=1)],
        "suspect": next(iter(doubts), None) if told else None,
        "warnings": [OfSource(text=text).document for text in [*doubts[:1], *remarks]] if told else [],
    }


def _point(source: str, name: str, lines: list[TableRow]) -> PointResult:
    params = {
        **lines[0].part("param"),
        **{key: value for key, value in lines[0].part("caveat").items() if key not in OF_STORAGE},
    }
    columns = table_of(source).columns
    told = {column: value for line in lines for column, value in line.figures.items() if value is not None}
    metrics = list(dict.fromkeys(columns[column].metric for column in told))
    primary = PRIMARY.get(lines[0].texts["workload"])
    judged_by = primary if primary in metrics else metrics[0]
    label = lines[0].texts.get("label")
    point = {
        "id": name,
        # What a source does not publish keeps no storages apart.
        "params": {key: value for key, value in params.items() if value is not None},
        **({"label": label} if label else {}),
        "metrics": {
            metric: metric_result(metric, lines, columns, is_primary=metric == judged_by, is_counted=False)
            for metric in metrics
        },
        "fleet": [],
        "latency": {},
    }
    return cast("PointResult", point)


def _slug(storage: Mapping[str, object]) -> str:
    words = [
        str(storage["type"]),
        *(str(value) for name, value in storage.items() if name not in ("type", "placement")),
    ]
    return "-".join(words).lower()
