"""The cells and points of a table of figures: rows of one storage, workload and fleet are a cell."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from matrix.answer.results import point_warnings
from matrix.published.imported import UNKNOWN, Given, ImportedRun, imported_summary, storage_of
from matrix.statistics.describing import describe
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.percentiles import LEVELS, percentiles
from matrix.storages.models import is_shared
from matrix.terms.findings.warnings import OfSource
from matrix.terms.grouping import grouped
from matrix.terms.ids import cell_id, unique_slugs
from matrix.terms.names import tell_apart
from matrix.terms.problems import InvalidMatrix, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from matrix.published.table import FigureColumn, FigureTable, TableRow
    from matrix.terms.documents.parts import Fleet, Part
    from matrix.terms.documents.result import MetricResult, PointResult, ResultDocument, SampleColumns

# Where a row tells no instance, its figure is of the whole fleet.
FLEET = "fleet"


def imported_run(run: str, tables: Mapping[str, FigureTable], given: Given) -> ImportedRun:
    """Return the run of some tables (by name). Raises InvalidMatrix with every mistake of all."""
    rows = [row for table in tables.values() for row in table.rows if row.is_told(table.columns) or table.problems]
    columns = {name: column for table in tables.values() for name, column in table.columns.items()}
    problems = [problem for table in tables.values() for problem in table.problems]
    storages = _storages(rows, given, problems)
    if problems:
        raise InvalidMatrix(problems)
    names = unique_slugs({name: name for name in dict.fromkeys(row.texts["workload"] for row in rows)})
    by_cell = grouped((_cell_key(row, storages[_storage_key(row)], given), row) for row in rows)
    repeated = [problem for of_cell in by_cell.values() for problem in _repeated(of_cell, columns)]
    if repeated:
        raise InvalidMatrix(repeated)
    slugs = unique_slugs({json.dumps(storage): slug for storage, slug in storages.values()})
    cells = [_cell(key, of_cell, slugs[key[0]], names[key[1]], columns) for key, of_cell in by_cell.items()]
    tell_apart((cell["workload"], cell["points"]) for cell in cells)
    moments = [(at, at) for row in rows if (at := row.at) is not None]
    tools = list(dict.fromkeys(row.texts["workload"] for row in rows))
    return ImportedRun(imported_summary(run, list(tables), cells, moments, tools=tools), cells)


def _cell_key(row: TableRow, storage: tuple[Part, str], given: Given) -> tuple[str, str, str, int]:
    instance_type = row.texts.get("instanceType", given.instance_type or "")
    return json.dumps(storage[0]), row.texts["workload"], instance_type, row.number("instances") or 1


def _point_key(row: TableRow) -> str:
    return json.dumps(row.part("param"), sort_keys=True)


def _repeated(rows: Sequence[TableRow], columns: Mapping[str, FigureColumn]) -> Iterator[Problem]:
    """Yield a problem for each row with a metric of which another row of its point has the percentiles."""
    first: dict[tuple[str, str], TableRow] = {}
    for row in rows:
        for metric, level in {columns[name].metric: columns[name].level for name in row.figures}.items():
            earlier = first.setdefault((_point_key(row), metric), row)
            is_percentile = level or any(
                columns[name].metric == metric and columns[name].level for name in earlier.figures
            )
            if earlier is not row and is_percentile:
                rule = f"has percentiles or values of the same point as {earlier.place}, which cannot be put together"
                yield Problem(f"{row.place}, {metric}", None, rule, "keep one row, or let them differ in a param.NAME")


def _storage_key(row: TableRow) -> str:
    return json.dumps([row.texts.get("storage"), row.part("storage")])


def _storages(rows: Iterable[TableRow], given: Given, problems: list[Problem]) -> dict[str, tuple[Part, str]]:
    """Return each storage with its defaults, and the id of its file system; add the problems of others."""
    found: dict[str, tuple[Part, str]] = {}
    for row in rows:
        key = _storage_key(row)
        if key in found:
            continue
        kind, fields = row.texts.get("storage"), row.part("storage")
        if fields and kind is None:
            problems.append(Problem(f"{row.place}, storage", None, "is empty", "write the type that has these fields"))
        try:
            found[key] = storage_of({"type": kind, **fields} if fields and kind else kind or given.storage)
        except InvalidMatrix as invalid:
            found[key] = {}, ""
            is_of_row = fields or kind is not None
            # Problems of the workload on it, which is not the row's, matter only if there is no other.
            of_storage = [each for each in invalid.problems if each.path.startswith("storage")] or invalid.problems
            problems += [
                replace(each, path=f"{row.place}, {each.path.replace('storage[0]', 'storage')}") if is_of_row else each
                for each in of_storage
            ]
    return found


def _cell(
    key: tuple[str, str, str, int],
    rows: Sequence[TableRow],
    file_system: str,
    slug: str,
    columns: Mapping[str, FigureColumn],
) -> ResultDocument:
    storage, name, instance_type, count = json.loads(key[0]), *key[1:]
    fleet: Fleet = {"instanceType": instance_type, "count": count}
    by_point = grouped((_point_key(row), row) for row in rows)
    points = [
        _point(f"p{number:02d}", of_point, columns, is_fleet_shared=is_shared(storage))
        for number, of_point in enumerate(by_point.values(), start=1)
    ]
    own = {
        column.metric: {"unit": column.known.unit, "better": "higher" if column.known.higher_is_better else "lower"}
        for row in rows
        for name_of_column in row.figures
        if (column := columns[name_of_column]).is_own
    }
    doubts = [row.texts["suspect"] for row in rows if "suspect" in row.texts]
    remarks = [remark for row in rows for remark in row.remarks]
    return cast(
        "ResultDocument",
        {
            "id": cell_id(file_system, slug, f"{fleet['instanceType'] or UNKNOWN}-x{fleet['count']}"),
            "file_system": file_system,
            "storage": storage,
            "workload": {"type": "command", "name": name} | ({"metrics": own} if own else {}),
            "fleet": fleet,
            "state": "measured",
            "error": None,
            "expected_s": None,
            "actual_s": None,
            "points": points,
            "suspect": next(iter(doubts), None),
            "warnings": [
                *(OfSource(text=text).document for text in dict.fromkeys(doubts + remarks)),
                *point_warnings(points),
            ],
        },
    )


def _point(
    name: str, rows: Sequence[TableRow], columns: Mapping[str, FigureColumn], *, is_fleet_shared: bool
) -> PointResult:
    places = _places(rows)
    told = [column for row in rows for column, value in row.figures.items() if value is not None]
    names = list(dict.fromkeys(columns[column].metric for column in told))
    metrics = {
        metric: metric_result(metric, rows, columns, is_primary=metric == names[0], is_fleet_shared=is_fleet_shared)
        for metric in names
    }
    values = {column.metric: key for key, column in columns.items() if column.level is None}
    samples: SampleColumns = {
        "instance": [instance for instance, _ in places],
        "repetition": [repetition for _, repetition in places],
        **{f"{moment}_at": [row.at or 0.0 for row in rows] for moment in ("started", "ended")},  # type: ignore[typeddict-item]
        "start_skew_s": [None] * len(rows),
        "metrics": {metric: [row.figures.get(values[metric]) for row in rows] for metric in names if metric in values},
    }
    label = rows[0].texts.get("label")
    return cast(
        "PointResult",
        {
            "id": name,
            "params": rows[0].part("param"),
            "metrics": {metric: {"findings": []} | result for metric, result in metrics.items()},
            "fleet": [],
            "overhead_share": 0.0,
            "latency": {},
            "samples": samples,
            **({"label": label} if label else {}),
        },
    )


def _places(rows: Iterable[TableRow]) -> list[tuple[str, int]]:
    """Return the instance and repetition of each row of a point."""
    places: list[tuple[str, int]] = []
    for row in rows:
        instance = row.texts.get("instance", FLEET)
        places.append((instance, 1 + sum(other == instance for other, _ in places)))
    return places


def metric_result(
    metric: str,
    rows: Sequence[TableRow],
    columns: Mapping[str, FigureColumn],
    *,
    is_primary: bool,
    is_fleet_shared: bool = False,
    is_counted: bool = True,
) -> MetricResult:
    """Return the figures of a metric of a point; not `is_counted`: of how many values is not known."""
    of_metric = {name: column for name, column in columns.items() if column.metric == metric}
    known = next(iter(of_metric.values())).known
    shown = {"unit": known.unit, "higher_is_better": known.higher_is_better, "primary": is_primary}
    values = [
        (*place, value)
        for row, place in zip(rows, _places(rows), strict=True)
        for name, column in of_metric.items()
        if column.level is None and (value := row.figures.get(name)) is not None
    ]
    if not values:
        return cast("MetricResult", shown | _given_percentiles(rows, of_metric))
    n = len(values) if is_counted else None
    of_fleet = FleetValues.of(values, is_shared=is_fleet_shared)
    described = describe(of_fleet, higher_is_better=known.higher_is_better, is_primary=is_primary and is_counted)
    figures = percentiles([value for *_, value in values])
    return cast("MetricResult", shown | {"n": n, "expected_n": n} | figures | described)


def _given_percentiles(rows: Sequence[TableRow], columns: Mapping[str, FigureColumn]) -> Part:
    """Return the percentiles of the row that has them, and of how many values they are."""
    row = next(row for row in rows if any(name in row.figures for name in columns))
    levels = {column.level: row.figures[name] for name, column in columns.items() if name in row.figures}
    at_least = row.number("n_at_least")
    n = None if at_least else row.number("n")
    figures = {f"p{level}": levels[f"p{level}"] for level in LEVELS}
    return {"n": n, "expected_n": n, **figures, "mean": None} | ({"n_at_least": at_least} if at_least else {})
