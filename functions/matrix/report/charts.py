"""Every chart of a report, from the view of a run. What a run has no figures for is left out, not drawn empty."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrix.costs import storage_limits
from matrix.decision.words import money
from matrix.emulation import ENVIRONMENT
from matrix.rendering import ABSENT, figure, interval, quantity
from matrix.report.chart import MOST_SERIES, Chart, Series, thinned
from matrix.report.view import Entry, View
from matrix.scaling import LEAST_SIZES, analyse, knee
from matrix.series import Series as Measured

# More rows than this are split into a chart per point.
MOST_ROWS = 36
# Values that differ by more than this are drawn on a logarithmic axis.
WIDE = 30.0
WIDE_COST = 5.0
MOST_LABELLED = 4
# Options of fio that are sizes.
BYTE_OPTIONS = {"bs", "blocksize", "size", "filesize"}
LATENCY_NAMES = {"create_lat": "Creates", "read_lat": "Reads", "write_lat": "Writes"}


@dataclass(frozen=True)
class Section:
    """Charts that answer one question."""

    id: str
    title: str
    charts: list[Chart]


def sections(view: View) -> list[Section]:
    """Return all charts of a run."""
    made = [
        Section("percentiles", "How fast, and how evenly", list(bands(view))),
        Section("cost", "Cost against speed", list(costs(view))),
        Section("scaling", "More instances", list(scaling(view))),
        Section("sweeps", "Sweeps: threads, block sizes and the like", list(sweeps(view))),
        Section("latency", "Latency distributions", list(latencies(view))),
        Section("timeline", "Over time", list(timelines(view))),
        Section("fleet", "The fleet: common start, instance against instance", [*skews(view), *spreads(view)]),
    ]
    kept = [
        Section(one.id, one.title, [_marked(chart, view) for chart in one.charts if chart.has_points]) for one in made
    ]
    return [one for one in kept if one.charts]


def _marked(chart: Chart, view: View) -> Chart:
    """Say of a picture that it shows emulated storages: it is shown where no note stands beside it."""
    is_emulated = view.summary.get("environment") == ENVIRONMENT
    return replace(chart, title=f"Emulated: {chart.title}") if is_emulated else chart


# --- percentiles ------------------------------------------------------------------------------------------------------


def bands(view: View) -> Iterator[Chart]:
    """Each cell's spread as a bar, one chart per workload; of large matrices one per point."""
    for (workload, _), entries in view.by("workload", "name").items():
        if len(entries) <= MOST_ROWS:
            yield _band(view, workload, entries, workload)
            continue
        labels: dict[str, list[Entry]] = {}
        for entry in entries:
            labels.setdefault(entry.label, []).append(entry)
        for label, of_label in labels.items():
            for index in range(0, len(of_label), MOST_ROWS):
                yield _band(view, f"{workload}, {label}", of_label[index : index + MOST_ROWS], workload)


def _band(view: View, title: str, entries: Sequence[Entry], workload: str) -> Chart:  # noqa: ARG001
    has_labels = len({entry.label for entry in entries}) > 1
    has_types = len({entry.cell["fleet"].get("instanceType") for entry in entries}) > 1
    rows = _distinct([_row_name(entry, has_labels, has_types) for entry in entries])
    series: list[Series] = []
    for style in dict.fromkeys(entry.style for entry in entries):
        series += _band_series(view, [(row, one) for row, one in zip(rows, entries, strict=True) if one.style == style])
    first = entries[0]
    direction = "right is better" if first.higher_is_better else "left is better"
    values = [entry.metric.get(name) for entry in entries for name in ("p0", "p100")]
    return Chart(
        id=f"bands-{_slug(title)}",
        title=f"{title}: {first.name}" + ("" if has_types else f" on {first.type}"),
        reads=(
            f"Thin line: slowest to fastest sample. Thick line: from the median to the slow end, which 90 % of the "
            f"samples reach. Dot: median with its 95 % interval. {direction.capitalize()}."
        ),
        x_title=first.title,
        y_title="",
        series=series,
        categories=rows,
        is_x_log=_is_wide(values),
        is_from_zero=True,
        limit=view.limit(first),
        is_in_seconds=first.unit == "s",
    )


def _band_series(view: View, rows: Sequence[tuple[str, Entry]]) -> Iterator[Series]:
    storage, style = rows[0][1].storage, rows[0][1].style
    whole = [(entry.metric.get("p0"), entry.metric.get("p100"), row) for row, entry in rows]
    slow = [(entry.metric.get("p50"), view.slow_end(entry).get("value"), row) for row, entry in rows]
    told = [f"{row}<br>{_percentile_words(view, entry)}" for row, entry in rows]
    yield Series(
        storage,
        [entry.metric.get("p50") for _, entry in rows],
        [row for row, _ in rows],
        "dots",
        style,
        low=[entry.interval()[0] for _, entry in rows],
        high=[entry.interval()[1] for _, entry in rows],
        hover=told,
    )
    yield Series(f"{storage}, all", *_segments(whole), kind="segments", style=style, group=storage, width=1.5)
    yield Series(f"{storage}, slow end", *_segments(slow), kind="segments", style=style, group=storage, width=6)


def _segments(parts: Iterable[tuple[float | None, float | None, str]]) -> tuple[list[Any], list[Any]]:
    x: list[Any] = []
    y: list[Any] = []
    for start, end, row in parts:
        if start is not None and end is not None:
            x += [start, end, None]
            y += [row, row, None]
    return x, y


def _percentile_words(view: View, entry: Entry) -> str:
    metric = dict(entry.metric)
    figures = [f"{name.upper()} {figure(metric, name)}" for name in ("p0", "p50", "p75", "p90", "p98", "p100")]
    found = view.slow_end(entry)
    level = found.get("level")
    if found and entry.higher_is_better:
        figures.append(f"P{level:g} {quantity(found['value'], entry.unit)}")
    middle = interval(metric)
    return "<br>".join([*figures, f"P50, 95 %: {middle}", f"n {metric.get('n') or ABSENT}"])


# --- cost -------------------------------------------------------------------------------------------------------------


def costs(view: View) -> Iterator[Chart]:
    """What a result costs against the slow end, for each point: cheap and fast is where one wants to be."""
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for question in view.decision.get("questions") or []:
        groups.setdefault((question["workload"], question["label"], question["metric"]), []).append(question)
    styles = {entry.storage: entry.style for entry in view.entries}
    names = view.storages
    for (workload, label, metric), questions in groups.items():
        found = [
            (question, {**one, "storage": names.get(one["file_system"], one["storage"])})
            for question in questions
            for one in question["candidates"]
            if one["cost"] and one["value"] is not None
        ]
        if len(found) > 1:
            yield _cost_chart(workload, label, metric, found, styles)


def _cost_chart(workload: str, label: str, metric: str, found: list[Any], styles: dict[str, int]) -> Chart:
    unit, level = found[0][0]["unit"], found[0][0]["level"]
    series = []
    lines = len({one["storage"] for _, one in found})
    for storage in dict.fromkeys(one["storage"] for _, one in found):
        mine = [(question, one) for question, one in found if one["storage"] == storage]
        for is_whole in (True, False):
            known = [(question, one) for question, one in mine if (one["cost"]["missing"] is None) is is_whole]
            if known:
                series.append(
                    Series(
                        storage if is_whole else f"{storage}, at least",
                        [one["cost"]["usd"] for _, one in known],
                        [one["value"] for _, one in known],
                        "line" if len(known) > 1 else "dots",
                        styles.get(storage, 0),
                        group=storage if any(one["cost"]["missing"] is None for _, one in mine) else "",
                        low=[one["low"] for _, one in known],
                        high=[one["high"] for _, one in known],
                        hover=[_cost_words(question, one) for question, one in known],
                        labels=_at_ends([str(question["instances"]) for question, _ in known], lines),
                        is_hollow=not is_whole,
                        width=1,
                    )
                )
    per = found[0][1]["cost"]["per"]
    better = "up" if found[0][0]["higher_is_better"] else "down"
    slow = f"P{level:g} of {metric} ({unit})"
    usd = [one["cost"]["usd"] for _, one in found]
    is_partial = any(one["cost"]["missing"] for _, one in found)
    return Chart(
        id=f"cost-{_slug(f'{workload}-{label}')}",
        title=f"{workload}{f', {label}' if label else ''}: {slow} against US dollars per {per}",
        reads=(
            f"Left is cheaper, {better} is faster. A line joins the fleets of one storage, from the smallest number of "
            "instances to the largest."
            + (" Hollow: its cost is known in part only, so it may lie farther right." if is_partial else "")
        ),
        x_title=f"US dollars per {per}",
        y_title=slow,
        series=series,
        heads=("Storage", "Fleet", slow, f"USD per {per}", f"USD per {per}, as this run was billed", "On the front"),
        rows=[
            (
                one["storage"],
                question["fleet"],
                one["value"],
                one["cost"]["usd"],
                one["cost"]["usd_billed"],
                "yes" if one["on_front"] else "at least" if one["cost"]["missing"] else "",
            )
            for question, one in found
        ],
        is_x_log=_is_wide(usd, WIDE_COST),
        is_y_log=_is_wide([one["value"] for _, one in found]),
        is_in_seconds=unit == "s",
    )


def _at_ends(labels: Sequence[str], lines: int) -> list[str] | None:
    """Labels at both ends of a line: those between would lie on each other, and so would those of many lines."""
    if lines > MOST_LABELLED:
        return None
    return [label if index in (0, len(labels) - 1) else "" for index, label in enumerate(labels)]


def _cost_words(question: Any, one: Any) -> str:
    cost = one["cost"]
    lines = [one["storage"], question["fleet"], f"P{question['level']:g} {quantity(one['value'], question['unit'])}"]
    lines.append(f"{money(cost['usd'])} per {cost['per']} ({cost['basis']})")
    if cost["missing"]:
        lines.append(f"without {cost['missing']}")
    if cost["usd_billed"] is not None:
        lines.append(f"{money(cost['usd_billed'])} as this run was billed ({cost['billed_basis']})")
    return "<br>".join([*lines, *(["on the Pareto front"] if one["on_front"] else [])])


# --- scaling ----------------------------------------------------------------------------------------------------------


def scaling(view: View) -> Iterator[Chart]:
    """Each storage over fleet sizes, with what was fitted where four sizes carry a fit."""
    for (workload, label, name), entries in view.by("workload", "label", "name").items():
        by_storage: dict[str, list[Entry]] = {}
        for entry in sorted(entries, key=lambda one: one.instances):
            by_storage.setdefault(entry.storage, []).append(entry)
        curves = {storage: of for storage, of in by_storage.items() if len({one.instances for one in of}) > 1}
        if not curves:
            continue
        sizes = sorted({entry.instances for of in curves.values() for entry in of})
        series = [one for of in curves.values() for one in _scaling_series(view, of)]
        fits = [told for storage, of in curves.items() for told in _fit(storage, of, series)]
        first = entries[0]
        yield Chart(
            id=f"scaling-{_slug(f'{workload}-{label}')}",
            title=f"{workload}{f', {label}' if label else ''}: {name} of each instance over the size of the fleet",
            reads="Solid: median with its 95 % interval. Dashed: the slow end, which 90 % of the samples reach."
            + (" The law that predicts best can be shown too." if fits else ""),
            notes=fits,
            x_title="instances that work at the same time",
            y_title=first.title,
            series=series,
            heads=("Storage", "Instances", "P50", "P50, 95 % low", "P50, 95 % high", "Slow end"),
            rows=[
                (one.storage, one.instances, one.metric.get("p50"), *one.interval(), view.slow_end(one).get("value"))
                for of in curves.values()
                for one in of
            ],
            is_x_log=sizes[-1] / sizes[0] >= 10,  # noqa: PLR2004 - a decade
            is_y_log=_is_wide([one.metric.get("p50") for of in curves.values() for one in of]),
            is_from_zero=True,
            limit=view.limit(first),
            is_in_seconds=first.unit == "s",
            ticks=tuple(float(size) for size in sizes),
        )


def _scaling_series(view: View, of: Sequence[Entry]) -> Iterator[Series]:
    first, sizes = of[0], [one.instances for one in of]
    yield Series(
        first.storage,
        sizes,
        [one.metric.get("p50") for one in of],
        "line",
        first.style,
        low=[one.interval()[0] for one in of],
        high=[one.interval()[1] for one in of],
        hover=[f"{one.storage}, {one.fleet}<br>{_percentile_words(view, one)}" for one in of],
    )
    slow = [view.slow_end(one).get("value") for one in of]
    if any(value is not None for value in slow):
        words = [
            f"{one.storage}, {one.fleet}<br>slow end {quantity(v, one.unit)}" for one, v in zip(of, slow, strict=True)
        ]
        yield Series(
            f"{first.storage}, slow end", sizes, slow, "line", first.style, first.storage, hover=words, is_dashed=True,
            width=1,
        )  # fmt: skip


def _fit(storage: str, of: Sequence[Entry], series: list[Series]) -> Iterator[str]:
    """Add the fitted curve to the series and say where its knee is; nothing below four sizes."""
    known = [(one.instances, float(one.metric["p50"])) for one in of if one.metric.get("p50")]
    known = [(n, value) for n, value in known if value > 0]
    if len({n for n, _ in known}) < LEAST_SIZES:
        return
    sizes, values = zip(*known, strict=True)
    found = analyse(Measured(sizes, values, of[0].higher_is_better, per_instance=True))
    x = np.geomspace(min(sizes), max(sizes), 40).tolist()
    y = [found.value(found.chosen.curve, n) for n in x]
    name = f"{storage}, fit {found.chosen.curve.model}"
    series.append(Series(name, x, y, "line", of[0].style, f"{storage}, fit", is_hollow=True, is_off=True, width=1))
    yield f"{storage}: {knee(found)['meaning']} ({found.chosen.curve.model})."


# --- sweeps -----------------------------------------------------------------------------------------------------------


def sweeps(view: View) -> Iterator[Chart]:
    """The metric over each numeric parameter that varies within a cell."""
    for (workload, fleet, name), entries in view.by("workload", "fleet", "name").items():
        params = {id(entry): _flat(entry.point.get("params") or {}) for entry in entries}
        for param in dict.fromkeys(key for values in params.values() for key in values):
            curves = _curves(entries, params, param)
            if curves:
                yield _sweep_chart(view, workload, fleet, name, param, curves, entries[0])


def _curves(
    entries: Sequence[Entry], params: dict[int, dict[str, Any]], param: str
) -> dict[tuple[str, str], list[tuple[float, Entry]]]:
    curves: dict[tuple[str, str], list[tuple[float, Entry]]] = {}
    varying = {
        key
        for values in params.values()
        for key in values
        if len({str(other.get(key)) for other in params.values()}) > 1
    }
    for entry in entries:
        values = params[id(entry)]
        x = _as_number(values.get(param))
        if x is not None:
            rest = ", ".join(f"{key.replace('_', ' ')} {values[key]}" for key in values if key in varying - {param})
            curves.setdefault((entry.storage, rest), []).append((x, entry))
    kept = {key: sorted(of, key=lambda one: one[0]) for key, of in curves.items() if len({x for x, _ in of}) > 1}
    return dict(list(kept.items())[:MOST_SERIES])


def _sweep_chart(
    view: View, workload: str, fleet: str, name: str, param: str,
    curves: dict[tuple[str, str], list[tuple[float, Entry]]], first: Entry,
) -> Chart:  # fmt: skip
    rests = list(dict.fromkeys(rest for _, rest in curves))
    x = sorted({value for of in curves.values() for value, _ in of})
    word = param.replace("_", " ")
    return Chart(
        id=f"sweep-{_slug(f'{workload}-{fleet}-{param}')}",
        title=f"{workload} on {fleet}: {name} over {word}",
        reads="Median of each point with its 95 % interval, where there is one.",
        x_title=word,
        y_title=first.title,
        series=[
            Series(
                f"{storage}{f', {rest}' if rest else ''}",
                [value for value, _ in of],
                [entry.metric.get("p50") for _, entry in of],
                "line",
                # Colour and marker tell storages apart, the dash tells the rest.
                of[0][1].style,
                low=[entry.interval()[0] for _, entry in of],
                high=[entry.interval()[1] for _, entry in of],
                hover=[f"{entry.storage}, {entry.label}<br>{_percentile_words(view, entry)}" for _, entry in of],
                is_dashed=rests.index(rest) % 2 == 1,
                is_hollow=rests.index(rest) % 4 > 1,
            )
            for (storage, rest), of in curves.items()
        ],
        heads=("Storage", "Else", word, "P50", "P50, 95 % low", "P50, 95 % high"),
        rows=[
            (storage, rest, value, entry.metric.get("p50"), *entry.interval())
            for (storage, rest), of in curves.items()
            for value, entry in of
        ],
        is_x_log=x[0] > 0 and x[-1] / x[0] >= 8,  # noqa: PLR2004 - doubled thrice
        is_y_log=_is_wide([entry.metric.get("p50") for of in curves.values() for _, entry in of]),
        is_from_zero=True,
        ticks=tuple(x),
        is_x_binary=param.endswith("bytes") or param in BYTE_OPTIONS,
    )


def _flat(params: Any) -> dict[str, Any]:
    options = params.get("options")
    return {key: value for key, value in {**params, **(options or {})}.items() if key != "options"}


def _as_number(value: object) -> float | None:
    """Read a number, also one with a suffix such as fio's `4k`."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value)
    text = str(value).strip().lower()
    factor = {"k": 2**10, "m": 2**20, "g": 2**30}.get(text[-1:], 1)
    digits = text[:-1] if factor > 1 else text
    return float(digits) * factor if digits.isdecimal() else None


# --- latency ----------------------------------------------------------------------------------------------------------


def latencies(view: View) -> Iterator[Chart]:
    """The share of operations that take longer than so long, from merged histograms."""
    names = list(dict.fromkeys(name for entry in view.entries for name in entry.point.get("latency") or {}))
    for name in names:
        for (workload, label), entries in view.by("workload", "label").items():
            found = [(one, one.point["latency"][name]) for one in entries if _bins(one, name)]
            if found:
                yield _latency_chart(name, workload, label, found[:MOST_SERIES])


def _bins(entry: Entry, name: str) -> bool:
    return bool(((entry.point.get("latency") or {}).get(name) or {}).get("bins_ns"))


def _latency_chart(name: str, workload: str, label: str, found: list[tuple[Entry, Any]]) -> Chart:
    sizes = sorted({entry.instances for entry, _ in found})
    series = []
    for entry, latency in found:
        micros, slower = _tail(latency["bins_ns"])
        words = [f"{entry.storage}, {entry.fleet}<br>{100 * y:.3g} % take longer than {x:,.4g} µs"
                 for x, y in zip(micros, slower, strict=True)]  # fmt: skip
        rank = sizes.index(entry.instances)
        line = Series(f"{entry.storage}, {entry.fleet}", micros, slower, "steps", entry.style, hover=words,
                      is_dashed=rank % 2 == 1, width=1.5 + rank // 2)  # fmt: skip
        series.append(line)
    percents = ("p50", "p90", "p99", "p99_9", "p99_99", "p100")
    return Chart(
        id=f"latency-{_slug(f'{workload}-{label}-{name}')}",
        title=f"{LATENCY_NAMES.get(name, name)} of {workload}{f', {label}' if label else ''}: latency",
        reads=(
            "Share of all operations of all instances that take longer. Left and low is better; where a line bends to "
            "the right its slowest operations are much slower than the others. Merged histograms, no averages."
        ),
        x_title="µs",
        y_title="share that takes longer",
        series=series,
        heads=("Storage", "Fleet", "Operations", *(one.upper().replace("_", ".") + " µs" for one in percents)),
        rows=[
            (entry.storage, entry.fleet, latency["operations"], *(latency.get(one) for one in percents))
            for entry, latency in found
        ],
        is_x_log=True,
        is_y_log=True,
        is_y_share=True,
    )


def _tail(bins: dict[str, int]) -> tuple[list[float], list[float]]:
    """Latency in µs and the share of operations above it, at a hundred places of the curve at most."""
    values = sorted((int(value), count) for value, count in bins.items())
    counts = np.array([count for _, count in values], dtype=float)
    total = counts.sum()
    above = (total - np.cumsum(counts)) / total
    x = [values[0][0] / 1000, *(value / 1000 for value, _ in values)]
    y = [1.0, *above.tolist()]
    # The last bin has nothing above it, which a logarithmic axis cannot show: it ends at half an operation.
    y[-1] = 0.5 / float(total)
    logs = np.log(np.maximum(y, 1e-12))
    grid = np.round(logs / (logs.min() or -1.0) * 120)
    keep = [i for i in range(len(x)) if i in (0, len(x) - 1) or grid[i] != grid[i - 1]]
    return [x[i] for i in keep], [float(y[i]) for i in keep]


# --- over time --------------------------------------------------------------------------------------------------------


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
            yield _rates_over_time(workload, fleet, name, first, list(cells.values())[:MOST_SERIES])
        else:
            yield _durations_over_time(workload, fleet, name, first, list(cells.values())[:MOST_SERIES])


def _rates_over_time(workload: str, fleet: str, name: str, first: Entry, cells: list[list[Entry]]) -> Chart:
    series: list[Series] = []
    rows: list[Any] = []
    for of in cells:
        begun = min(min((of_one.samples or {})["started_at"]) for of_one in of)
        x, y, words = _summed(of, name, begun)
        series.append(Series(of[0].storage, x, y, "steps", of[0].style, hover=words, width=1.5))
        whole = {one["repetition"]: one for one in of[0].point.get("fleet") or []}
        rows += [(of[0].storage, one.label, rep, *_fleet_rate(one, rep)) for one in of for rep in whole]
        found = storage_limits(of[0].cell["storage"], of[0].instances).get(first.unit)
        peak = max((value for value in y if value is not None), default=0.0)
        # A limit far above what was reached would only flatten the curve; in the table it stands all the same.
        if found and found[0] <= 4 * peak:
            told = f"{of[0].storage}: {found[1]}, {quantity(found[0], first.unit)}"
            ends = [0, max((float(one) for one in x if one is not None), default=0)]
            series.append(Series(told, ends, [found[0]] * 2, "limit", of[0].style))
    limits = _limit_words(cells, first.unit)
    return Chart(
        id=f"time-{_slug(f'{workload}-{fleet}')}",
        title=f"{workload} on {fleet}: {first.unit} of the whole fleet over time",
        reads=f"The sum over all instances that work at that moment; between points it is zero. {limits}".strip(),
        x_title="seconds since the first start of the cell",
        y_title=first.unit,
        series=series,
        heads=("Storage", "Point", "Repetition", "Seconds from first start to last end", "Start spread (s)"),
        rows=rows,
        is_from_zero=True,
    )


def _limit_words(cells: list[list[Entry]], unit: str) -> str:
    found = {of[0].storage: storage_limits(of[0].cell["storage"], of[0].instances).get(unit) for of in cells}
    told = [f"{storage} {quantity(one[0], unit)} ({one[1]})" for storage, one in found.items() if one]
    return f"The most that the storage gives on AWS, dash-dotted where it is near: {'; '.join(told)}." if told else ""


def _fleet_rate(entry: Entry, repetition: int) -> tuple[Any, Any]:
    for one in entry.point.get("fleet") or []:
        if one["repetition"] == repetition:
            return one.get("span_s"), one.get("start_spread_s")
    return None, None


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
        id=f"time-{_slug(f'{workload}-{fleet}')}",
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


# --- the fleet --------------------------------------------------------------------------------------------------------


def skews(view: View) -> Iterator[Chart]:
    """How far from the common start the instances began."""
    rows = []
    for cell_id, of in _by_cell(view).items():
        found = [value for one in of for value in (one.samples or {}).get("start_skew_s") or [] if value is not None]
        if found and of[0].instances > 1:
            rows.append((_cell_name(of[0]), of[0], 1000 * np.percentile(found, [0, 50, 98, 100]), len(found), cell_id))
    if rows:
        yield Chart(
            id="skew",
            title="Start of each instance after the common start",
            reads="Line: earliest to latest of all steps. Thick: median to P98. A good barrier: a short line near 0.",
            x_title="ms after the common start",
            y_title="",
            series=[one for style in dict.fromkeys(row[1].style for row in rows)
                    for one in _skew_series([row for row in rows if row[1].style == style])],
            heads=("Cell", "Earliest ms", "Median ms", "P98 ms", "Latest ms", "Starts"),
            rows=[(row[4], *row[2].tolist(), row[3]) for row in rows],
            categories=[row[0] for row in rows],
        )  # fmt: skip


def _skew_series(rows: list[Any]) -> Iterator[Series]:
    first = rows[0][1]
    words = [
        f"{name}<br>{v[0]:.1f} to {v[3]:.1f} ms<br>median {v[1]:.1f}, P98 {v[2]:.1f} ms" for name, _, v, _, _ in rows
    ]
    names = [row[0] for row in rows]
    yield Series(first.storage, [float(row[2][1]) for row in rows], names, "dots", first.style, hover=words)
    whole = _segments((float(row[2][0]), float(row[2][3]), row[0]) for row in rows)
    thick = _segments((float(row[2][1]), float(row[2][2]), row[0]) for row in rows)
    yield Series("all", *whole, kind="segments", style=first.style, group=first.storage, width=1.5)
    yield Series("P98", *thick, kind="segments", style=first.style, group=first.storage, width=6)


def spreads(view: View) -> Iterator[Chart]:
    """Each instance against the median of its fleet, over all points: is one host slower than the others?"""
    rows = []
    for cell_id, of in _by_cell(view).items():
        found = _relative(of)
        if len(found) > 1:
            rows.append((_cell_name(of[0]), of[0], found, cell_id))
    if not rows:
        return
    yield Chart(
        id="spread",
        title="Each instance against the median of its fleet",
        reads="A dot is an instance, over all points: 1.1 is 10 % above the median of its fleet in the primary metric.",
        x_title="ratio to the fleet's median",
        y_title="",
        series=[
            Series(
                of.storage,
                [round(value, 4) for row in mine for value in row[2].values()],
                [row[0] for row in mine for _ in row[2]],
                "ticks",
                of.style,
                hover=[f"{row[0]}<br>{instance}<br>{value:.3f}" for row in mine for instance, value in row[2].items()],
            )
            for style in dict.fromkeys(row[1].style for row in rows)
            for mine in [[row for row in rows if row[1].style == style]]
            for of in [mine[0][1]]
        ],
        heads=("Cell", "Instances", "Lowest", "Lowest is", "Highest", "Highest is"),
        rows=[
            (cell, len(found), min(found.values()), min(found, key=lambda one: found[one]), max(found.values()),
             max(found, key=lambda one: found[one]))
            for _, _, found, cell in rows
        ],
        categories=[row[0] for row in rows],
    )  # fmt: skip


def _relative(of: Sequence[Entry]) -> dict[str, float]:
    """The geometric mean over all points of each instance's median, over the fleet's."""
    logs: dict[str, list[float]] = {}
    for entry in of:
        samples = entry.samples or {"instance": [], "metrics": {}}
        values: dict[str, list[float]] = {}
        for instance, value in zip(samples["instance"], samples["metrics"].get(entry.name) or [], strict=False):
            if value is not None and value > 0:
                values.setdefault(str(instance), []).append(float(value))
        medians = {instance: float(np.median(one)) for instance, one in values.items()}
        middle = float(np.median(list(medians.values()))) if medians else 0.0
        for instance, value in medians.items():
            logs.setdefault(instance, []).append(math.log(value / middle))
    return {instance: math.exp(sum(one) / len(one)) for instance, one in logs.items()}


# --- shared -----------------------------------------------------------------------------------------------------------


def _by_cell(view: View) -> dict[str, list[Entry]]:
    cells: dict[str, list[Entry]] = {}
    for entry in view.entries:
        cells.setdefault(entry.cell["id"], []).append(entry)
    return cells


def _cell_name(entry: Entry) -> str:
    return f"{entry.workload}, {entry.storage}, {entry.fleet}"


def _row_name(entry: Entry, has_labels: bool, has_types: bool) -> str:
    words = [
        entry.storage,
        entry.fleet if has_types else _instances(entry.instances),
        *([entry.label] if has_labels and entry.label else []),
    ]
    return " · ".join(words)


def _instances(count: int) -> str:
    return f"{count} instance{'' if count == 1 else 's'}"


def _distinct(names: Sequence[str]) -> list[str]:
    """Two rows of one name would lie on each other."""
    return [name if names.index(name) == i else f"{name} ({i + 1})" for i, name in enumerate(names)]


def _is_wide(values: Iterable[float | None], ratio: float = WIDE) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and min(known) > 0 and max(known) / min(known) > ratio


def _slug(text: str) -> str:
    return "-".join("".join(one if one.isalnum() else " " for one in text.lower()).split())[:80]
