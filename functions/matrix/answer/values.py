"""The values of a run's points for comparisons, from its summary and results."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from matrix.input.storage_names import storage_label
from matrix.statistics.fleet_values import from_columns
from matrix.storages.models import is_shared
from matrix.terms.documents.result import MetricResult, PointResult, ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.documents.values import JudgedCell, JudgedPoint, ValuesDocument
from matrix.terms.fingerprint import same_storage
from matrix.terms.names import fleet_that_ran, point_labels, primary_metric
from matrix.terms.sentences import reason_of

SCHEMA = 1
NONE: Mapping[str, ResultDocument] = MappingProxyType({})
# Of the samples that must be at least as good, in percent, where the matrix has no objective.
TAIL = 90.0


def values_of(summary: SummaryDocument, results: Mapping[str, ResultDocument] = NONE) -> ValuesDocument:
    """Return the values of a run; its cells' `results` supply samples that the summary's own points lack."""
    decision = summary.get("decision")
    objective = decision["objective"] if decision else None
    wanted = Wanted(str(objective["metric"]), float(decision["percentile"])) if decision and objective else None
    cells = [_cell(cell, results.get(cell["id"], cell), wanted) for cell in summary.get("cells", [])]
    return {
        "schema": SCHEMA,
        "run": summary["run"],
        "started_at": summary.get("started_at"),
        "environment": summary["environment"],
        "objective": wanted.metric if wanted else None,
        "cells": cells,
    }


class Wanted(NamedTuple):
    """The metric of the matrix's objective, and the share of samples that must reach its limit, in percent."""

    metric: str
    percent: float


def _judged(point: PointResult, wanted: Wanted | None) -> Iterator[tuple[str, MetricResult]]:
    """Yield the metrics that a point is judged by: its main one, and that of the objective if it is another."""
    primary = primary_metric(point)
    if primary:
        yield primary
    if primary and wanted and wanted.metric != primary[0] and (figures := point["metrics"].get(wanted.metric)):
        yield wanted.metric, figures


def _cell(cell: ResultDocument, result: ResultDocument, wanted: Wanted | None) -> JudgedCell:
    shared, is_measured = is_shared(cell["storage"]), cell["state"] == "measured"
    measured = (cell["points"] or []) if is_measured else []
    samples = {point["id"]: point.get("samples") for point in result["points"] or []}
    judged = [(point, *judged) for point in measured for judged in _judged(point, wanted)]
    tables = {
        (point["id"], metric): from_columns(columns, metric, is_shared=shared)
        for point, metric, _ in judged
        if (columns := samples.get(point["id"]))
    }
    instances = sorted({instance for table in tables.values() for instance in table.instances})
    repetitions = sorted({repetition for table in tables.values() for repetition in table.repetitions})
    launch_of = {
        instance: launch
        for table in tables.values()
        for instance, launch in zip(table.instances, table.launch_numbers, strict=False)
    }
    labels = point_labels(measured)
    points: list[JudgedPoint] = []
    for point, metric, figures in judged:
        is_primary = not points or points[-1]["id"] != point["id"]
        table = tables.get((point["id"], metric))
        percent = wanted.percent if wanted and wanted.metric == metric else TAIL
        points.append(
            {
                "id": point["id"],
                "params": point["params"],
                "label": labels[point["id"]] if is_primary else f"{labels[point['id']]}: {metric}",
                "is_primary": is_primary,
                "metric": metric,
                "unit": figures["unit"],
                "higher_is_better": figures["higher_is_better"],
                "p50": figures.get("p50"),
                "n": figures.get("n"),
                "level": 100 - percent if figures["higher_is_better"] else percent,
                "interval": (figures.get("intervals") or {}).get("p50"),
                "median_uncertainty": figures.get("median_uncertainty"),
                "values": table.rows(instances, repetitions) if table else None,
            }
        )
    return {
        "id": cell["id"],
        "state": cell["state"],
        "reason": None if is_measured else reason_of(cell),
        "storage": cell["storage"],
        # Two runs may call the same storage by other names.
        "storage_label": storage_label(same_storage(cell["storage"])),
        "is_shared": shared,
        "workload": cell["workload"],
        "fleet": fleet_that_ran(cell),
        "is_relaunched": bool(cell.get("launches")),
        "is_own": "taken_from" not in cell,
        "instances": instances,
        "launches": [launch_of[instance] for instance in instances if launch_of],
        "repetitions": repetitions,
        "points": points,
    }
