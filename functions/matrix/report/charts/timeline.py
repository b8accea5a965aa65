"""The rate of each cell's fleet at each moment, step by step, with CloudWatch's counters and the storage's limit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from string import ascii_uppercase
from typing import Any

from matrix.answer.costs import storage_limits
from matrix.input.emulation import MARK
from matrix.report.charts.chart import NEAR_LIMIT, SINCE_START, Chart, Series, Span, thinned
from matrix.report.charts.labels import lower, slug
from matrix.report.charts.totals import BUILDS, done_per_s
from matrix.report.charts.watched import in_charts, kept_of, most_watched, moved_bytes
from matrix.report.view import Entry, View
from matrix.terms.documents.result import SampleColumns
from matrix.terms.grouping import grouped
from matrix.terms.metrics import METRICS
from matrix.terms.quantities import quantity

BYTES_PER = {"MB/s": 1e6, "MiB/s": 2.0**20}
# A page has charts of the first MAX_CELLS cells, with about POINTS points in all curves.
MAX_CELLS = 24
POINTS, MIN_POINTS, MAX_POINTS = 1200, 50, 150
# The same for each line of CloudWatch's counters; a cell has a dozen lines.
WATCHED, MIN_WATCHED = 216, 24
AT_WORK = "instances at work"
Change = tuple[float, float]  # when, and by how much


def timelines(view: View, *, is_page: bool = True) -> Iterator[Chart]:
    """Yield for each cell the fleet's rate at each moment, and CloudWatch's counters of its storage.

    A page has the latter only for as many cells as it has room for, with the largest fleets.
    """
    cells = grouped(
        ((entry.cell["id"], launch), of_launch) for entry in view.entries for (launch, of_launch) in _launches(entry)
    )
    shown = list(cells.values())[: MAX_CELLS if is_page else None]
    most = min(MAX_POINTS, max(MIN_POINTS, POINTS // max(1, len(shown))))
    watched = sorted((cell[0] for cell in shown if kept_of(view, cell[0])), key=lambda entry: -entry.instances)
    largest = watched[: most_watched(len(watched)) if is_page else None]
    for number, cell in enumerate(shown, start=1):
        yield _chart(view, number, cell, most)
        if any(cell[0] is entry for entry in largest):
            points = max(MIN_WATCHED, WATCHED // len(largest)) if is_page else MAX_POINTS
            yield from in_charts(view, number, cell[0], _begun(cell), points)


def _launches(entry: Entry) -> Iterator[tuple[int, Entry]]:
    """Yield a point once for each of its cell's launches, with its samples of that launch: each has its own clock."""
    samples, launches = entry.samples, entry.launches
    if samples is None:
        return
    if not launches:
        yield 1, entry
        return
    for number in sorted(set(launches)):
        kept = [row for row, launch in enumerate(launches) if launch == number]
        part: SampleColumns = {
            "instance": [samples["instance"][row] for row in kept],
            "launch": [number] * len(kept),
            "repetition": [samples["repetition"][row] for row in kept],
            "started_at": [samples["started_at"][row] for row in kept],
            "ended_at": [samples["ended_at"][row] for row in kept],
            "start_skew_s": [samples["start_skew_s"][row] for row in kept],
            "metrics": {name: [column[row] for row in kept] for name, column in samples["metrics"].items()},
        }
        rates = [rate for rate in entry.point.get("fleet") or [] if rate.get("launch") == number]
        yield number, replace(entry, point={**entry.point, "samples": part, "fleet": rates})


def _begun(cell: Sequence[Entry]) -> float:
    return min(min(entry.samples["started_at"]) for entry in cell if entry.samples)


def _chart(view: View, number: int, cell: Sequence[Entry], most: int) -> Chart:
    first, begun = cell[0], _begun(cell)
    unit, changes = _changes(cell, begun)
    x, y = _summed(changes, most)
    of = view.facets.marks(storage=first.storage)
    series = [Series("whole fleet", x, y, "steps", first.style, hover=(), width=1.5, of=of)]
    counted = moved_bytes(view, first, begun, BYTES_PER.get(unit))
    if counted is not None:
        kept = thinned(len(counted[0]), most)
        at, values = ([column[row] for row in kept] for column in counted)
        series.append(Series("CloudWatch", at, values, "dots", first.style, is_hollow=True,
                             hover=[quantity(value, unit) for value in values], of=of))  # fmt: skip
    limit = _limit(first, unit)
    # A limit far above the peak would flatten the curve; the words below the chart name it all the same.
    if limit and limit[0] <= NEAR_LIMIT * max(y):
        series.append(Series(f"{limit[1]}, {quantity(limit[0], unit)}", [0.0, x[-1]], [limit[0]] * 2, "limit",
                             first.style, of=of))  # fmt: skip
    launch = f", launch {first.launches[0]}" if first.launches else ""
    return Chart(
        id=f"time-{slug(f'{number}-{first.workload}')}",
        title=f"{first.workload} on {first.fleet}, {first.storage}{launch}: {_subject(first, unit)} over time",
        reads=_reads(unit, limit, has_cloudwatch=counted is not None),
        x_title=SINCE_START,
        is_x_in_seconds=True,
        y_title=unit,
        series=series,
        spans=_spans(cell, begun),
        notes=[f"{'; '.join(f'{name} is {label}' for label, name in _names(cell).items())}."]
        if len(_names(cell)) > 1
        else [],
        heads=(
            *("Storage", "Point", "Repetition", "Start spread (s)"),
            *("Seconds to the first end", "Fleet until the first was done"),
            *("Seconds to the last end", "Fleet until the last was done"),
        ),
        rows=[
            (f"{first.storage}{launch}", entry.label, *_fleet_row(rate))
            for entry in cell
            for rate in entry.point.get("fleet") or []
        ],
        is_from_zero=True,
        of=view.facets.marks(storage=first.storage, workload=first.workload, fleet=first.fleet),
    )


def _subject(entry: Entry, unit: str) -> str:
    return f"{lower(entry.quantity)} of the whole fleet" if _is_rate(entry) else unit


def _is_rate(entry: Entry) -> bool:
    """Return whether figures of instances add up; unknown for a command's own metrics (a hit ratio does not)."""
    return entry.higher_is_better and entry.name in METRICS


def _reads(unit: str, limit: tuple[float, str] | None, *, has_cloudwatch: bool) -> str:
    if unit == AT_WORK:
        words = "How many instances work at that moment."
    else:
        what = "as many an hour as it takes one after the other" if unit == BUILDS else "its own mean"
        words = (
            f"Sum over all instances that work at that moment, each with {what}. While they end one by one, that is "
            "more than a shared storage gave. Bands are steps: point and repetition."
        )
    words += f" The most that the storage gives on AWS: {quantity(limit[0], unit)} ({limit[1]})." if limit else ""
    return words + (" Hollow: what CloudWatch counted in that minute." if has_cloudwatch else "")


def _limit(entry: Entry, unit: str) -> tuple[float, str] | None:
    """Return the storage's limit for a fleet, in the unit of the chart, and its name."""
    storage = {key: value for key, value in entry.cell["storage"].items() if key != MARK}
    return storage_limits(storage, entry.instances).get(unit)


def _names(cell: Sequence[Entry]) -> dict[str, str]:
    """Return a short name of each point by its label: a letter, or a number if there are many; none for one point."""
    labels = list(dict.fromkeys(entry.label for entry in cell))
    if len(labels) == 1:
        return {labels[0]: ""}
    return {label: ascii_uppercase[at] if len(labels) <= len(ascii_uppercase) else f"{at + 1}."
            for at, label in enumerate(labels)}  # fmt: skip


def _spans(cell: Sequence[Entry], begun: float) -> list[Span]:
    """Return each step: from its first start to its last end, with the short name of its point and its repetition."""
    steps: dict[tuple[str, int], tuple[float, float]] = {}
    for entry in cell:
        samples = entry.samples
        columns = (samples["repetition"], samples["started_at"], samples["ended_at"]) if samples else ((), (), ())
        for repetition, start, end in zip(*columns, strict=True):
            low, high = steps.get((entry.label, repetition), (start, end))
            steps[entry.label, repetition] = (min(low, start), max(high, end))
    names = _names(cell)
    return sorted(
        Span(round(start - begun, 2), round(end - begun, 2), f"{names[label] or 'repetition '}{count}")
        for (label, count), (start, end) in steps.items()
    )


def _changes(cell: Sequence[Entry], begun: float) -> tuple[str, list[Change]]:
    """Return the unit of a cell's rate, and by how much it changes at each start and end."""
    first = cell[0]
    is_build = first.workload in ("build", "yocto")
    is_rate = _is_rate(first)
    unit = first.unit if is_rate else BUILDS if is_build else AT_WORK
    changes: list[Change] = []
    for entry in cell:
        samples = entry.samples
        if not samples:
            continue
        columns = (samples["started_at"], samples["ended_at"], samples["metrics"].get(entry.name, []))
        for start, end, value in zip(*columns, strict=False):
            if value is not None and (value > 0 or is_rate or not is_build):
                rate = value if is_rate else 3600.0 / value if is_build else 1.0
                changes += [(start - begun, rate), (end - begun, -rate)]
    return unit, sorted(changes, key=lambda change: change[0])


def _summed(changes: Sequence[Change], most: int) -> tuple[list[float], list[float]]:
    """Return the sum of the rates of all samples under way, at each moment at which one begins or ends."""
    total, x, y = 0.0, [0.0], [0.0]
    for at, change in changes:
        total = max(0.0, total + change)
        total = 0.0 if total < abs(change) * 1e-9 else total
        x.append(round(at, 3))
        y.append(float(f"{total:.4g}"))
    keep = thinned(len(x), most)
    return [x[i] for i in keep], [y[i] for i in keep]


def _fleet_row(rate: Mapping[str, Any]) -> tuple[Any, ...]:
    """Repetition, start spread, and the fleet's own rate: while all worked, and with the stragglers' tail."""
    return (
        *(rate["repetition"], rate.get("start_spread_s")),
        *(rate.get("first_done_s"), _describe_done(rate, "_per_s_first_done")),
        *(rate.get("span_s"), _describe_done(rate, "_per_s")),
    )


def _describe_done(rate: Mapping[str, Any], suffix: str) -> str | None:
    done = done_per_s(rate, suffix)
    return None if done is None else quantity(*done)
