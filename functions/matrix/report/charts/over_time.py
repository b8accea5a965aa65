"""Traffic and operations of a cell's whole fleet by the second of each step: a chart of bytes, one of operations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from matrix.report.charts.chart import MAX_SERIES, SINCE_STEP, Chart, Series, few_lines
from matrix.report.view import Entry, View
from matrix.terms.documents.result import OverTime
from matrix.terms.grouping import grouped
from matrix.terms.quantities import quantity

# A page has charts of at most MAX_CELLS cells, with the largest fleets, and about POINTS points in all their lines.
MAX_CELLS, POINTS = 24, 12_000
MIN_POINTS, MAX_POINTS = 40, 200
# A rate below this share of a step's greatest rate, or below LEAST, is noise of the machine.
MIN_SHARE = 0.02
Counted: TypeAlias = Literal["mb_per_s", "operations_per_s"]
LEAST: dict[Counted, float] = {"mb_per_s": 0.05, "operations_per_s": 1.0}
HEADS = ("Storage", "Point", "Repetition", "Instances", "What", "Mean", "Highest", "Seconds of each mean")
UNITS: dict[Counted, str] = {"mb_per_s": "MB/s", "operations_per_s": "operations/s"}
OF = {"operations": "of the workload"}


@dataclass(frozen=True)
class Line:
    """One counter's rate over one step."""

    entry: Entry
    step: OverTime
    what: str
    rates: Sequence[float]

    @property
    def name(self) -> str:
        launch = f", launch {self.step['launch']}" if "launch" in self.step else ""
        point = f"{self.entry.label}, " if self.entry.label else ""
        return f"{point}repetition {self.step['repetition']}{launch}: {OF.get(self.what, self.what)}"

    @property
    def moved(self) -> float:
        """The total count."""
        return sum(rate * length for rate, length in zip(self.rates, _lengths(self.step["seconds"]), strict=True))


def over_time(view: View, *, is_page: bool = True) -> Iterator[Chart]:
    """Yield the charts of the cells with recorded steps; a page has as many as it has room for."""
    cells = _watched(view)
    if is_page:
        largest = sorted(cells.values(), key=lambda entries: -entries[0].instances)[:MAX_CELLS]
        cells = {name: entries for name, entries in cells.items() if any(entries is kept for kept in largest)}
    drawn = [
        (number, unit, entries, lines)
        for number, entries in enumerate(cells.values(), start=1)
        for unit in UNITS
        if (lines := _lines(entries, unit))
    ]
    count = sum(len(lines[:MAX_SERIES]) for *_, lines in drawn)
    most = min(MAX_POINTS, max(MIN_POINTS, POINTS // max(1, count))) if is_page else MAX_POINTS
    for number, unit, entries, lines in drawn:
        yield _chart(view, f"second-{number}-{unit.partition('_')[0]}", UNITS[unit], entries, lines, most)


def left_out(view: View) -> str:
    """Write how many cells have such charts in a page; empty if all have."""
    count = len(_watched(view))
    if count <= MAX_CELLS:
        return ""
    return (
        f"What went on by the second is drawn of the largest fleets, {MAX_CELLS} of {count} cells; "
        f"matrix report {view.summary['run']} --charts DIR draws it of all."
    )


def _watched(view: View) -> dict[str, list[Entry]]:
    return grouped((entry.cell["id"], entry) for entry in view.entries if entry.point.get("over_time"))


def _lines(entries: Sequence[Entry], unit: Counted) -> list[Line]:
    """Return the lines above the noise: first repetitions of all points before second ones."""
    lines = []
    for entry in entries:
        for step in entry.point["over_time"]:
            greatest = max((max(rates) for rates in step[unit].values()), default=0.0)
            lines += [
                Line(entry, step, what, rates)
                for what, rates in step[unit].items()
                if max(rates) >= max(LEAST[unit], MIN_SHARE * greatest)
            ]
    return sorted(lines, key=lambda line: (line.step["repetition"], line.step.get("launch", 1)))


def _chart(view: View, id_: str, unit: str, entries: Sequence[Entry], lines: Sequence[Line], most: int) -> Chart:
    first = entries[0]
    series = []
    drawn = lines[:MAX_SERIES]
    for style, line in enumerate(drawn):
        x, y = _stepped(line.step["seconds"], line.rates, most)
        series.append(Series(line.name, x, y, "steps", style, hover=(), width=1.5))
    lacking = [line.step["instances"] for line in lines if line.step["instances"] < first.instances]
    notes = [f"Of {min(lacking)} of {first.instances} instances at least."] if lacking else []
    notes += few_lines(len(lines), "those of the first repetitions")
    return Chart(
        id=id_,
        title=f"{first.workload} on {first.fleet}, {first.storage}: {unit} of the whole fleet by the second",
        reads="Added up over all instances: what their network interfaces, the disks below the storage and its mounts "
        "counted, and the operations that the workload's own engine ended. Each value is the mean of a second, in "
        "long steps of more. Instances that are processes of one machine share its counters, other programs' too.",
        x_title=SINCE_STEP,
        is_x_in_seconds=True,
        y_title=unit,
        series=series,
        notes=notes,
        heads=HEADS,
        rows=[_row(line, unit) for line in drawn],
        is_from_zero=True,
        of=view.facets.marks(storage=first.storage, workload=first.workload, fleet=first.fleet),
    )


def _row(line: Line, unit: str) -> tuple[object, ...]:
    seconds = line.step["seconds"]
    return (
        *(line.entry.storage, line.entry.label, line.step["repetition"], line.step["instances"]),
        *(OF.get(line.what, line.what), quantity(line.moved / seconds[-1], unit), quantity(max(line.rates), unit)),
        round(seconds[0], 2),
    )


def _lengths(ends: Sequence[float]) -> list[float]:
    return [end - start for start, end in zip([0.0, *ends], ends, strict=False)]


def _stepped(ends: Sequence[float], rates: Sequence[float], most: int) -> tuple[list[float], list[float]]:
    """Return the places of a line that has each rate from the start of its stretch to its end.

    Of more stretches than `most` neighbours become one with their mean, so nothing that was counted is lost.
    """
    lengths = _lengths(ends)
    each = -(-len(ends) // most)
    starts, means = [], []
    for at in range(0, len(ends), each):
        part = slice(at, at + each)
        whole = sum(lengths[part])
        moved = sum(rate * length for rate, length in zip(rates[part], lengths[part], strict=True))
        starts.append(round(ends[at] - lengths[at], 2))
        means.append(float(f"{moved / whole:.4g}"))
    return [*starts, ends[-1]], [*means, means[-1]]
