"""CloudWatch's metrics of a cell's storage by the minute: throughput, IOPS, use, credits.

The charts also have the traffic that the instances' kernels passed to the storage, if they count it.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from matrix.answer.costs import storage_limits, storage_of
from matrix.input.emulation import MARK
from matrix.report.charts.chart import MAX_SERIES, NEAR_LIMIT, SINCE_START, Chart, Series
from matrix.report.view import Entry, View
from matrix.samples import cloudwatch
from matrix.samples.moved import MINUTE_S
from matrix.storages.metrics import Counted, StorageMetrics
from matrix.storages.models import metrics_of
from matrix.terms.documents.watched import CloudWatchMetrics
from matrix.terms.grouping import grouped
from matrix.terms.quantities import quantity

# A page has room for four charts of each of this many cells; with more cells, the largest fleets have them.
MAX_WATCHED, OF_MANY = 12, 6
# Points of all lines of one kind in a page, and the fewest and most of one line.
POINTS, MIN_POINTS, MAX_POINTS = 216, 24, 150
MB, GIB = 1e6, 2.0**30
EC2 = "AWS/EC2"
MOVED = {"MB/s": ("read_bytes", "write_bytes"), "IOPS": ("read_operations", "write_operations")}
BY_INSTANCES = "passed on by the instances"
DASHES = ("solid", "dashed", "dotted")
WORDS = {"MB/s": "throughput", "IOPS": "operations"}


@dataclass(frozen=True)
class Line:
    """One curve: the value of each period, by the period's start in epoch seconds."""

    name: str
    values: Mapping[float, float]
    period_s: float = MINUTE_S
    combined: Callable[[Sequence[float]], float] = mean  # merges several periods if there are too many to draw
    is_bound: bool = False  # constant: its values are at both ends


@dataclass(frozen=True)
class Cell:
    """A cell, or one of its launches, with its metrics."""

    view: View
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

    @property
    def asked(self) -> int:
        """Number of instances with queried metrics; all for a file system, which all instances share."""
        has_volumes = self.metrics.has_volumes
        return (
            min(self.entry.instances, len(self.kept["resources"]["instances"])) if has_volumes else self.entry.instances
        )

    def rates(self, named: Sequence[Counted], scale: float = 1.0) -> dict[float, float]:
        """Return the sum of some metrics over all resources, per second."""
        sums: dict[float, float] = {}
        for name, statistic in named:
            for curve in cloudwatch.values(self.kept, name, statistic):
                for at, value in curve:
                    sums[at] = sums.get(at, 0.0) + value / curve.period_s / scale
        return sums

    def together(self, name: str, combined: Callable[..., float], scale: float = 1.0) -> Line:
        """Return the sum of a level over all resources, such as connections of several file systems."""
        values: dict[float, float] = {}
        for curve in cloudwatch.values(self.kept, name):
            for at, value in curve:
                values[at] = values.get(at, 0.0) + value / scale
        return Line(name.partition(" ")[2], values, combined=combined)

    def nearest(self, name: str, choose: Callable[[Sequence[float]], float], scale: float = 1.0) -> Line:
        """Return of all resources the value that is nearest to a limit."""
        values: dict[float, list[float]] = {}
        period_s = float(MINUTE_S)
        for curve in cloudwatch.values(self.kept, name):
            period_s = curve.period_s
            for at, value in curve:
                values.setdefault(at, []).append(value / scale)
        namespace, _, metric = name.partition(" ")
        chosen = {at: choose(of_all) for at, of_all in values.items()}
        return Line(f"{metric} of an instance" if namespace == EC2 else metric, chosen, period_s, choose)


def watched(view: View, *, is_page: bool = True) -> Iterator[Chart]:
    """Yield the charts of each cell, or launch of one, whose storage has metrics; a page has as many as it has room."""
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
        yield from in_charts(Cell(view, entry, place + 1, launch, kept, at, most))


def _kept(view: View, entry: Entry, launch: int) -> CloudWatchMetrics | None:
    """Return the kept metrics of a cell, or of one of its launches."""
    ids = [entry.cell["id"]]
    if launch:
        cells = view.plan["cells"] if view.plan else []
        ids = [cell["id"] for cell in cells if (cell.get("joined"), cell.get("launch")) == (ids[0], launch)]
    results = (view.results.get(id_) for id_ in ids)
    return next((kept for result in results if result and (kept := result.get("cloudwatch"))), None)


def in_charts(cell: Cell) -> Iterator[Chart]:
    """Yield the charts of a cell."""
    yield from _flow(cell, "MB/s", cell.metrics.bytes, MB)
    yield from _flow(cell, "IOPS", cell.metrics.operations, 1.0)
    metered = cell.metrics.metered
    shares = dict.fromkeys(f"{each['namespace']} {each['metric']}" for each in cell.kept.get("series") or []
                           if each["unit"] == "%")  # fmt: skip
    used = [cell.nearest(name, min if "Balance" in name else max) for name in shares]
    yield from _panel(cell, "shares", "use and credits", "%",
                      "At 100 nothing more can be had, but of a cache's hits; a balance of 0 has run out.", used,
                      (100.0, "all of it"))  # fmt: skip
    yield from _panel(cell, "burst", "burst credits", "GiB", "A slope downwards lasts until it reaches zero.",
                      [cell.nearest(metered.credits_left if metered else "", min, GIB)])  # fmt: skip


def most_watched(cells: int) -> int:
    """Return of how many of these cells a page has the charts."""
    return cells if cells <= MAX_WATCHED else OF_MANY


def note(view: View, *, is_page: bool = True) -> str:
    """Write how many cells have no data points or were not queried, and which of the others are drawn."""
    kept = [known for result in view.results.values() if (known := result.get("cloudwatch"))]
    without = [known for known in kept if not known.get("series")]
    words = [f"No data points in CloudWatch: {len(without)} of {len(kept)} cells."] if without else []
    if without and view.summary.get("environment") not in ("aws", None):
        words.append("It counts nothing here; on AWS throughput, IOPS, use and credits of each storage follow.")
    reasons = dict.fromkeys(str(known["unasked"]) for known in without if known["unasked"])
    words += [f"It was not asked: {reason}." for reason in reasons]
    count = len(kept) - len(without)
    if is_page and count > most_watched(count):
        words.append(
            f"What CloudWatch counted is drawn of the largest fleets, {most_watched(count)} of {count} cells; "
            f"matrix report {view.summary['run']} --charts DIR draws it of all."
        )
    return " ".join(words)


def _flow(cell: Cell, unit: str, named: Mapping[str, Counted], scale: float) -> Iterator[Chart]:
    """Yield the chart of bytes or of operations per second: all, by kind, with limits and the instances' counts."""
    parts = {name: cell.rates([metric], scale) for name, metric in named.items()}
    parts = {name: rates for name, rates in parts.items() if any(rates.values())}
    every = cell.rates(list(named.values()), scale)
    lines = [Line("all" if len(parts) != 1 else next(iter(parts)), every)]
    lines += [Line(name, rates) for name, rates in parts.items() if len(parts) > 1]
    if unit in cell.metrics.disks:
        lines += [Line("its disks", cell.rates(cell.metrics.disks[unit], scale))]
    lines += [Line(BY_INSTANCES, _moved(cell.kept, unit, scale))]
    peak = max((value for line in lines for value in line.values.values()), default=0.0)
    counted = cell.metrics.metered
    if unit == "MB/s" and counted:
        metered = cell.rates([(counted.metered, None)], scale)
        lines += [Line("metered", metered)] if metered != every else []
        lines += [Line("permitted", cell.together(counted.permitted, min, scale).values, combined=min)]
    whose = "" if cell.asked == cell.entry.instances else f" of {cell.asked} of {cell.entry.instances} instances"
    storage = {key: value for key, value in cell.entry.cell["storage"].items() if key != MARK}
    limit, words = storage_limits(storage, cell.asked).get(unit), ""
    if storage.get("fileSystemId"):
        words = " It existed before the run: what others did on it counts, too."
    is_near = limit is not None and limit[0] <= NEAR_LIMIT * peak
    if limit and not is_near:
        words += f" The most that the storage gives on AWS: {quantity(limit[0], unit)} ({limit[1]})."
    for name, value in _ceilings(cell, storage, unit):
        words += f" {name}: {quantity(value, unit)}."
        if value <= NEAR_LIMIT * peak and peak > 0:
            times = sorted({at for line in lines for at in line.values})
            lines.append(Line(name, dict.fromkeys((times[0], times[-1] + MINUTE_S), value), is_bound=True))
    yield from _panel(cell, unit.partition("/")[0].lower(), f"{WORDS[unit]}{whose}", unit, words.strip(), lines,
                      limit if is_near else None)  # fmt: skip


def _ceilings(cell: Cell, storage: dict[str, Any], unit: str) -> Iterator[tuple[str, float]]:
    """Yield other limits of a cell: its storage's sustained rate without credits, and its instances' EBS limit."""
    counts, scale = ("IOPS", 1.0) if unit == "IOPS" else ("bytes/s", MB)
    known = storage_of(storage)
    for burst in known.bursts if known else []:
        if burst.counts == counts:
            times = 1 if known and known.traits.is_shared else cell.asked
            yield f"Without credits, {burst.of}", burst.sustained * times / scale
    result = cell.view.results.get(cell.entry.cell["id"])
    limits = result.get("instance_limits", {}) if result else {}
    of_type = limits.get("ebs_iops" if unit == "IOPS" else "ebs_bytes_per_s")
    if cell.metrics.has_volumes and of_type:
        yield f"Most of {cell.asked} × {cell.entry.instance_type}", of_type["maximum"] * cell.asked / scale


def _moved(kept: CloudWatchMetrics, unit: str, scale: float) -> dict[float, float]:
    """Return the traffic that the instances' kernels passed to the storage, per second."""
    moved = kept.get("moved") or {"at": [], "points": {}}
    columns = [ways[way] for ways in moved["points"].values() for way in MOVED[unit] if way in ways]
    return {at: sum(column[row] for column in columns) / MINUTE_S / scale
            for row, at in enumerate(moved["at"]) if columns}  # fmt: skip


def _panel(
    cell: Cell, id_: str, about: str, unit: str, reads: str, lines: Sequence[Line],
    limit: tuple[float, str] | None = None,
) -> Iterator[Chart]:  # fmt: skip
    known = [line for line in lines if line.values][:MAX_SERIES]
    if not known:
        return
    entry, facets = cell.entry, cell.view.facets
    launch = f", launch {cell.launch}" if cell.launch else ""
    period_s = max(_merged(line, cell.most) * line.period_s for line in known if not line.is_bound)
    by = (
        "the instances' kernels"
        if {line.name for line in known if not line.is_bound} == {BY_INSTANCES}
        else "CloudWatch"
    )
    yield Chart(
        id=f"watched-{cell.number}-{id_}",
        title=f"{entry.workload} on {entry.fleet}, {entry.storage}{launch}: {about} by {by}",
        reads=f"{f'In steps of {period_s / MINUTE_S:g} min. ' if period_s > MINUTE_S else ''}{reads}",
        x_title=SINCE_START,
        y_title=unit,
        series=[_series(cell, line, style, len(known) > 1) for style, line in enumerate(known)],
        is_from_zero=True,
        is_x_in_seconds=True,
        limit=(limit[0], f"{limit[1]}: {quantity(limit[0], unit)}" if unit in WORDS else limit[1]) if limit else None,
        of=facets.marks(storage=entry.storage, workload=entry.workload, fleet=entry.fleet),
    )


def _series(cell: Cell, line: Line, style: int, is_labelled: bool) -> Series:
    """Draw a line in steps, each as long as its period; dashes and names repeat the information of the colours."""
    if line.is_bound:
        at, y = [round(at - cell.begun, 1) for at in line.values], list(line.values.values())
        return Series(line.name, at, y, "limit", style)
    x, steps = _steps(line, cell.most, cell.begun)
    # A name is above the highest place of its line, but not at the line's ends, where it would be cut off.
    inner = range(max(1, len(x) // 6), len(x) - max(1, len(x) // 6))
    top = max(inner, key=lambda at: steps[at] or 0.0, default=-1)
    labels = [line.name if at == top else "" for at in range(len(x))]
    dash = DASHES[style % len(DASHES)]
    return Series(line.name, x, steps, "steps", style, hover=(), labels=labels if is_labelled else None,
                  is_dashed=dash == "dashed", is_hollow=dash == "dotted", width=1.5)  # fmt: skip


def _merged(line: Line, most: int) -> int:
    """Return how many periods become one, so that no more than `most` are drawn."""
    periods = (max(line.values) - min(line.values)) / line.period_s + 1
    return max(1, math.ceil(periods / most))


def _steps(line: Line, most: int, begun: float) -> tuple[list[float], list[float | None]]:
    """Return the times and values of a line's changes; a missing period is a gap and not zero."""
    length = line.period_s * _merged(line, most)
    first = min(line.values)
    merged = grouped((int((at - first) // length), value) for (at, value) in line.values.items())
    x: list[float] = []
    y: list[float | None] = []
    for index in range(max(merged) + 1):
        values = merged.get(index)
        level = None if values is None else float(f"{line.combined(values):.4g}")
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
