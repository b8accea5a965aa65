"""A run's figures as flat rows for queries: one row for each metric of each point of each cell.

No name is a reserved word of DynamoDB or Athena, so queries need no placeholders. Missing values are left out.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from matrix.answer.costs import Bill
from matrix.input.storage_names import storage_label
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.result import MetricResult, PointResult, ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import PERCENTILES, SLOW_OF_RATES
from matrix.terms.fingerprint import cell_key
from matrix.terms.measured import measured
from matrix.terms.names import fleet_that_ran
from matrix.terms.sentences import error_text

Row = dict[str, Any]

# Possible columns of a row, with the types of Athena and DuckDB. `params` is JSON: its fields differ by workload.
COLUMNS = {
    **dict.fromkeys(("run", "run_name", "environment", "aws_region", "measured_at"), "string"),
    **dict.fromkeys(("cell", "cell_key", "cell_state", "failure"), "string"),
    **dict.fromkeys(("storage_id", "storage_type", "storage_label", "workload_type", "workload_name"), "string"),
    **{"instance_type": "string", "instance_count": "int", "is_spot": "boolean", "launches": "int"},
    **{"cell_seconds": "double", "cell_usd": "double"},
    **dict.fromkeys(("point", "point_label", "params", "ceiling", "usd_per"), "string"),
    **{"usd": "double", "usd_billed": "double"},
    **{"metric": "string", "metric_unit": "string", "higher_is_better": "boolean", "is_primary": "boolean"},
    **{"sample_count": "int", **dict.fromkeys((*PERCENTILES, "mean", "p50_low", "p50_high", *SLOW_OF_RATES), "double")},
}


@dataclass(frozen=True)
class Origin:
    """The run of a row."""

    run: str
    name: str
    environment: str
    region: str | None
    began_at: float  # epoch seconds

    @classmethod
    def of_plan(cls, plan: PlanDocument) -> "Origin":
        """Return the origin of the rows of a run that has a plan."""
        return cls(plan["run"], plan["name"], plan["environment"], plan["region"], plan["created_at"])

    @classmethod
    def of_summary(cls, summary: SummaryDocument, region: str | None) -> "Origin":
        """Return the run's facts from its summary. Published figures have no time."""
        return cls(summary["run"], summary["name"], summary["environment"], region, summary.get("started_at") or 0.0)


def rows_of(origin: Origin, result: ResultDocument, bill: Bill | None) -> Iterator[Row]:
    """Yield the rows of a cell of a run; a cell without figures has one row with the reason.

    `is_primary` marks the primary metric of its point. Each row has the costs if `bill` is given.
    """
    cell = _of_cell(origin, result, bill)
    rows: list[Row] = []
    for _, metrics in groupby(measured([result]), key=lambda each: each.point["id"]):
        first, *others = metrics
        of_point = {**cell, **_of_point(result, first.point, first.label, bill)}
        rows += [
            {**of_point, **_of_metric(each.name, each.metric), "is_primary": each.is_judged}
            for each in (first, *others)
        ]
    for row in rows or [{**cell, "is_primary": True}]:
        yield {name: value for name, value in row.items() if value not in (None, "")}


def to_json_lines(rows: Iterable[Row]) -> str:
    """Write rows as Athena reads them, one to a line."""
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in _flat(rows))


def _flat(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows with parameters as text, as their fields differ by workload."""
    for row in rows:
        yield {**row, "params": json.dumps(row.get("params", {}), sort_keys=True)}


def _of_cell(origin: Origin, result: ResultDocument, bill: Bill | None) -> Row:
    storage, workload, fleet = result["storage"], result["workload"], fleet_that_ran(result)
    billed = bill.cell_usd(result) if bill else None
    return {
        "run": origin.run,
        "run_name": origin.name,
        "environment": origin.environment,
        "aws_region": origin.region,
        # When the run began, in UTC: the same in all of its rows.
        "measured_at": datetime.fromtimestamp(origin.began_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "cell": result["id"],
        "cell_key": cell_key(origin.environment, storage, workload, fleet),
        "cell_state": result["state"],
        "failure": error_text(result["error"]),
        "storage_id": result["file_system"],
        "storage_type": storage["type"],
        "storage_label": storage_label(storage),
        "workload_type": workload["type"],
        "workload_name": workload.get("name"),
        "instance_type": fleet["instanceType"],
        "instance_count": fleet["count"],
        "is_spot": bool(fleet.get("spot")),
        "launches": len(result.get("launches") or []) or None,
        "cell_seconds": result["actual_s"],
        "cell_usd": billed[0] if billed else None,
    }


def _of_point(result: ResultDocument, point: PointResult, label: str, bill: Bill | None) -> Row:
    bottleneck = result.get("bottleneck")
    cost = bill.point_cost(result, point) if bill else None
    return {
        "point": point["id"],
        "point_label": label,
        "params": point["params"],
        "ceiling": bottleneck["points"].get(point["id"], bottleneck["name"]) if bottleneck else None,
        "usd_per": cost.per if cost else None,
        "usd": cost.usd if cost else None,
        "usd_billed": cost.usd_billed if cost else None,
    }


def _of_metric(name: str, metric: MetricResult) -> Row:
    median = (metric.get("intervals") or {}).get("p50")
    return {
        "metric": name,
        "metric_unit": metric["unit"],
        "higher_is_better": metric["higher_is_better"],
        "sample_count": metric["n"],
        **{percentile: metric.get(percentile) for percentile in (*PERCENTILES, *SLOW_OF_RATES)},
        "mean": metric.get("mean"),
        "p50_low": median["low"] if median else None,
        "p50_high": median["high"] if median else None,
    }
