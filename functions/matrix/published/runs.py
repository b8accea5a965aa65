"""All published benchmarks as runs, for results, reports, comparisons and the history of a cell."""

import json
from collections.abc import Callable
from typing import cast

from matrix.published.figures import (
    EBS_AMD,
    EBS_FIO,
    EFS_MDTEST,
    FSX_LUSTRE,
    MOUNTPOINT,
    READS,
    S3_CLIENTS,
    TUTORIAL,
    WORKSHOP,
    ZERO_BYTE,
    Figure,
    figures,
    load,
)
from matrix.published.yocto_run import LATER, later_run, published_summary, slugs_of, yocto_run
from matrix.statistics.describing import describe
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.percentiles import percentiles
from matrix.terms.documents.parts import Fleet, Part
from matrix.terms.documents.result import MetricResult, PointResult, ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.findings.warnings import OfSource
from matrix.terms.grouping import grouped
from matrix.terms.ids import cell_id
from matrix.terms.names import tell_apart

NAMES = {
    EBS_FIO: "Published: fio on EBS gp3, io2 and RAID-0",
    TUTORIAL: "Published: EFS performance tutorial",
    ZERO_BYTE: "Published: zero-byte files on EFS and EBS",
    READS: "Published: reads from S3, EBS and a file server",
    MOUNTPOINT: "Published: Mountpoint for Amazon S3, by its own charts",
    EBS_AMD: "Published: fio on EBS io2, instances with AMD processors",
    S3_CLIENTS: "Published: downloads by S3 clients",
    EFS_MDTEST: "Published: mdtest on EFS, S3FS and JuiceFS",
    WORKSHOP: "Published: EFS workshop, 4 KiB files, dd, IOR and copies",
    FSX_LUSTRE: "Published: large and small files on EFS, FSx for Lustre and EBS",
}
# Conditions of a figure that are fields of its storage: among a point's parameters they would keep storages apart.
OF_STORAGE = frozenset({"client", "sizeGiB", "throughputMode"})
# The primary metric of a workload, if a source publishes several.
PRIMARY = {"fio": "iops", "touch": "files_per_s"}


def published_runs(prefix: str = "published") -> dict[str, SummaryDocument]:
    """Return every published benchmark as a run's summary, by the name of the run, the oldest edition first."""
    builders: dict[str, Callable[[str], SummaryDocument]] = {"yocto": yocto_run}
    builders |= {f"yocto-{month}": lambda run, month=month: later_run(run, month) for month in LATER}  # type: ignore[misc]
    builders |= {source: lambda run, source=source: _run(run, source) for source in NAMES}  # type: ignore[misc]
    return {f"{prefix}-{name}": build(f"{prefix}-{name}") for name, build in builders.items()}


def _run(run: str, source: str) -> SummaryDocument:
    """Return a source with one value for each point as a run."""
    of_cell: dict[str, list[Figure]] = {}
    known = [figure for figure in figures() if figure.source == source]
    by_others = {figure.row for figure in known if figure.workload != "command"}
    for figure in known:
        # A row that a command measures again besides another workload is one row.
        if figure.workload != "command" or figure.row not in by_others:
            of_cell.setdefault(json.dumps([_storage(figure), figure.workload, figure.instance_type]), []).append(figure)
    # A row that its source got wrong must not take the other rows of its cell with it.
    for key, group in list(of_cell.items()):
        doubtful = [figure for figure in group if figure.wrong]
        if doubtful and len(doubtful) < len(group):
            of_cell[key] = [figure for figure in group if not figure.wrong]
            of_cell[f"{key} doubtful"] = doubtful
    slugs = slugs_of(_storage(group[0]) for group in of_cell.values())
    cells = [
        _cell(group, slugs[json.dumps(_storage(group[0]))], is_doubtful=key.endswith(" doubtful"))
        for key, group in of_cell.items()
    ]
    tell_apart((cell["workload"], cell["points"]) for cell in cells)
    note = "one value for each point, so no percentiles and no intervals: how often it was measured, the source omits"
    return published_summary(run, NAMES[source], load(source)["source"], cells, note)


def _storage(figure: Figure) -> Part:
    """Return a figure's storage as a matrix would write it, with the client of objects by the source's name."""
    shown = figure.shown.get("storage", figure.storage)
    known = {name: value for name, value in shown.items() if value is not None}
    return known | {name: value for name, value in figure.caveats.items() if name in OF_STORAGE}


def _cell(group: list[Figure], file_system: str, *, is_doubtful: bool = False) -> ResultDocument:
    first = group[0]
    # Without an instance type in the source the fleet has none, so its price is unknown.
    fleet: Fleet = {"instanceType": first.instance_type or "", "count": first.instances}
    by_row = grouped((figure.row, figure) for figure in group)
    wrong = next((figure.wrong for figure in group if figure.wrong), None)
    size = f"{first.instance_type or 'untold'}-x{first.instances}{'-doubtful' if is_doubtful else ''}"
    return {
        "id": cell_id(file_system, first.workload, size),
        "file_system": file_system,
        "storage": _storage(first),
        "workload": {"type": first.workload} | ({"device": True} if first.params.get("device") else {}),
        "fleet": fleet,
        "state": "measured",
        "error": None,
        "expected_s": None,
        "actual_s": None,
        "points": [_point(f"p{i:02d}", row) for i, row in enumerate(by_row.values(), start=1)],
        "suspect": wrong,
        "warnings": [OfSource(text=wrong).document] if wrong else [],
    }


def _point(name: str, row: list[Figure]) -> PointResult:
    params = {
        **row[0].shown.get("params", row[0].params),
        **{key: value for key, value in row[0].caveats.items() if key not in OF_STORAGE},
    }
    metrics = [figure.metric for figure in row]
    primary = PRIMARY.get(row[0].workload)
    judged_by = primary if primary in metrics else metrics[0]
    return {
        "id": name,
        # What a source does not publish keeps no storages apart.
        "params": {key: value for key, value in params.items() if value is not None},
        "metrics": {figure.metric: _metric(figure, is_primary=figure.metric == judged_by) for figure in row},
        "fleet": [],
        "latency": {},
    }


def _metric(figure: Figure, *, is_primary: bool) -> MetricResult:
    metric, value = figure.known, float(figure.value or 0.0)
    counted = {
        **{"unit": metric.unit, "higher_is_better": metric.higher_is_better, "primary": is_primary},
        **{"n": None, "expected_n": None},
    }
    values = FleetValues.of([("published", 1, value)], is_shared=False)
    described = describe(values, higher_is_better=metric.higher_is_better)
    return cast("MetricResult", counted | percentiles([value]) | described)
