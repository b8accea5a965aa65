"""Phases of one piece of work side by side, from create to delete: the strengths of each storage."""

from collections.abc import Iterator, Mapping, Sequence

from matrix.report.charts.chart import MOST_SERIES, Chart, Series, parts_of
from matrix.report.charts.labels import interval_words, lower, median_heads, percentile_words, slug
from matrix.report.charts.marks import is_wide
from matrix.report.view import Entry, View
from matrix.terms.documents.result import PointResult
from matrix.terms.names import point_labels


def phases(view: View) -> Iterator[Chart]:
    """Yield one chart for each fleet and combination of parameters with measured phases."""
    for (workload, fleet), entries in view.by("workload", "fleet").items():
        combinations: dict[str, list[Entry]] = {}
        for entry in entries:
            if "phase" in (entry.point.get("params") or {}):
                combinations.setdefault(_rest(entry), []).append(entry)
        for rest, of_rest in combinations.items():
            by_storage: dict[str, list[Entry]] = {}
            for entry in of_rest:
                by_storage.setdefault(entry.storage, []).append(entry)
            for part, which in parts_of(list(by_storage.items()), MOST_SERIES):
                yield _chart(view, f"{workload} on {fleet}{f', {rest}' if rest else ''}", dict(part), which)


def _rest(entry: Entry) -> str:
    """A point's label without its phase."""
    points: list[PointResult] = [
        {**point, "params": {name: value for name, value in (point.get("params") or {}).items() if name != "phase"}}
        for point in entry.cell["points"]
    ]
    return point_labels(points)[entry.point["id"]]


def _chart(view: View, title: str, by_storage: Mapping[str, Sequence[Entry]], which: str) -> Chart:
    entries = [entry for of_storage in by_storage.values() for entry in of_storage]
    names = list(dict.fromkeys(str(entry.point["params"]["phase"]) for entry in entries))
    first = entries[0]
    return Chart(
        id=f"phases-{slug(title)}",
        title=f"{title}: {lower(first.quantity)} of each phase{which}",
        reads=f"Mark: median of each phase{interval_words(entries)}. Right is better.",
        x_title=first.title,
        y_title="",
        series=[
            Series(
                storage,
                [entry.metric.get("p50") for entry in of_storage],
                [str(entry.point["params"]["phase"]) for entry in of_storage],
                "dots",
                of_storage[0].style,
                low=[entry.interval()[0] for entry in of_storage],
                high=[entry.interval()[1] for entry in of_storage],
                hover=[f"{storage}, {entry.label}<br>{percentile_words(view, entry)}" for entry in of_storage],
                of=view.facets.marks(storage=storage),
            )
            for storage, of_storage in by_storage.items()
        ],
        heads=("Storage", "Phase", *median_heads(first)),
        rows=[
            (storage, entry.point["params"]["phase"], entry.metric.get("p50"), *entry.interval())
            for storage, of_storage in by_storage.items()
            for entry in of_storage
        ],
        categories=names,
        is_x_log=is_wide([entry.metric.get("p50") for entry in entries]),
        is_from_zero=True,
        metric=f"{first.name} ({first.unit})",
        of=view.facets.marks(workload=first.workload, fleet=first.fleet),
    )
