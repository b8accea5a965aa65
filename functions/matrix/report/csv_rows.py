"""A run as CSV: one row per cell, point and metric."""

import json
from collections.abc import Iterator
from typing import Any

from matrix.input.storage_names import brief_names, cell_names
from matrix.tables.csv_table import csv_table
from matrix.tables.point_figures import csv_columns, csv_values
from matrix.tables.table import Table, TableColumn, exact_row
from matrix.terms.documents.result import PointResult, ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import PERCENTILES, SLOW_OF_RATES
from matrix.terms.measured import Measured, measured
from matrix.terms.names import marks
from matrix.terms.open_loop import HIGHEST_RATE
from matrix.terms.sentences import error_text

# Programs read columns by their place: a new one is the last.
_FIRST_COLUMNS = (
    *("run", "environment", "cell", "state", "file_system", "storage", "instance_type", "instances"),
    *("launches", "point", "label", "params", "metric", "unit", "higher_is_better", "primary", "n", "expected_n"),
    *PERCENTILES,
    *("mean", "independent_n", "not_carried", "p50_low", "p50_high", "tool_share", "error", "bottleneck", "marks"),
    *("judged_samples", "steady_samples", "steady_from_s", "steady_ratio", "too_short_samples", "too_noisy_samples"),
    *SLOW_OF_RATES,
)


def to_csv(summary: SummaryDocument) -> str:
    """Render the run as CSV: one row per cell, point and metric; a cell that has none keeps a row with its error.

    The times that AWS took for a storage are rows without a cell.
    """
    more = [column for column in csv_columns() if column not in _FIRST_COLUMNS]
    columns = [TableColumn(name) for name in (*_FIRST_COLUMNS, *more)]
    return csv_table(Table(summary["run"], columns, [exact_row(columns, values) for values in _rows(summary)]))


def _rows(summary: SummaryDocument) -> Iterator[dict[str, Any]]:
    names = cell_names(summary.get("cells", []))
    for cell in summary.get("cells", []):
        rows = [*(_csv_metric(each) for each in measured([cell])), *_csv_highest_rates(cell)] or [{}]
        yield from ({**_csv_cell(summary, cell), "storage": names[cell["id"]], **row} for row in rows)
    times = summary.get("service_times") or []
    of_storages = brief_names((time["file_system"], time["storage"]) for time in times)
    for time in times:
        about = {"run": summary.get("run"), "environment": summary.get("environment"), "unit": "s"}
        yield {**about, **time, "storage": of_storages[time["file_system"]], "higher_is_better": False}


def _csv_cell(summary: SummaryDocument, cell: ResultDocument) -> dict[str, Any]:
    fleet = cell.get("fleet") or {}
    return {
        "run": summary.get("run"),
        "environment": summary.get("environment"),
        "cell": cell.get("id"),
        "state": cell.get("state"),
        "file_system": cell.get("file_system"),
        "instance_type": fleet.get("instanceType"),
        "instances": fleet.get("count"),
        "launches": sum(launch["state"] == "measured" for launch in cell.get("launches") or []) or None,
        "error": error_text(cell.get("error")),
    }


def _csv_metric(each: Measured) -> dict[str, Any]:
    cell, point = each.cell, each.point
    bottleneck, tool = cell.get("bottleneck"), point.get("tool_ceiling")
    return {
        **_csv_facts(each),
        **csv_values(each),
        "bottleneck": (bottleneck.get("points") or {}).get(point["id"]) if bottleneck else None,
        "marks": "; ".join(marks(point, cell)),
        "tool_share": tool.get("share") if tool else None,
    }


def _csv_highest_rates(cell: ResultDocument) -> Iterator[dict[str, Any]]:
    """One row per sweep of rates with a limit, at the point that kept it."""
    for sweep in cell.get("highest_rates") or []:
        params = {**sweep["params"], "p99_at_most_ms": sweep["p99_at_most_ms"]}
        point: PointResult = {"id": sweep["held"] or "", "params": params, "metrics": {}}
        highest = Measured(cell, point, "", HIGHEST_RATE, sweep["metric"], is_judged=False)
        yield {**_csv_facts(highest), **csv_values(highest, are_of_metric=True)}


def _csv_facts(each: Measured) -> dict[str, Any]:
    return {
        "point": each.point["id"],
        "label": each.label,
        "params": json.dumps(each.point.get("params") or {}, sort_keys=True),
        "metric": each.name,
        **{key: each.metric.get(key) for key in ("unit", "higher_is_better", "primary", "mean")},
    }
