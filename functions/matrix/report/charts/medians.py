"""Medians over what varies: the size of the fleet, or a parameter such as threads or block sizes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from matrix.report.charts.chart import MAX_SERIES, Chart, Series, is_wide, parts_of
from matrix.report.charts.labels import describe_interval, describe_percentile, lower, point_title, slug
from matrix.report.view import Entry, View
from matrix.terms.grouping import grouped
from matrix.terms.names import flat
from matrix.terms.quantities import quantity

# Options of fio that are sizes.
BYTE_OPTIONS = {"bs", "blocksize", "size", "filesize"}
# The points of a line by its storage and the other parameters that vary.
Curves = Mapping[tuple[str, str], Sequence[tuple[float, Entry]]]


def scaling(view: View) -> Iterator[Chart]:
    """Yield a chart for each point that was measured with fleets of several sizes."""
    for (workload, label, _), entries in view.by("workload", "label", "name").items():
        curves = _curves((entry.storage, "", float(entry.instances), entry) for entry in entries if not entry.left_out)
        if not curves:
            continue
        drawn = [entry for curve in curves.values() for _, entry in curve]
        storages = {storage for storage, _ in curves}
        left_out = [entry for entry in entries if entry.left_out and entry.storage in storages]
        work, tail = point_title(workload, label), view.tail_name(drawn)
        chart = _chart(
            view, curves, f"scaling-{slug(f'{workload}-{label}')}",
            f"{work}: {lower(drawn[0].quantity)} of each instance over the size of a fleet",
            "instances that work at the same time",
        )  # fmt: skip
        yield replace(
            chart,
            reads=chart.reads
            + (f" Dashed: {tail}, where there are enough samples." if tail else "")
            + (" A hollow mark without a line: known to be wrong, left out." if left_out else ""),
            notes=[f"left out: {each.storage} at {each.instances} instances: {each.left_out}." for each in left_out],
            series=[
                *chart.series,
                *(line for curve in curves.values() for line in _tails(view, [entry for _, entry in curve])),
                *(_left_out(view, entry) for entry in left_out),
            ],
            of=view.facets.marks(workload=workload, label=label),
        )


def sweeps(view: View) -> Iterator[Chart]:
    """Yield a chart for each numeric parameter that varies within a cell."""
    for (workload, fleet, _), entries in view.by("workload", "fleet", "name").items():
        params = [flat(entry.point.get("params") or {}) for entry in entries]
        names = dict.fromkeys(key for values in params for key in values)
        varying = {key for key in names if len({str(values.get(key)) for values in params}) > 1}
        for param in names:
            others = [key for key in names if key in varying - {param}]
            placed = (
                (entry.storage, ", ".join(f"{key.replace('_', ' ')} {values[key]}" for key in others if key in values),
                 x, entry)
                for entry, values in zip(entries, params, strict=True)
                if (x := as_number(values.get(param))) is not None
            )  # fmt: skip
            word = param.replace("_", " ")
            title = f"{workload} on {fleet}: {lower(entries[0].quantity)} over {word}"
            for part, which in parts_of(list(_curves(placed).items()), MAX_SERIES):
                chart = _chart(view, dict(part), f"sweep-{slug(f'{workload}-{fleet}-{param}')}", title + which, word)
                places = chart.ticks
                yield replace(
                    chart,
                    is_x_log=places[0] > 0 and places[-1] / places[0] >= 8,  # noqa: PLR2004 - doubled thrice
                    limit=chart.limit or _latency_limit(dict(part)),
                    is_x_binary=param.endswith("bytes") or param in BYTE_OPTIONS,
                    of=view.facets.marks(workload=workload, fleet=fleet),
                )


def _curves(placed: Iterable[tuple[str, str, float, Entry]]) -> Curves:
    """Return the lines that have points at several places, by rising place."""
    curves = grouped(((storage, rest), (x, entry)) for storage, rest, x, entry in placed)
    return {
        key: sorted(curve, key=lambda pair: pair[0]) for key, curve in curves.items() if len({x for x, _ in curve}) > 1
    }


def _chart(view: View, curves: Curves, id_: str, title: str, x_title: str) -> Chart:
    rests = list(dict.fromkeys(rest for _, rest in curves))
    drawn = [entry for curve in curves.values() for _, entry in curve]
    first = drawn[0]
    return Chart(
        id=id_,
        title=title,
        reads=f"Mark: median{describe_interval(drawn)}.",
        x_title=x_title,
        y_title=first.title,
        series=[
            Series(
                f"{storage}{f', {rest}' if rest else ''}",
                [x for x, _ in curve],
                [entry.metric.get("p50") for _, entry in curve],
                "line",
                # Colour and marker distinguish storages, the dash distinguishes the rest.
                curve[0][1].style,
                low=[entry.interval()[0] for _, entry in curve],
                high=[entry.interval()[1] for _, entry in curve],
                hover=[_words(view, entry) for _, entry in curve],
                is_dashed=rests.index(rest) % 2 == 1,
                is_hollow=rests.index(rest) % 4 > 1,
                of=view.facets.marks(storage=storage),
            )
            for (storage, rest), curve in curves.items()
        ],
        is_y_log=is_wide([entry.metric.get("p50") for entry in drawn]),
        is_from_zero=True,
        limit=view.limit(first),
        is_in_seconds=first.unit == "s",
        ticks=tuple(sorted({x for curve in curves.values() for x, _ in curve})),
        metric=f"{first.name} ({first.unit})",
    )


def _words(view: View, entry: Entry) -> str:
    return "<br>".join(filter(None, (entry.fleet, entry.label, describe_percentile(view, entry))))


def _tails(view: View, entries: Sequence[Entry]) -> Iterator[Series]:
    first, tails = entries[0], [view.tail(entry) for entry in entries]
    if any(value is not None for value in tails):
        words = [f"{entry.fleet}<br>{quantity(v, entry.unit)}" for entry, v in zip(entries, tails, strict=True)]
        yield Series(
            f"{first.storage}, {view.tail_name(entries)}", [entry.instances for entry in entries], tails, "line",
            first.style, first.storage, hover=words, is_dashed=True, width=1,
            of=view.facets.marks(storage=first.storage),
        )  # fmt: skip


def _left_out(view: View, entry: Entry) -> Series:
    return Series(f"{entry.storage}, left out", [entry.instances], [entry.metric.get("p50")], "dots", entry.style,
                  group=entry.storage, hover=[_words(view, entry)], is_hollow=True, of=view.marks(entry))  # fmt: skip


def _latency_limit(curves: Curves) -> tuple[float, str] | None:
    """Return the workload's limit of latency (open loops), if all curves have the same one."""
    limits = {entry.cell["workload"].get("p99AtMostMs") for curve in curves.values() for _, entry in curve}
    limit_ms = limits.pop() if len(limits) == 1 else None
    return None if limit_ms is None else (1000.0 * limit_ms, f"P99 at most {limit_ms:g} ms")


def as_number(value: object) -> float | None:
    """Read a number, also one with a suffix such as fio's `4k`."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value)
    text = str(value).strip().lower()
    factor = {"k": 2**10, "m": 2**20, "g": 2**30}.get(text[-1:], 1)
    digits = text[:-1] if factor > 1 else text
    return float(digits) * factor if digits.isdecimal() else None
