"""The published Yocto builds as a run, for reports and comparisons."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import cast

from matrix.published.figures import YOCTO, SourceRow, load
from matrix.statistics.percentiles import LEVELS
from matrix.terms.documents.parts import Failure, Fleet, Part
from matrix.terms.documents.result import MetricResult, PointResult, ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.findings.warnings import OfSource
from matrix.terms.ids import cell_id, unique_slugs
from matrix.terms.metrics import METRICS
from matrix.terms.sentences import NOT_PUBLISHED

# Months of the authors' later measurements: EFS elastic became faster, FSx got more IOPS.
LATER = ("2023-05", "2023-08")


def yocto_run(run: str) -> SummaryDocument:
    """Return the published Yocto builds as a run's summary, marked as published, of the day that some rows have."""
    return _dated(run, "Published: Yocto builds on EBS, EFS and FSx for OpenZFS", load(YOCTO)["cells"])


def later_run(run: str, month: str) -> SummaryDocument:
    """Return the authors' measurements of a later month, such as 2023-05, as a dated run's summary."""
    cells = [cell for cell in load(YOCTO)["later"] if cell["date"].startswith(month)]
    return _dated(run, f"Published: Yocto builds, measured again in {month}", cells)


def _dated(run: str, name: str, rows: list[SourceRow]) -> SummaryDocument:
    day = max(row["date"] for row in rows if "date" in row)
    at = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    return {**_run(run, name, rows), "started_at": at, "finished_at": at}


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
    slugs = slugs_of(cell["storage"] for cell in rows)
    cells = [_yocto_cell(document, cell, slugs[json.dumps(cell["storage"])]) for cell in rows]
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
    missing: Failure = {"name": NOT_PUBLISHED, "message": cell.get("note") or "the source leaves this cell empty"}
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
        "points": [_yocto_point(document, cell)] if percentiles else [],
        "suspect": cell.get("note") if percentiles else None,
        "warnings": [OfSource(text=text).document for text in _remarks(cell)] if percentiles else [],
    }


def _remarks(cell: SourceRow) -> Iterator[str]:
    if cell.get("note"):
        yield cell["note"]
    yield from (f"{name}: {value}" for name, value in cell.get("conditions", {}).items() if value)


def _yocto_point(document: SourceRow, cell: SourceRow) -> PointResult:
    percentiles: Mapping[str, float] = cell["percentiles_s"]
    # Pooled or repeated builds are more than instances; the percentiles tell only a lower bound.
    at_least: int | None = cell.get("n_at_least")
    n = None if at_least else cell.get("n", cell["instances"])
    metric = METRICS["duration_s"]
    figures = {f"p{level}": float(percentiles[f"p{level}"]) for level in LEVELS}
    duration = {
        **{"unit": metric.unit, "higher_is_better": metric.higher_is_better, "primary": True},
        **{"n": n, "expected_n": n, **figures, "mean": None},
        **({"n_at_least": at_least} if at_least else {}),
    }
    return {
        "id": "p01",
        "params": {"image": document["workload"]["image"]},
        "label": document["workload"]["image"],
        "metrics": {"duration_s": cast("MetricResult", duration)},
        "fleet": [],
        "latency": {},
    }


def slugs_of(storages: Iterable[Part]) -> dict[str, str]:
    """Return a unique slug of each storage by its JSON, from its values."""
    return unique_slugs({json.dumps(storage): _slug(storage) for storage in storages})


def _slug(storage: Part) -> str:
    words = [storage["type"], *(str(value) for name, value in storage.items() if name not in ("type", "placement"))]
    return "-".join(words).lower()
