"""Latency: the share of operations that take longer than a time, from merged histograms."""

from collections.abc import Iterator

import numpy as np

from matrix.report.charts.chart import MAX_SERIES, Chart, Series, few_lines
from matrix.report.charts.labels import point_title, slug
from matrix.report.view import Entry, View
from matrix.tables.table import TableCell
from matrix.terms.documents.result import Latency
from matrix.terms.figures import percentile_of
from matrix.terms.quantities import latency as written

LATENCY_NAMES = {
    "create_lat": "Creates",
    "read_lat": "Reads",
    "write_lat": "Writes",
    "sync_lat": "Syncs",
    "stat_lat": "Stats",
    "open_read_lat": "Opens and reads",
    "list_lat": "Listings",
    "rename_lat": "Renames",
    "delete_lat": "Deletes",
}


PERCENTILES = {"p50": "P50", "p90": "P90", "p99": "P99", "p99_9": "P99.9", "p99_99": "P99.99", "p100": "max"}
FAR_OUT = ("p99_9", "p99_99")
AS_INDEPENDENT = (
    "P99.9 and beyond take operations as independent. Histograms hold no time, so all that is so slow may be one stall "
    "that several operations waited for."
)
# Positions of percentiles: one over the share of slower operations, so each nine takes as much room.
TICKS = {1.0: "P0", 2.0: "P50", 10.0: "P90", 100.0: "P99", 1e3: "P99.9", 1e4: "P99.99", 1e5: "P99.999"}


def latencies(view: View) -> Iterator[Chart]:
    """Yield a chart for each kind of operation and point: latency against the share of operations above it."""
    names = list(dict.fromkeys(name for entry in view.entries for name in entry.point.get("latency") or {}))
    for name in names:
        for (workload, label), entries in view.by("workload", "label").items():
            latencies = [(entry, entry.point["latency"][name]) for entry in entries if _bins(entry, name)]
            if latencies:
                notes = few_lines(len(latencies), "those of the largest fleets")
                if notes:
                    latencies = sorted(latencies, key=lambda pair: -pair[0].instances)[:MAX_SERIES]
                yield _latency_chart(view, name, workload, label, latencies, notes)


def _bins(entry: Entry, name: str) -> bool:
    latency = entry.point.get("latency", {}).get(name)
    return bool(latency and latency.get("bins_ns"))


def _latency_chart(
    view: View, name: str, workload: str, label: str, latencies: list[tuple[Entry, Latency]], notes: list[str]
) -> Chart:
    sizes = sorted({entry.instances for entry, _ in latencies})
    series = []
    for entry, latency in latencies:
        ms, slower = _tail(latency["bins_ns"])
        words = [
            f"{100 * share:.3g} % take longer than {written(1000 * at, in_ms=True)} ms"
            for at, share in zip(ms, slower, strict=True)
        ]
        rank = sizes.index(entry.instances)
        series.append(
            Series(f"{entry.storage}, {entry.fleet}", [float(f"{1 / share:.5g}") for share in slower], ms, "segments",
                   entry.style, hover=words, is_dashed=rank % 2 == 1, width=1.5,
                   of=view.facets.marks(storage=entry.storage, fleet=entry.fleet))
        )  # fmt: skip
    return Chart(
        id=f"latency-{slug(f'{workload}-{label}-{name}')}",
        title=f"{LATENCY_NAMES.get(name, name)} of {point_title(workload, label)}: latency",
        reads=(
            "Latency at each percentile of all operations of all instances, up to the slowest one. Low is "
            "better; where a line bends upwards its slowest operations are much slower than the others. Merged "
            "histograms, no averages. P50 to max count operations, of which a slow instance does fewer. The last "
            "three columns compare instances."
        ),
        x_title="percentile of the operations",
        y_title="latency (ms)",
        series=series,
        notes=[*notes, *[AS_INDEPENDENT] * any(latency.get(name) for _, latency in latencies for name in FAR_OUT)],
        heads=(
            *("Storage", "Fleet", "Operations"),
            *(f"{percentile} (ms)" for percentile in PERCENTILES.values()),
            *(f"P99 of {which} instance (ms)" for which in ("the median", "the P90", "the slowest")),
        ),
        rows=[
            (
                *(entry.storage, entry.fleet, latency["operations"]),
                *(_percentile_ms(latency, name) for name in PERCENTILES),
                *(_ms((latency.get("p99_of_each") or {}).get(name)) for name in ("p50", "p90", "p100")),
            )
            for entry, latency in latencies
        ],
        is_x_log=True,
        is_y_log=True,
        ticks=tuple(TICKS),
        tick_names=TICKS,
        metric=f"{name} (ms)",
        of=view.facets.marks(workload=workload, label=label),
    )


def _percentile_ms(latency: Latency, name: str) -> TableCell | None:
    """Return a percentile in ms, or of too few operations its lower bound: `≥ 4.2`."""
    bound = latency.get("at_least", {}).get(name)
    return (
        _ms(percentile_of(latency, name))
        if bound is None
        else TableCell(f"≥ {written(bound, in_ms=True)}", bound / 1000)
    )


def _ms(micros: float | None) -> TableCell | None:
    return None if micros is None else TableCell(written(micros, in_ms=True), micros / 1000)


def _tail(bins: dict[str, int]) -> tuple[list[float], list[float]]:
    """Latency in ms and the share of operations above it, at forty places of the curve at most."""
    values = sorted((int(value), count) for value, count in bins.items())
    counts = np.array([count for _, count in values], dtype=float)
    total = counts.sum()
    above = (total - np.cumsum(counts)) / total
    x = [values[0][0] / 1e6, *(value / 1e6 for value, _ in values)]
    y = [1.0, *above.tolist()]
    # No operation is above the last bin, and a logarithmic axis has no zero: the curve ends at half an operation.
    y[-1] = 0.5 / float(total)
    logs = np.log(np.maximum(y, 1e-12))
    grid = np.round(logs / (logs.min() or -1.0) * 40)
    keep = [i for i in range(len(x)) if i in (0, len(x) - 1) or grid[i] != grid[i - 1]]
    return [x[i] for i in keep], [float(y[i]) for i in keep]
