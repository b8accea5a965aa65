"""What a fleet does at each moment, with the most that its storage can give."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matrix.answer.costs import BYTES, storage_limits
from matrix.input.emulation import MARK
from matrix.report.charts.chart import MOST_SERIES, Chart, Series, thinned
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
    """What the whole fleet does at each moment, with the most that its storage can give; of durations each one."""
    for (workload, fleet, name), entries in view.by("workload", "fleet", "name").items():
        cells: dict[str, list[Entry]] = {}
        for entry in entries:
            if entry.samples:
                cells.setdefault(entry.cell["id"], []).append(entry)
        if not cells:
            continue
        first = entries[0]
        if first.higher_is_better:
            yield _rates_over_time(view, workload, fleet, name, first, list(cells.values())[:MOST_SERIES])
        else:
            yield _durations_over_time(workload, fleet, name, first, list(cells.values())[:MOST_SERIES])


def _rates_over_time(
    view: View, workload: str, fleet: str, name: str, first: Entry, cells: list[list[Entry]]
) -> Chart:  # fmt: skip
    series: list[Series] = []
    rows: list[Any] = []
    for of in cells:
        begun = min(min((of_one.samples or {})["started_at"]) for of_one in of)
        x, y, words = _summed(of, name, begun)
        series.append(Series(of[0].storage, x, y, "steps", of[0].style, hover=words, width=1.5))
        rows += [
            (of[0].storage, entry.label, *_fleet_row(rate)) for entry in of for rate in entry.point.get("fleet") or []
        ]
        series += _watched(view, of[0], begun)
        found = _limit(of[0])
        peak = max((value for value in y if value is not None), default=0.0)
        # A limit far above what was reached would only flatten the curve; in the table it stands all the same.
        if found and found[0] <= 4 * peak:
            told = f"{of[0].storage}: {found[1]}, {quantity(found[0], first.unit)}"
            ends = [0, max((float(one) for one in x if one is not None), default=0)]
            series.append(Series(told, ends, [found[0]] * 2, "limit", of[0].style))
    limits = _limit_words(cells, first.unit)
    return Chart(
        id=f"time-{slug(f'{workload}-{fleet}')}",
        title=f"{workload} on {fleet}: {first.unit} of the whole fleet over time",
        reads="The sum over all instances that work at that moment, each with its own mean; so it can lie above what a "
        f"shared storage gave while they ended one by one. Between points it is zero. {limits}"
        f"{' Hollow: what CloudWatch counted in that minute.' if any(one.is_hollow for one in series) else ''}".strip(),
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
    found = {of[0].storage: _limit(of[0]) for of in cells}
    told = [f"{storage} {quantity(one[0], unit)} ({one[1]})" for storage, one in found.items() if one]
    return f"The most that the storage gives on AWS, dash-dotted where it is near: {'; '.join(told)}." if told else ""


def _limit(entry: Entry) -> tuple[float, str] | None:
    """The most that a fleet gets from its storage, in the unit of the chart, with its name."""
    storage = {key: value for key, value in entry.cell["storage"].items() if key != MARK}
    return storage_limits(storage, entry.instances).get(entry.unit)


def _watched(view: View, entry: Entry, begun: float) -> Iterator[Series]:
    """The bytes that AWS itself counted in each minute, where CloudWatch was asked for all of a cell's resources."""
    kept = (view.results.get(entry.cell["id"]) or {}).get("cloudwatch")
    names, scale = COUNTED.get(str(entry.cell["storage"].get("type")), ()), BYTES_PER.get(entry.unit)
    if not kept or scale is None or len(kept["resources"]["instances"]) < kept["resources"]["of"]:
        return
    moved: dict[float, float] = {}
    for series in (one for name in names for one in cloudwatch.values(kept, name)):
        for at, value in series:
            # Drawn in the middle of its minute.
            middle = round(at + series.period_s / 2 - begun, 3)
            moved[middle] = moved.get(middle, 0.0) + value / series.period_s / scale
    if moved:
        x = sorted(moved)
        words = [f"{entry.storage}, CloudWatch<br>{quantity(moved[at], entry.unit)}" for at in x]
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


def _summed(of: Sequence[Entry], name: str, begun: float) -> tuple[list[Any], list[Any], list[str]]:
    """The sum of the rates of all samples that go on, at each moment at which one begins or ends."""
    changes: list[tuple[float, float, str]] = []
    for entry in of:
        samples = entry.samples or {}
        columns = (samples["started_at"], samples["ended_at"], samples["metrics"].get(name) or [])
        for start, end, value in zip(*columns, strict=False):
            if value is not None:
                changes += [(start - begun, value, entry.label), (end - begun, -value, entry.label)]
    changes.sort(key=lambda one: one[0])
    total, x, y, words = 0.0, [0.0], [0.0], [""]
    for at, change, label in changes:
        total = max(0.0, total + change)
        total = 0.0 if total < abs(change) * 1e-9 else total
        x.append(round(at, 3))
        y.append(float(f"{total:.6g}"))
        words.append(label)
    keep = thinned(len(x))
    unit = of[0].unit
    return (
        [x[i] for i in keep],
        [y[i] for i in keep],
        [f"{of[0].storage}<br>{words[i]}<br>{quantity(y[i], unit)} after {x[i]:.1f} s" for i in keep],
    )


def _durations_over_time(workload: str, fleet: str, name: str, first: Entry, cells: list[list[Entry]]) -> Chart:
    series = []
    rows: list[Any] = []
    for of in cells:
        begun = min(min((one.samples or {})["started_at"]) for one in of)
        dots = sorted(
            (start - begun, value, instance, one.label)
            for one in of
            for samples in [one.samples or {}]
            for start, value, instance in zip(
                samples["started_at"], samples["metrics"].get(name) or [], samples["instance"], strict=False
            )
            if value is not None
        )
        shown = [dots[i] for i in thinned(len(dots))]
        words = [
            f"{of[0].storage}<br>{instance}, {label}<br>{quantity(value, first.unit)}"
            for _, value, instance, label in shown
        ]
        series.append(Series(of[0].storage, [round(one[0], 2) for one in shown], [one[1] for one in shown], "dots",
                             of[0].style, hover=words))  # fmt: skip
        rows += [(of[0].storage, one.label, rep["repetition"], rep["n"], rep["median"])
                 for one in of for rep in (one.metric.get("spread") or {}).get("by_repetition") or []]  # fmt: skip
    return Chart(
        id=f"time-{slug(f'{workload}-{fleet}')}",
        title=f"{workload} on {fleet}: {name} over time",
        reads=f"Each sample at its start; of more than {len(thinned(10**6))} evenly chosen ones. "
        "A slope is a drift: a cache that fills, credits that run out.",
        x_title="seconds since the first start of the cell",
        y_title=first.title,
        series=series,
        heads=("Storage", "Point", "Repetition", "n", "Median"),
        rows=rows,
        is_from_zero=True,
        is_in_seconds=first.unit == "s",
    )
