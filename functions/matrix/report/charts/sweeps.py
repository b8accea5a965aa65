"""The metric over each parameter that varies within a cell: threads, block sizes and the like."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matrix.report.charts.chart import MAX_SERIES, Chart, Series, is_wide, parts_of
from matrix.report.charts.labels import describe_interval, describe_percentile, lower, median_heads, slug
from matrix.report.view import Entry, View
from matrix.terms.names import flat

# Options of fio that are sizes.
BYTE_OPTIONS = {"bs", "blocksize", "size", "filesize"}


def sweeps(view: View) -> Iterator[Chart]:
    """The metric over each numeric parameter that varies within a cell."""
    for (workload, fleet, _), entries in view.by("workload", "fleet", "name").items():
        params = [flat(entry.point.get("params") or {}) for entry in entries]
        for param in dict.fromkeys(key for values in params for key in values):
            curves = _curves(entries, params, param)
            for part, which in parts_of(list(curves.items()), MAX_SERIES):
                yield _sweep_chart(view, workload, fleet, param, dict(part), entries[0], which)


def _curves(
    entries: Sequence[Entry], params: Sequence[dict[str, Any]], param: str
) -> dict[tuple[str, str], list[tuple[float, Entry]]]:
    curves: dict[tuple[str, str], list[tuple[float, Entry]]] = {}
    names = dict.fromkeys(key for values in params for key in values)
    varying = {key for key in names if len({str(values.get(key)) for values in params}) > 1}
    for entry, values in zip(entries, params, strict=True):
        x = as_number(values.get(param))
        if x is not None:
            rest = ", ".join(f"{key.replace('_', ' ')} {values[key]}" for key in values if key in varying - {param})
            curves.setdefault((entry.storage, rest), []).append((x, entry))
    return {
        key: sorted(curve, key=lambda pair: pair[0]) for key, curve in curves.items() if len({x for x, _ in curve}) > 1
    }


def _sweep_chart(
    view: View, workload: str, fleet: str, param: str,
    curves: dict[tuple[str, str], list[tuple[float, Entry]]], first: Entry, which: str,
) -> Chart:  # fmt: skip
    rests = list(dict.fromkeys(rest for _, rest in curves))
    x = sorted({value for curve in curves.values() for value, _ in curve})
    word = param.replace("_", " ")
    shown = [each for curve in curves.values() for _, each in curve]
    return Chart(
        id=f"sweep-{slug(f'{workload}-{fleet}-{param}')}",
        title=f"{workload} on {fleet}: {lower(first.quantity)} over {word}{which}",
        reads=f"Mark: median of each point{describe_interval(shown)}.",
        x_title=word,
        y_title=first.title,
        series=[
            Series(
                f"{storage}{f', {rest}' if rest else ''}",
                [value for value, _ in curve],
                [entry.metric.get("p50") for _, entry in curve],
                "line",
                # Colour and marker distinguish storages, the dash distinguishes the rest.
                curve[0][1].style,
                low=[entry.interval()[0] for _, entry in curve],
                high=[entry.interval()[1] for _, entry in curve],
                hover=[f"{entry.label}<br>{describe_percentile(view, entry)}" for _, entry in curve],
                is_dashed=rests.index(rest) % 2 == 1,
                is_hollow=rests.index(rest) % 4 > 1,
                of=view.facets.marks(storage=storage),
            )
            for (storage, rest), curve in curves.items()
        ],
        heads=("Storage", "Else", word, *median_heads(first)),
        rows=[
            (storage, rest, value, entry.metric.get("p50"), *entry.interval())
            for (storage, rest), curve in curves.items()
            for value, entry in curve
        ],
        is_x_log=x[0] > 0 and x[-1] / x[0] >= 8,  # noqa: PLR2004 - doubled thrice
        is_y_log=is_wide([entry.metric.get("p50") for curve in curves.values() for _, entry in curve]),
        is_from_zero=True,
        ticks=tuple(x),
        limit=view.limit(first) or _latency_limit(curves),
        is_x_binary=param.endswith("bytes") or param in BYTE_OPTIONS,
        metric=f"{first.name} ({first.unit})",
        of=view.facets.marks(workload=workload, fleet=fleet),
    )


def _latency_limit(curves: Mapping[tuple[str, str], Sequence[tuple[float, Entry]]]) -> tuple[float, str] | None:
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
