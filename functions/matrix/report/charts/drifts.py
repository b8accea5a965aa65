"""Single samples over time: durations and the slowest operations, in which a drift or a stall shows."""

from collections.abc import Iterator, Sequence

from matrix.report.charts.chart import MOST_MARKS, MOST_SERIES, Chart, Series, parts_of, thinned
from matrix.report.charts.labels import lower, slug
from matrix.report.charts.marks import SINCE_START
from matrix.report.view import Entry, View
from matrix.terms.figures import quantity
from matrix.terms.metrics import metric_title

# Fewer for latencies, because a page may have several kinds of them for many cells.
MOST_LATENCIES = 60
MARKS_OF_A_PAGE, LEAST_MARKS = 800, 30
US_PER_MS = 1000.0


def drifts(view: View) -> Iterator[Chart]:
    """Yield for each fleet its durations over time, and the P99 of each kind of operation."""
    groups = view.by("workload", "fleet", "name")
    of_page = len({entry.cell["id"] for entries in groups.values() for entry in entries})
    most = max(LEAST_MARKS, MARKS_OF_A_PAGE // max(1, of_page))
    for (workload, fleet, name), entries in groups.items():
        cells: dict[str, list[Entry]] = {}
        for entry in entries:
            if entry.samples:
                cells.setdefault(entry.cell["id"], []).append(entry)
        known = {metric for entry in entries for metric in (entry.samples or {"metrics": {}})["metrics"]}
        latencies = sorted(metric for metric in known if metric.endswith("_lat_p99_us"))
        for metric in [*([] if entries[0].higher_is_better else [name]), *(each for each in latencies if each != name)]:
            for part, which in parts_of(list(cells.values()), MOST_SERIES):
                yield _chart(view, workload, fleet, metric, part, most, which)


def _chart(
    view: View, workload: str, fleet: str, metric: str, cells: Sequence[Sequence[Entry]], most: int, which: str
) -> Chart:
    is_latency = metric.endswith("_us")
    unit = "ms" if is_latency else cells[0][0].unit if cells else "s"
    most = min(most, MOST_LATENCIES if is_latency else MOST_MARKS)
    title = metric_title(metric, workload)
    return Chart(
        id=f"drift-{slug(f'{workload}-{fleet}-{metric}')}",
        title=f"{workload} on {fleet}: {lower(title)} over time{which}",
        reads=f"A mark is a sample at its start; of more than {most} some are drawn, and the greatest. "
        "A slope is a drift: a cache that fills, credits that run out."
        + (" A single high mark is a stall." if is_latency else ""),
        x_title=SINCE_START,
        is_x_in_seconds=True,
        y_title=f"{title} ({unit})",
        series=[_series(view, cell, metric, unit, most) for cell in cells],
        heads=("Storage", "Point", "Repetition", "n", f"Median ({unit})"),
        rows=[] if is_latency else list(dict.fromkeys(row for cell in cells for row in _rows(cell))),
        is_from_zero=True,
        is_in_seconds=unit == "s",
        metric=f"{metric} ({unit})",
        of=view.facets.marks(workload=workload, fleet=fleet),
    )


def _series(view: View, cell: Sequence[Entry], metric: str, unit: str, most: int) -> Series:
    begun: dict[int, float] = {}
    for start, launch in _starts(cell):
        begun[launch] = min(begun.get(launch, start), start)
    scale = US_PER_MS if unit == "ms" else 1.0
    dots = sorted(
        (start - begun[launch], value / scale, instance, entry.label)
        for entry in cell
        if (samples := entry.samples)
        for start, launch, value, instance in zip(
            samples["started_at"], entry.launches or [1] * len(samples["started_at"]),
            samples["metrics"].get(metric, []), samples["instance"], strict=False,
        )
        if value is not None
    )  # fmt: skip
    greatest = max(range(len(dots)), key=lambda at: dots[at][1], default=0)
    shown = [dots[i] for i in sorted({*thinned(len(dots), most), *([greatest] if dots else [])})]
    words = [f"{instance}, {label}<br>{quantity(value, unit)}" for _, value, instance, label in shown]
    return Series(cell[0].storage, [round(dot[0], 2) for dot in shown], [float(f"{dot[1]:.6g}") for dot in shown],
                  "dots", cell[0].style, hover=words, of=view.facets.marks(storage=cell[0].storage))  # fmt: skip


def _starts(cell: Sequence[Entry]) -> Iterator[tuple[float, int]]:
    """Yield when each sample began, and in which launch of its cell: each launch has its own clock."""
    for entry in cell:
        begun = entry.samples["started_at"] if entry.samples else []
        yield from zip(begun, entry.launches or [1] * len(begun), strict=True)


def _rows(cell: Sequence[Entry]) -> Iterator[tuple[object, ...]]:
    """Yield the median of each repetition, once over all launches."""
    for entry in cell:
        for rep in entry.metric["spread"]["by_repetition"] if "spread" in entry.metric else []:
            yield entry.storage, entry.label, rep["repetition"], rep["n"], rep["median"]
