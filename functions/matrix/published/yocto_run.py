"""The published Yocto builds as a run, for reports and comparisons."""

import json
from typing import Any, cast

from matrix.published.figures import YOCTO, load
from matrix.statistics.percentiles import LEVELS
from matrix.terms.documents.parts import Failure, Fleet
from matrix.terms.documents.result import MetricResult, PointResult, ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.ids import cell_id, unique_slugs
from matrix.terms.metrics import METRICS

Document = dict[str, Any]


def yocto_run(run: str) -> SummaryDocument:
    """Return the published Yocto builds as a run's summary, marked as published."""
    document = load(YOCTO)
    storages = [json.dumps(cell["storage"]) for cell in document["cells"]]
    distinct = list(dict.fromkeys(storages))
    wanted = [(_slug(json.loads(storage)), storage) for storage in distinct]
    slugs = dict(zip(distinct, unique_slugs(wanted), strict=True))
    cells = [
        _yocto_cell(document, cell, slugs[storage]) for cell, storage in zip(document["cells"], storages, strict=True)
    ]
    measured = sum(cell["state"] == "measured" for cell in cells)
    return {
        "schema": 1,
        "run": run,
        "name": "Published: Yocto builds on EBS, EFS and FSx for OpenZFS",
        "environment": "published",
        "source": document["source"],
        "started_at": None,
        "finished_at": None,
        "status": f"{measured} of {len(cells)} cells were published",
        "cells": cells,
        "totals": {"cells": len(cells), "measured": measured, "failed": len(cells) - measured},
        "cost_usd": None,
        "left_behind": [],
        "warnings": [
            f"published figures, not measured here: {document['source']}",
            "they are percentiles only: no single values, so no intervals, and no n where the source tells none",
        ],
    }


def _yocto_cell(document: Document, cell: Document, file_system: str) -> ResultDocument:
    count = cell["instances"]
    percentiles = cell["percentiles_s"]
    fleet: Fleet = {"instanceType": document["instanceType"], "count": count}
    name = cell_id(file_system, "yocto", f"{document['instanceType']}-x{count}")
    missing: Failure = {"name": "NotPublished", "message": cell.get("note") or "the source leaves this cell empty"}
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
        "warnings": [cell["note"]] if percentiles and cell.get("note") else [],
    }


def _yocto_point(document: Document, percentiles: Document, count: int) -> PointResult:
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


def _slug(storage: Document) -> str:
    words = [storage["type"], *(str(value) for name, value in storage.items() if name not in ("type", "placement"))]
    return "-".join(words).lower()
