"""Latency: the share of operations that take longer than a time, from merged histograms."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from matrix.report.charts.chart import MOST_SERIES, Chart, Series
from matrix.report.charts.labels import slug
from matrix.report.view import Entry, View

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


def latencies(view: View) -> Iterator[Chart]:
    """Yield a chart for each kind of operation and point: latency against the share of operations above it."""
    names = list(dict.fromkeys(name for entry in view.entries for name in entry.point.get("latency") or {}))
    for name in names:
        for (workload, label), entries in view.by("workload", "label").items():
            latencies = [(entry, entry.point["latency"][name]) for entry in entries if _bins(entry, name)]
            if latencies:
                yield _latency_chart(name, workload, label, latencies[:MOST_SERIES])


def _bins(entry: Entry, name: str) -> bool:
    return bool(((entry.point.get("latency") or {}).get(name) or {}).get("bins_ns"))


def _latency_chart(name: str, workload: str, label: str, latencies: list[tuple[Entry, Any]]) -> Chart:
    sizes = sorted({entry.instances for entry, _ in latencies})
    series = []
    for entry, latency in latencies:
        micros, slower = _tail(latency["bins_ns"])
        words = [f"{100 * y:.3g} % take longer than {x:,.4g} µs"
                 for x, y in zip(micros, slower, strict=True)]  # fmt: skip
        rank = sizes.index(entry.instances)
        line = Series(f"{entry.storage}, {entry.fleet}", micros, slower, "steps", entry.style, hover=words,
                      is_dashed=rank % 2 == 1, width=1.5 + rank // 2)  # fmt: skip
        series.append(line)
    percents = ("p50", "p90", "p99", "p99_9", "p99_99", "p100")
    return Chart(
        id=f"latency-{slug(f'{workload}-{label}-{name}')}",
        title=f"{LATENCY_NAMES.get(name, name)} of {workload}{f', {label}' if label else ''}: latency",
        reads=(
            "Share of all operations of all instances that take longer. Left and low is better; where a line bends to "
            "the right its slowest operations are much slower than the others. Merged histograms, no averages. P50 to "
            "P100 are of operations, of which a slow instance does fewer; the last three columns are of instances."
        ),
        x_title="µs",
        y_title="share that takes longer",
        series=series,
        heads=(
            *("Storage", "Fleet", "Operations"),
            *(name.upper().replace("_", ".") + " µs" for name in percents),
            *(f"P99 of {which} instance µs" for which in ("the median", "the P90", "the slowest")),
        ),
        rows=[
            (
                *(entry.storage, entry.fleet, latency["operations"]),
                *(latency.get(name) for name in percents),
                *((latency.get("p99_of_each") or {}).get(name) for name in ("p50", "p90", "p100")),
            )
            for entry, latency in latencies
        ],
        is_x_log=True,
        is_y_log=True,
        is_y_share=True,
    )


def _tail(bins: dict[str, int]) -> tuple[list[float], list[float]]:
    """Latency in µs and the share of operations above it, at eighty places of the curve at most."""
    values = sorted((int(value), count) for value, count in bins.items())
    counts = np.array([count for _, count in values], dtype=float)
    total = counts.sum()
    above = (total - np.cumsum(counts)) / total
    x = [values[0][0] / 1000, *(value / 1000 for value, _ in values)]
    y = [1.0, *above.tolist()]
    # Nothing lies above the last bin, and a logarithmic axis has no zero: the curve ends at half an operation.
    y[-1] = 0.5 / float(total)
    logs = np.log(np.maximum(y, 1e-12))
    grid = np.round(logs / (logs.min() or -1.0) * 80)
    keep = [i for i in range(len(x)) if i in (0, len(x) - 1) or grid[i] != grid[i - 1]]
    return [x[i] for i in keep], [float(y[i]) for i in keep]
