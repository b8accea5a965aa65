"""What a fleet does at each moment, with the most that its storage can give."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from matrix.answer.costs import BYTES, storage_limits
from matrix.input.emulation import MARK
from matrix.report.charts.chart import MOST_MARKS, MOST_SERIES, Chart, Series, thinned
from matrix.report.charts.labels import slug
from matrix.report.view import Entry, View
from matrix.samples import cloudwatch
from matrix.terms.figures import quantity

# What AWS counts of a storage's bytes, minute by minute.
COUNTED = {
    "ebs": ("AWS/EBS VolumeReadBytes", "AWS/EBS VolumeWriteBytes"),
    "efs": ("AWS/EFS DataReadIOBytes", "AWS/EFS DataWriteIOBytes"),
    "fsx-openzfs": ("AWS/FSx DataReadBytes", "AWS/FSx DataWriteBytes"),
}
BYTES_PER = {"MB/s": 1e6, "MiB/s": 2.0**20}


def timelines(view: View) -> Iterator[Chart]:
    """Yield a chart for each fleet: the sum of rates at each moment and the storage's limit, or each duration."""
    for (workload, fleet, name), entries in view.by("workload", "fleet", "name").items():
        cells: dict[tuple[str, int], list[Entry]] = {}
        for entry in entries:
            for launch, of_launch in _launches(entry):
                cells.setdefault((entry.cell["id"], launch), []).append(of_launch)
        if not cells:
            continue
        first = entries[0]
        if first.higher_is_better:
            yield _rates_over_time(view, workload, fleet, name, first, list(cells.values())[:MOST_SERIES])
        else:
            yield _durations_over_time(workload, fleet, name, first, list(cells.values())[:MOST_SERIES])


def _launches(entry: Entry) -> Iterator[tuple[int, Entry]]:
    """Yield a point once for each of its cell's launches, with its samples of that launch: each has its own clock."""
    samples = entry.samples
    if samples is None:
        return
    launches = samples.get("launch")
    if not launches:
        yield 1, entry
        return
    for number in sorted(set(launches)):
        kept = [row for row, launch in enumerate(launches) if launch == number]
        part: dict[str, Any] = {
            name: [column[row] for row in kept] for name, column in samples.items() if name != "metrics"
        }
        part["metrics"] = {name: [column[row] for row in kept] for name, column in samples["metrics"].items()}
        rates = [rate for rate in entry.point.get("fleet") or [] if rate.get("launch") == number]
        yield number, replace(entry, point={**entry.point, "samples": part, "fleet": rates})


def _name(entry: Entry) -> str:
    """The storage, and which launch where there were several."""
    launches = (entry.samples or {}).get("launch")
    return f"{entry.storage}, launch {launches[0]}" if launches else entry.storage


def _rates_over_time(
    view: View, workload: str, fleet: str, name: str, first: Entry, cells: list[list[Entry]]
) -> Chart:  # fmt: skip
    series: list[Series] = []
    rows: list[Any] = []
    limited: set[str] = set()
    for cell in cells:
        begun = min(min((entry.samples or {})["started_at"]) for entry in cell)
        x, y, words = _summed(cell, name, begun)
        series.append(Series(_name(cell[0]), x, y, "steps", cell[0].style, hover=words, width=1.5))
        rows += [
            (_name(cell[0]), entry.label, *_fleet_row(rate))
            for entry in cell
            for rate in entry.point.get("fleet") or []
        ]
        series += _watched(view, cell[0], begun)
        limit = _limit(cell[0])
        peak = max((value for value in y if value is not None), default=0.0)
        # A limit far above the peak would flatten the curve; the words below the chart name it all the same.
        if limit and limit[0] <= 4 * peak and cell[0].storage not in limited:
            limited.add(cell[0].storage)
            label = f"{cell[0].storage}: {limit[1]}, {quantity(limit[0], first.unit)}"
            ends = [0, max((float(second) for second in x if second is not None), default=0)]
            series.append(Series(label, ends, [limit[0]] * 2, "limit", cell[0].style))
    limits = _limit_words(cells, first.unit)
    hollow = " Hollow: what CloudWatch counted in that minute." if any(line.is_hollow for line in series) else ""
    return Chart(
        id=f"time-{slug(f'{workload}-{fleet}')}",
        title=f"{workload} on {fleet}: {first.unit} of the whole fleet over time",
        reads="The sum over all instances that work at that moment, each with its own mean; so it can lie above what a "
        f"shared storage gave while they ended one by one. Between points it is zero. {limits}"
        f"{hollow}".rstrip(),
        x_title="seconds since the first start of the cell",
        y_title=first.unit,
        series=series,
        heads=(
            *("Storage", "Point", "Repetition", "Start spread (s)"),
            *("Seconds to the first end", "Fleet until the first was done"),
            *("Seconds to the last end", "Fleet until the last was done"),
        ),
        rows=rows,
        is_from_zero=True,
    )


def _limit_words(cells: list[list[Entry]], unit: str) -> str:
    limits = {cell[0].storage: _limit(cell[0]) for cell in cells}
    sentences = [f"{storage} {quantity(limit[0], unit)} ({limit[1]})" for storage, limit in limits.items() if limit]
    if not sentences:
        return ""
    return f"The most that the storage gives on AWS, dash-dotted where it is near: {'; '.join(sentences)}."


def _limit(entry: Entry) -> tuple[float, str] | None:
    """Return the storage's limit for a fleet, in the unit of the chart, and what limits it."""
    storage = {key: value for key, value in entry.cell["storage"].items() if key != MARK}
    return storage_limits(storage, entry.instances).get(entry.unit)


def _watched(view: View, entry: Entry, begun: float) -> Iterator[Series]:
    """Yield the bytes that CloudWatch counted in each minute, where it was asked for all of a cell's resources."""
    kept = (view.results.get(entry.cell["id"]) or {}).get("cloudwatch")
    names, scale = COUNTED.get(str(entry.cell["storage"].get("type")), ()), BYTES_PER.get(entry.unit)
    if not kept or scale is None or len(kept["resources"]["instances"]) < kept["resources"]["of"]:
        return
    moved: dict[float, float] = {}
    for series in (curve for name in names for curve in cloudwatch.values(kept, name)):
        for at, value in series:
            # A minute's sum is drawn in the middle of the minute.
            middle = round(at + series.period_s / 2 - begun, 3)
            moved[middle] = moved.get(middle, 0.0) + value / series.period_s / scale
    if moved:
        x = sorted(moved)
        words = [quantity(moved[at], entry.unit) for at in x]
        yield Series(f"{entry.storage}, CloudWatch", x, [moved[at] for at in x], "dots", entry.style, hover=words,
                     is_hollow=True)  # fmt: skip


def _fleet_row(rate: Mapping[str, Any]) -> tuple[Any, ...]:
    """Repetition, start spread, and the fleet's own rate: while all worked, and with the stragglers' tail."""
    return (
        *(rate["repetition"], rate.get("start_spread_s")),
        *(rate.get("first_done_s"), _done_per_s(rate, "_per_s_first_done")),
        *(rate.get("span_s"), _done_per_s(rate, "_per_s")),
    )


def _done_per_s(rate: Mapping[str, Any], suffix: str) -> str | None:
    """What a fleet did per second, bytes read and written together; None where its work is not known."""
    moved = [rate[f"{name}{suffix}"] for name in BYTES if f"{name}{suffix}" in rate]
    if moved:
        return quantity(sum(moved) / 1e6, "MB/s")
    files = rate.get(f"files{suffix}")
    return None if files is None else quantity(files, "files/s")


def _summed(cell: Sequence[Entry], name: str, begun: float) -> tuple[list[Any], list[Any], list[str]]:
    """Return the sum of the rates of all samples under way, at each moment at which one begins or ends."""
    changes: list[tuple[float, float, str]] = []
    for entry in cell:
        samples = entry.samples or {}
        columns = (samples["started_at"], samples["ended_at"], samples["metrics"].get(name) or [])
        for start, end, value in zip(*columns, strict=False):
            if value is not None:
                changes += [(start - begun, value, entry.label), (end - begun, -value, entry.label)]
    changes.sort(key=lambda change: change[0])
    total, x, y, words = 0.0, [0.0], [0.0], [""]
    for at, change, label in changes:
        total = max(0.0, total + change)
        total = 0.0 if total < abs(change) * 1e-9 else total
        x.append(round(at, 3))
        y.append(float(f"{total:.6g}"))
        words.append(label)
    keep = thinned(len(x))
    unit = cell[0].unit
    return (
        [x[i] for i in keep],
        [y[i] for i in keep],
        [f"{words[i]}<br>{quantity(y[i], unit)} after {x[i]:.1f} s" for i in keep],
    )


def _durations_over_time(workload: str, fleet: str, name: str, first: Entry, cells: list[list[Entry]]) -> Chart:
    series = []
    rows: list[Any] = []
    for cell in cells:
        begun = min(min((entry.samples or {})["started_at"]) for entry in cell)
        dots = sorted(
            (start - begun, value, instance, entry.label)
            for entry in cell
            for samples in [entry.samples or {}]
            for start, value, instance in zip(
                samples["started_at"], samples["metrics"].get(name) or [], samples["instance"], strict=False
            )
            if value is not None
        )
        shown = [dots[i] for i in thinned(len(dots), MOST_MARKS)]
        words = [f"{instance}, {label}<br>{quantity(value, first.unit)}" for _, value, instance, label in shown]
        series.append(Series(_name(cell[0]), [round(dot[0], 2) for dot in shown], [dot[1] for dot in shown], "dots",
                             cell[0].style, hover=words))  # fmt: skip
        rows += [
            (cell[0].storage, entry.label, rep["repetition"], rep["n"], rep["median"])
            for entry in cell
            for rep in (entry.metric.get("spread") or {}).get("by_repetition") or []
        ]
    return Chart(
        id=f"time-{slug(f'{workload}-{fleet}')}",
        title=f"{workload} on {fleet}: {name} over time",
        reads=f"Each sample at its start; of more than {MOST_MARKS} evenly chosen ones. "
        "A slope is a drift: a cache that fills, credits that run out.",
        x_title="seconds since the first start of the cell",
        y_title=first.title,
        series=series,
        heads=("Storage", "Point", "Repetition", "n", "Median"),
        rows=list(dict.fromkeys(rows)),  # a median of a repetition is over all launches, and said once
        is_from_zero=True,
        is_in_seconds=first.unit == "s",
    )
