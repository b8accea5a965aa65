"""The matrix of a run: storages down, points of workloads on fleets across, coloured as figures arrive.

Pure: it turns a plan, rows of the table and a time into a document.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from cli.console.documents import Column, Figure, Fleet, Matrix, MatrixCell, MatrixRow
from cli.follow.heartbeats import judged_by
from cli.follow.progress import ENDED_RUNS, NOT_MEASURED, CellProgress, RunProgress
from cli.follow.spending import money
from matrix.input.storage_names import brief_names
from matrix.report.heat_map import LEVELS
from matrix.terms.documents.plan import PlanCell, PlanDocument
from matrix.terms.documents.result import MetricResult, PointMetrics
from matrix.terms.grouping import grouped
from matrix.terms.names import (
    canonical,
    describe_fleet,
    natural_order,
    point_labels,
    primary_metric,
    shared_and_own,
    workload_names,
)
from matrix.terms.quantities import factor, quantity

# Sizes in xlarges: each is half of the next. metal is the largest of its family.
SIZES = {"nano": 1 / 32, "micro": 1 / 16, "small": 1 / 8, "medium": 1 / 4, "large": 1 / 2}


@dataclass
class Layout:
    """The position of each cell. It depends only on the plan, so it is computed once."""

    plan: PlanDocument
    columns: list[Column] = field(init=False)
    rows: list[tuple[str, str, list[PlanCell]]] = field(init=False)
    """Id and label of each file system, and its cells in the order of columns."""
    keys: dict[tuple[str, str], str] = field(init=False)
    """Key of a point's column, by cell and point."""

    def __post_init__(self) -> None:
        """Lay out."""
        names = workload_names(cell["workload"] for cell in self.plan["cells"])
        known: dict[tuple[str, str, str], tuple[tuple[Any, ...], Column]] = {}
        self.keys = {}
        telling = _telling_labels(self.plan["cells"], names)
        for cell in self.plan["cells"]:
            workload, fleet = names[canonical(cell["workload"])], describe_fleet(cell["fleet"])
            for number, (point, label) in enumerate(point_labels(cell["points"]).items()):
                place = (workload, *_type_order(cell["fleet"]["instanceType"]), cell["fleet"]["count"], fleet, number)
                key = f"{workload}|{fleet}|{label}"
                column: Column = {
                    "key": key,
                    "workload": workload,
                    "fleet": fleet,
                    "point": telling[workload].get(label, label),
                    "label": label,
                    "metric": "",
                }
                known.setdefault((workload, fleet, label), (place, column))
                self.keys[cell["id"], point] = key
        self.columns = [column for _, column in sorted(known.values(), key=lambda entry: _sortable(entry[0]))]
        order = {column["key"]: place for place, column in enumerate(self.columns)}
        # The page says at its top that it is not AWS.
        labels = brief_names(((system["id"], system["storage"]) for system in self.plan["file_systems"]), mark="")
        cells = {system["id"]: [] for system in self.plan["file_systems"]}  # type: dict[str, list[PlanCell]]
        for cell in sorted(self.plan["cells"], key=lambda cell: order[self._columns_of(cell)[0]]):
            cells.setdefault(cell["file_system"], []).append(cell)
        launches = {system["id"]: system.get("launch") for system in self.plan["file_systems"]}
        rows = [(id_, labels.get(id_, id_), launches.get(id_), of_it) for id_, of_it in cells.items() if of_it]
        self.rows = [
            (id_, f"{label}, launch {launch}" if launch else label, of_it)
            for id_, label, launch, of_it in sorted(rows, key=lambda row: (natural_order(row[1]), row[2] or 0))
        ]

    def _columns_of(self, cell: PlanCell) -> list[str]:
        return [self.keys[cell["id"], point["id"]] for point in cell["points"]]

    def matrix(
        self,
        progress: RunProgress,
        points: Mapping[str, Sequence[PointMetrics]],
        now: float,
        fleets: Mapping[str, Fleet] | None = None,
    ) -> Matrix:
        """Return the current matrix.

        `points` are the rows of measured cells' points, `fleets` those of running cells.
        """
        cells = {cell.id: cell for cell in progress.cells}
        systems = {system.id: system for system in progress.file_systems}
        judged = _judged(self, points)
        figures = _figures(judged)
        rows: list[MatrixRow] = []
        for id_, label, planned in self.rows:
            system = systems.get(id_)
            shown = [
                self._cell(cell, label, cells.get(cell["id"]), figures, now, (fleets or {}).get(cell["id"]))
                for cell in planned
            ]
            rows.append(
                {
                    "file_system": id_,
                    "label": label,
                    "note": id_,
                    "state": system.state
                    if system
                    else NOT_MEASURED
                    if progress.execution.status in ENDED_RUNS
                    else "planned",
                    "error": system.error if system else "",
                    "cells": shown,
                }
            )
        metrics = {key: _describe(entries[-1][1]) for key, entries in judged.items()}
        return {
            "columns": [{**column, "metric": metrics.get(column["key"], "")} for column in self.columns],
            "rows": rows,
        }

    def _cell(
        self,
        cell: PlanCell,
        storage: str,
        progress: CellProgress | None,
        figures: Mapping[str, list[Figure]],
        now: float,
        fleet: Fleet | None,
    ) -> MatrixCell:
        at = progress or CellProgress(cell["id"], cell["file_system"])
        columns = self._columns_of(cell)
        is_running = at.state in ("waiting", "running")
        fleet = fleet if is_running or at.state in ("stopping", "analysing") else None
        if fleet and fleet["step"] is not None and is_running:
            # Heartbeats are newer than the table's row.
            at = replace(at, state="running", step=max(fleet["step"], at.step or 0), share=fleet["share"])
        so_far = _so_far(cell, fleet) if fleet else {}
        step = min(at.step or 0, len(cell["steps"]) - 1)
        return {
            "id": cell["id"],
            "name": f"{storage}, {at.fleet}" if at.fleet else cell["id"],
            "file_system": cell["file_system"],
            "columns": columns,
            "state": at.state,
            "words": at.describe_state(),
            "live": _live(fleet) if fleet and is_running else "",
            "fraction": round(at.fraction(now), 3),
            "error": at.error,
            "cost": money(cell["cost_usd"]["expected"]),
            "figures": sorted(figures.get(cell["id"], []), key=lambda figure: columns.index(figure["column"])),
            "so_far": {self.keys[cell["id"], point]: words for point, words in so_far.items()},
            "at": self.keys[cell["id"], cell["steps"][step]["point"]] if so_far else "",
        }


def _so_far(cell: PlanCell, fleet: Fleet) -> dict[str, str]:
    """Return the median of each point's uploaded samples; empty if its points are judged by different metrics."""
    samples = grouped(
        (step["point"], value)
        for number, step in enumerate(cell["steps"])
        for instance in fleet["instances"]
        if number < len(instance["values"]) and (value := instance["values"][number]) is not None
    )
    return {point: quantity(median(values), fleet["unit"]) for point, values in samples.items() if judged_by(cell)}


def _live(fleet: Fleet) -> str:
    """Return the current traffic of a fleet and the result of its last finished step, in words."""
    last = next((step for step in reversed(fleet["steps"]) if step["median"] is not None), None)
    return ", ".join(filter(None, [fleet["traffic"], f"last {last['words'].strip()}" if last else ""]))


def _judged(layout: Layout, points: Mapping[str, Sequence[PointMetrics]]) -> dict[str, list[tuple[str, MetricResult]]]:
    """Return the cells and primary metrics of each column that has any, by the column's key."""
    return grouped(
        (key, (cell, named[1]))
        for cell, rows in points.items()
        for row in rows
        if (named := primary_metric(row)) and (key := layout.keys.get((cell, str(row.get("id")))))
    )


def _describe(metric: MetricResult) -> str:
    """Return a description of the figures of a column, such as `P50, higher is better`."""
    return f"P50, {'higher' if metric.get('higher_is_better') else 'lower'} is better"


def _figures(by_column: Mapping[str, list[tuple[str, MetricResult]]]) -> dict[str, list[Figure]]:
    """Return the figures of each cell, compared with the best of its column."""
    figures: dict[str, list[Figure]] = {}
    for key, judged in by_column.items():
        entries = [(cell, metric) for cell, metric in judged if isinstance(metric.get("p50"), int | float)]
        if not entries:
            continue
        higher = bool(entries[0][1].get("higher_is_better"))
        best_cell, best = (max if higher else min)(entries, key=lambda entry: entry[1]["p50"])
        for cell, metric in entries:
            ratio = _ratio(metric["p50"], best["p50"], higher=higher) if len(entries) > 1 else None
            is_best = cell == best_cell
            figure: Figure = {
                "column": key,
                "words": quantity(metric["p50"], str(metric.get("unit", ""))),
                "n": metric.get("n"),
                "times": "" if ratio is None else f"×{factor(ratio)}",
                "level": sum(ratio > limit for limit in LEVELS) if ratio is not None else 0,
                "is_best": is_best and len(entries) > 1,
                "is_open": not is_best and _is_open(metric, best),
            }
            figures.setdefault(cell, []).append(figure)
    return figures


def _ratio(value: float, best: float, *, higher: bool) -> float | None:
    """Return how many times worse than the best a value is. None if it would be divided by zero."""
    above, below = (best, value) if higher else (value, best)
    return above / below if below else None


def _is_open(metric: MetricResult, best: MetricResult) -> bool:
    """Return whether the difference of two medians is not significant: their intervals overlap, or one has none.

    This is stricter than the decision at the end of the run, which compares the values themselves.
    """
    ends = [(each.get("intervals") or {}).get("p50") for each in (metric, best)]
    if not all(ends):
        return True
    (low, high), (best_low, best_high) = ((end["low"], end["high"]) for end in ends if end)
    return bool(low <= best_high and best_low <= high)


def _telling_labels(cells: Iterable[PlanCell], names: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return short labels of each workload's points, without the parts that all its labels share."""
    labels: dict[str, list[str]] = {}
    for cell in cells:
        labels.setdefault(names[canonical(cell["workload"])], []).extend(point_labels(cell["points"]).values())
    return {workload: shared_and_own(of_it)[1] for workload, of_it in labels.items()}


def _type_order(instance_type: str) -> tuple[str, float]:
    """Return a sort key (family, size in xlarges) that puts m6i.large before m6i.xlarge before m6i.4xlarge."""
    family, _, size = instance_type.partition(".")
    if size.endswith("xlarge"):
        return family, float(size.removesuffix("xlarge") or 1)
    return family, SIZES.get(size, math.inf)


def _sortable(place: tuple[Any, ...]) -> tuple[tuple[bool, Any], ...]:
    """Return a sort key that can compare numbers with texts."""
    return tuple((isinstance(part, str), part) for part in place)
