"""The published Yocto builds as a run, for reports and comparisons."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from matrix.published.figures import YOCTO, SourceRow, load
from matrix.statistics.percentiles import LEVELS
from matrix.terms.documents.parts import Failure, Fleet, Part
from matrix.terms.documents.result import MetricResult, PointResult, ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.ids import cell_id, unique_slugs
from matrix.terms.metrics import METRICS

# Months of the authors' later measurements: EFS elastic became faster, FSx got more IOPS.
LATER = ("2023-05", "2023-08")


def yocto_run(run: str) -> SummaryDocument:
    """Return the published Yocto builds as a run's summary, marked as published."""
    return _run(run, "Published: Yocto builds on EBS, EFS and FSx for OpenZFS", load(YOCTO)["cells"])


def later_run(run: str, month: str) -> SummaryDocument:
    """Return the authors' measurements of a later month, such as 2023-05, as a dated run's summary."""
    cells = [cell for cell in load(YOCTO)["later"] if cell["date"].startswith(month)]
    at = datetime.strptime(max(cell["date"] for cell in cells), "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    summary = _run(run, f"Published: Yocto builds, measured again in {month}", cells)
    return {**summary, "started_at": at, "finished_at": at}


def published_summary(run: str, name: str, source: str, cells: list[ResultDocument], note: str) -> SummaryDocument:
    """Return the summary of a run of published cells; `note` has caveats of its figures."""
    measured = sum(cell["state"] == "measured" for cell in cells)
    return {
        "schema": 1,
        "run": run,
        "name": name,
        "environment": "published",
        "source": source,
        "started_at": None,
        "finished_at": None,
        "status": f"{measured} of {len(cells)} rows have figures",
        "cells": cells,
        "totals": {"cells": len(cells), "measured": measured, "failed": len(cells) - measured},
        "cost_usd": None,
        "left_behind": [],
        "warnings": [f"published figures, not measured here: {source}", note],
    }


def _run(run: str, name: str, rows: list[SourceRow]) -> SummaryDocument:
    document = load(YOCTO)
    storages = [json.dumps(cell["storage"]) for cell in rows]
    distinct = list(dict.fromkeys(storages))
    wanted = [(_slug(json.loads(storage)), storage) for storage in distinct]
    slugs = dict(zip(distinct, unique_slugs(wanted), strict=True))
    cells = [_yocto_cell(document, cell, slugs[storage]) for cell, storage in zip(rows, storages, strict=True)]
    note = (
        "the source has percentiles only, so there are no intervals; it does not say whether EFS bursting lived on "
        "credits, which a fleet that builds all day may use up"
    )
    return published_summary(run, name, document["source"], cells, note)


def _yocto_cell(document: SourceRow, cell: SourceRow, file_system: str) -> ResultDocument:
    count = cell["instances"]
    # A row with its P0 alone has no figure to judge by.
    percentiles = cell["percentiles_s"] if "p50" in (cell["percentiles_s"] or {}) else None
    fleet: Fleet = {"instanceType": document["instanceType"], "count": count}
    name = cell_id(file_system, "yocto", f"{document['instanceType']}-x{count}")
    missing: Failure = {"name": "not published", "message": cell.get("note") or "the source leaves this cell empty"}
    return {
        "id": name,
        "file_system": file_system,
        "storage": cell["storage"],
        "workload": document["workload"],
        "fleet": fleet,
        "state": "measured" if percentiles else "failed",
        "error": None if percentiles else missing,
        "expected_s": None,
        "actual_s": None,
        "points": [_yocto_point(document, percentiles, count)] if percentiles else [],
        "suspect": cell.get("note") if percentiles else None,
        "warnings": [{"code": "of-source", "text": cell["note"]}] if percentiles and cell.get("note") else [],
    }


def _yocto_point(document: SourceRow, percentiles: Mapping[str, float], count: int) -> PointResult:
    # Cells of one instance have percentiles over several builds; the source omits how many.
    n = count if count > 1 else None
    metric = METRICS["duration_s"]
    figures = {f"p{level}": float(percentiles[f"p{level}"]) for level in LEVELS}
    duration = {
        **{"unit": metric.unit, "higher_is_better": metric.higher_is_better, "primary": True},
        **{"n": n, "expected_n": n, **figures, "mean": None},
    }
    return {
        "id": "p01",
        "params": {"image": document["workload"]["image"]},
        "label": document["workload"]["image"],
        "metrics": {"duration_s": cast("MetricResult", duration)},
        "fleet": [],
        "latency": {},
    }


def _slug(storage: Part) -> str:
    words = [storage["type"], *(str(value) for name, value in storage.items() if name not in ("type", "placement"))]
    return "-".join(words).lower()
