"""Latency over the due rate of an open loop: it shows the rate from which a storage's latency rises."""

from collections.abc import Iterator, Sequence
from typing import Any

from matrix.report.charts.chart import MOST_SERIES, Chart, Series, parts_of
from matrix.report.charts.labels import lower, percentile_words, slug
from matrix.report.charts.marks import is_wide
from matrix.report.view import Entry, View
from matrix.terms.documents.parts import Point
from matrix.terms.figures import number
from matrix.terms.names import marks, point_labels
from matrix.terms.open_loop import RATE, done_per_s, has_kept_up, offered_per_s

# Of fio's rate.
RATE_OPTIONS = frozenset({RATE, "rate_iops"})
HEADS = ("Storage", "Fleet", "Else", "Due/s", "Done/s", "P99 µs at the median", "Of all operations: P50 µs",
         "P99 µs", "P99.9 µs", "P100 µs", "Marks")  # fmt: skip


def rates(view: View) -> Iterator[Chart]:
    """Yield a chart for each workload and metric that was measured at several rates."""
    for (workload, name), entries in view.by("workload", "name").items():
        for part, which in parts_of(list(_curves(entries).items()), MOST_SERIES):
            yield _chart(view, workload, name, dict(part), which)


def _curves(entries: Sequence[Entry]) -> dict[tuple[str, str, str], list[tuple[float, Entry]]]:
    """Points at rising rates, by storage, fleet and their other parameters."""
    paced = [(rate, entry) for entry in entries if (rate := offered_per_s(entry.point.get("params") or {})) is not None]
    rests: list[Point] = [
        {"id": str(index), "params": _rest(entry.point["params"])} for index, (_, entry) in enumerate(paced)
    ]
    labels = point_labels(rests)
    curves: dict[tuple[str, str, str], list[tuple[float, Entry]]] = {}
    for index, (rate, entry) in enumerate(paced):
        curves.setdefault((entry.storage, entry.fleet, labels[str(index)]), []).append((rate, entry))
    return {key: sorted(curve, key=lambda pair: pair[0]) for key, curve in curves.items() if len(curve) > 1}


def _rest(params: dict[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in (params.get("options") or {}).items() if name not in RATE_OPTIONS}
    return {name: value for name, value in params.items() if name not in RATE_OPTIONS} | {"options": options}


def _chart(
    view: View, workload: str, name: str, curves: dict[tuple[str, str, str], list[tuple[float, Entry]]], which: str
) -> Chart:
    fleets = list(dict.fromkeys(fleet for _, fleet, _ in curves))
    has_rests = len({rest for _, _, rest in curves}) > 1
    entries = [entry for curve in curves.values() for _, entry in curve]
    x = sorted({rate for curve in curves.values() for rate, _ in curve})
    series = []
    for (storage, fleet, rest), curve in curves.items():
        title = f"{storage}, {fleet}{f', {rest}' if has_rests and rest else ''}"
        series.append(
            Series(
                title,
                [rate for rate, _ in curve],
                [entry.metric.get("p50") for _, entry in curve],
                "line",
                curve[0][1].style,
                low=[entry.interval()[0] for _, entry in curve],
                high=[entry.interval()[1] for _, entry in curve],
                hover=[f"{number(rate)}/s due<br>{percentile_words(view, entry)}" for rate, entry in curve],
                is_dashed=fleets.index(fleet) % 2 == 1,
                of=view.facets.marks(storage=storage, fleet=fleet),
            )
        )
        behind = [(rate, entry) for rate, entry in curve if not _has_kept_up(rate, entry)]
        if behind:
            series.append(
                Series(
                    f"{title}, behind its rate",
                    [rate for rate, _ in behind],
                    [entry.metric.get("p50") for _, entry in behind],
                    "dots",
                    curve[0][1].style,
                    group=title,
                    is_hollow=True,
                    of=view.facets.marks(storage=storage, fleet=fleet),
                )
            )
    return Chart(
        id=f"rates-{slug(f'{workload}-{name}')}",
        title=f"{workload}: {lower(entries[0].quantity)} over the rate at which operations are due{which}",
        reads=(
            "Median of the instances' P99 at each rate, with its 95 % interval where there is one. Latency counts from "
            "the moment at which an operation was due, so a stall is in all that had to wait for it. Where a line "
            "bends upwards the storage is near its end. Hollow: less than 95 % of what was due was done, so operations "
            "piled up and the figure grows with the length of the step."
        ),
        x_title="operations due per second on one instance",
        y_title=entries[0].title,
        series=series,
        heads=HEADS,
        rows=[_row(key, rate, entry) for key, curve in curves.items() for rate, entry in curve],
        is_x_log=x[-1] / x[0] >= 8,  # noqa: PLR2004 - doubled thrice
        is_y_log=is_wide([entry.metric.get("p50") for entry in entries]),
        is_from_zero=True,
        ticks=tuple(x),
        limit=view.limit(entries[0]) or _limit(entries),
        metric=f"{name} ({entries[0].unit})",
        of=view.facets.marks(workload=workload),
    )


def _has_kept_up(rate: float, entry: Entry) -> bool:
    return has_kept_up(done_per_s(entry.point["metrics"]), rate)


def _limit(entries: Sequence[Entry]) -> tuple[float, str] | None:
    """Return the limit of the workloads, if they have the same one."""
    limits = {(entry.cell.get("workload") or {}).get("p99AtMostMs") for entry in entries}
    limit_ms = limits.pop() if len(limits) == 1 else None
    return None if limit_ms is None else (1000.0 * limit_ms, f"P99 at most {limit_ms:g} ms")


def _row(key: tuple[str, str, str], rate: float, entry: Entry) -> tuple[object, ...]:
    latency = entry.point.get("latency", {}).get(entry.name.removesuffix("_p99_us"))
    of_operations = (latency["p50"], latency["p99"], latency["p99_9"], latency["p100"]) if latency else (None,) * 4
    done, marked = done_per_s(entry.point["metrics"]), "; ".join(marks(entry.point, entry.cell))
    return (*key, rate, done, entry.metric.get("p50"), *of_operations, marked)
