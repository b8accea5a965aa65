"""Throughput, operations and utilisation of a cell's file system by the minute, from CloudWatch."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from matrix.answer.costs import storage_limits
from matrix.input.emulation import MARK
from matrix.report.charts.chart import MAX_SERIES, NEAR_LIMIT, SINCE_START, Chart, Series
from matrix.report.view import Entry, View
from matrix.samples import cloudwatch
from matrix.storages.metrics import MINUTE_S, Counted, StorageMetrics
from matrix.storages.models import metrics_of
from matrix.terms.documents.watched import CloudWatchMetrics
from matrix.terms.grouping import grouped
from matrix.terms.quantities import quantity

# A page has room for three charts of each of this many cells; with more cells, the largest fleets have them.
MAX_WATCHED, OF_MANY = 12, 6
# Points of all lines of one kind in a page, and the fewest and most of one line.
POINTS, MIN_POINTS, MAX_POINTS = 216, 24, 150
MB = 1e6
DASHES = ("solid", "dashed", "dotted")
Values = Mapping[float, float]


@dataclass(frozen=True)
class Cell:
    """A cell, or one of its launches, with its metrics."""

    entry: Entry
    number: int
    launch: int  # 0 if the cell was launched once
    kept: CloudWatchMetrics
    begun: float  # epoch seconds
    most: int  # points of a line

    @property
    def metrics(self) -> StorageMetrics:
        """The metrics of storages of its type."""
        return metrics_of(self.entry.cell["storage"].get("type"))

    def rates(self, named: Sequence[Counted], scale: float = 1.0) -> dict[float, float]:
        """Return the sum of some metrics over all resources, per second."""
        sums: dict[float, float] = {}
        for name, statistic in named:
            for curve in cloudwatch.values(self.kept, name, statistic):
                for at, value in curve:
                    sums[at] = sums.get(at, 0.0) + value / curve.period_s / scale
        return sums

    def levels(self, name: str, of_all: Callable[[Sequence[float]], float]) -> dict[float, float]:
        """Return one value a minute of those of all resources."""
        every = grouped(point for curve in cloudwatch.values(self.kept, name) for point in curve)
        return {at: of_all(values) for at, values in every.items()}


def watched(view: View, *, is_page: bool = True) -> Iterator[Chart]:
    """Yield the charts of each cell, or launch of one, with metrics; a page has as many as it has room for."""
    begun: dict[tuple[str, int], tuple[float, Entry]] = {}
    for entry in view.entries:
        started = entry.samples["started_at"] if entry.samples else []
        launches = entry.launches or [0] * len(started)
        for launch in dict.fromkeys(launches):
            at = min(at for at, own in zip(started, launches, strict=True) if own == launch)
            first = begun.setdefault((entry.cell["id"], launch), (at, entry))
            begun[entry.cell["id"], launch] = min(at, first[0]), first[1]
    known = [
        (entry, launch, kept, at)
        for (_, launch), (at, entry) in begun.items()
        if (kept := _kept(view, entry, launch)) is not None
    ]
    drawn = most_watched(len(known)) if is_page else len(known)
    largest = sorted(range(len(known)), key=lambda place: -known[place][0].instances)[:drawn]
    most = max(MIN_POINTS, POINTS // max(1, drawn)) if is_page else MAX_POINTS
    for place in sorted(largest):
        entry, launch, kept, at = known[place]
        yield from in_charts(view, Cell(entry, place + 1, launch, kept, at, most))


def _kept(view: View, entry: Entry, launch: int) -> CloudWatchMetrics | None:
    """Return the kept metrics of a cell, or of one of its launches, on a file system."""
    if metrics_of(entry.cell["storage"].get("type")).has_volumes:
        return None
    ids = [entry.cell["id"]]
    if launch:
        cells = view.plan["cells"] if view.plan else []
        ids = [cell["id"] for cell in cells if (cell.get("joined"), cell.get("launch")) == (ids[0], launch)]
    results = (view.results.get(id_) for id_ in ids)
    return next((kept for result in results if result and (kept := result.get("cloudwatch"))), None)


def in_charts(view: View, cell: Cell) -> Iterator[Chart]:
    """Yield the charts of a cell."""
    yield from _flow(view, cell, "throughput", "MB/s", cell.metrics.bytes, MB)
    yield from _flow(view, cell, "operations", "IOPS", cell.metrics.operations, 1.0)
    yield from _panel(view, cell, "utilisation", "%", "At 100 nothing more can be had.", _utilisation(cell), max,
                      (100.0, "all of it"))  # fmt: skip


def most_watched(cells: int) -> int:
    """Return of how many of these cells a page has the charts."""
    return cells if cells <= MAX_WATCHED else OF_MANY


def note(view: View, *, is_page: bool = True) -> str:
    """Write how many cells on file systems have no data points or were not queried, and which others are drawn."""
    kept = [
        known
        for result in view.results.values()
        if (known := result.get("cloudwatch")) and not metrics_of(result["storage"].get("type")).has_volumes
    ]
    without = [known for known in kept if not known.get("series")]
    words = [f"No data points of file systems in CloudWatch: {len(without)} of {len(kept)} cells."] if without else []
    if without and view.summary.get("environment") not in ("aws", None):
        words.append("It counts nothing here; on AWS throughput, IOPS and utilisation follow.")
    reasons = dict.fromkeys(str(known["unasked"]) for known in without if known["unasked"])
    words += [f"It was not asked: {reason}." for reason in reasons]
    count = len(kept) - len(without)
    if is_page and count > most_watched(count):
        words.append(
            f"What CloudWatch counted is drawn of the largest fleets, {most_watched(count)} of {count} cells; "
            f"matrix report {view.summary['run']} --charts DIR draws it of all."
        )
    return " ".join(words)


def _flow(view: View, cell: Cell, about: str, unit: str, named: Mapping[str, Counted], scale: float) -> Iterator[Chart]:
    """Yield the chart of bytes or of operations per second: all and by kind, with the limit of the storage."""
    parts = {name: cell.rates([metric], scale) for name, metric in named.items()}
    parts = {name: rates for name, rates in parts.items() if any(rates.values())}
    every = cell.rates(list(named.values()), scale)
    lines = {"all": every, **parts} if len(parts) != 1 else parts
    storage = {key: value for key, value in cell.entry.cell["storage"].items() if key != MARK}
    limit = storage_limits(storage).get(unit)
    words = " It existed before the run: what others did on it counts, too." if storage.get("fileSystemId") else ""
    if limit and limit[0] > NEAR_LIMIT * max(every.values(), default=0.0):
        words += f" The most that the storage gives on AWS: {quantity(limit[0], unit)} ({limit[1]})."
        limit = None
    named_limit = (limit[0], f"{limit[1]}: {quantity(limit[0], unit)}") if limit else None
    yield from _panel(view, cell, about, unit, words.strip(), lines, mean, named_limit)


def _utilisation(cell: Cell) -> dict[str, Values]:
    """Return the shares of their limits that the verdict reads, in percent; of several resources the fullest."""
    used: dict[str, Values] = {limit.metric.partition(" ")[2]: cell.levels(limit.metric, max)
            for limit in cell.metrics.limits if limit.says == "share"}  # fmt: skip
    if metered := cell.metrics.metered:
        rates = cell.rates([(metered.metered, None)])
        permitted = cell.levels(metered.permitted, sum)
        used["metered of permitted throughput"] = {
            at: 100 * rates[at] / most for at, most in permitted.items() if at in rates and most > 0
        }
    return used


def _panel(
    view: View, cell: Cell, about: str, unit: str, reads: str, lines: Mapping[str, Values],
    combined: Callable[[Sequence[float]], float], limit: tuple[float, str] | None,
) -> Iterator[Chart]:  # fmt: skip
    known = {name: values for name, values in lines.items() if values}
    if not known:
        return
    entry = cell.entry
    launch = f", launch {cell.launch}" if cell.launch else ""
    minutes = max(_merged(values, cell.most) for values in known.values())
    yield Chart(
        id=f"watched-{cell.number}-{about}",
        title=f"{entry.workload} on {entry.fleet}, {entry.storage}{launch}: {about} by CloudWatch",
        reads=f"{f'In steps of {minutes} min. ' if minutes > 1 else ''}{reads}",
        x_title=SINCE_START,
        y_title=unit,
        series=[
            _series(cell, name, values, combined, style, len(known) > 1)
            for style, (name, values) in enumerate(list(known.items())[:MAX_SERIES])
        ],
        is_from_zero=True,
        is_x_in_seconds=True,
        limit=limit,
        of=view.facets.marks(storage=entry.storage, workload=entry.workload, fleet=entry.fleet),
    )


def _series(
    cell: Cell, name: str, values: Values, combined: Callable[[Sequence[float]], float], style: int, is_labelled: bool
) -> Series:
    """Draw a line in steps, each as long as its period; dashes and names repeat the information of the colours."""
    x, steps = _steps(values, combined, cell.most, cell.begun)
    # A name is above the highest place of its line, but not at the line's ends, where it would be cut off.
    inner = range(max(1, len(x) // 6), len(x) - max(1, len(x) // 6))
    top = max(inner, key=lambda at: steps[at] or 0.0, default=-1)
    labels = [name if at == top else "" for at in range(len(x))]
    dash = DASHES[style % len(DASHES)]
    return Series(name, x, steps, "steps", style, hover=(), labels=labels if is_labelled else None,
                  is_dashed=dash == "dashed", is_hollow=dash == "dotted", width=1.5)  # fmt: skip


def _merged(values: Values, most: int) -> int:
    """Return how many minutes become one step, so that no more than `most` are drawn."""
    minutes = (max(values) - min(values)) / MINUTE_S + 1
    return max(1, math.ceil(minutes / most))


def _steps(
    values: Values, combined: Callable[[Sequence[float]], float], most: int, begun: float
) -> tuple[list[float], list[float | None]]:
    """Return the times and values of a line's changes; a missing minute is a gap and not zero."""
    length = MINUTE_S * _merged(values, most)
    first = min(values)
    merged = grouped((int((at - first) // length), value) for (at, value) in values.items())
    x: list[float] = []
    y: list[float | None] = []
    for index in range(max(merged) + 1):
        of_step = merged.get(index)
        level = None if of_step is None else float(f"{combined(of_step):.4g}")
        start = round(first + index * length - begun, 1)
        if level is None and y and y[-1] is not None:
            x.append(start)
            y.append(y[-1])
        if not y or level != y[-1]:
            x.append(start)
            y.append(level)
    x.append(round(first + (max(merged) + 1) * length - begun, 1))
    y.append(y[-1])
    return x, y
