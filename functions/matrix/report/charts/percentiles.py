"""How fast, and how evenly: each cell's spread as a bar."""

from collections.abc import Iterator, Sequence

from matrix.report.charts.chart import Chart, Series
from matrix.report.charts.labels import percentile_words, slug
from matrix.report.charts.marks import is_wide, segments
from matrix.report.view import Entry, View

# More rows than this are split into a chart per point.
MOST_ROWS = 36


def bands(view: View) -> Iterator[Chart]:
    """Each cell's spread as a bar, one chart per workload; of large matrices one per point."""
    for (workload, _), entries in view.by("workload", "name").items():
        if len(entries) <= MOST_ROWS:
            yield _band(view, workload, entries)
            continue
        labels: dict[str, list[Entry]] = {}
        for entry in entries:
            labels.setdefault(entry.label, []).append(entry)
        for label, of_label in labels.items():
            for index in range(0, len(of_label), MOST_ROWS):
                yield _band(view, f"{workload}, {label}", of_label[index : index + MOST_ROWS])


def _band(view: View, title: str, entries: Sequence[Entry]) -> Chart:
    has_labels = len({entry.label for entry in entries}) > 1
    has_types = len({entry.cell["fleet"].get("instanceType") for entry in entries}) > 1
    rows = _distinct([_row_name(entry, has_labels, has_types) for entry in entries])
    series: list[Series] = []
    for style in dict.fromkeys(entry.style for entry in entries):
        series += _band_series(
            view, [(row, entry) for row, entry in zip(rows, entries, strict=True) if entry.style == style]
        )
    first = entries[0]
    direction = "right is better" if first.higher_is_better else "left is better"
    values = [entry.metric.get(name) for entry in entries for name in ("p0", "p100")]
    return Chart(
        id=f"bands-{slug(title)}",
        title=f"{title}: {first.name}" + ("" if has_types else f" on {first.type}"),
        reads=(
            f"Thin line: slowest to fastest sample. Thick line: from the median to the slow end, which 90 % of the "
            f"samples reach. Mark: median, with its 95 % interval where there is one. {direction.capitalize()}."
        ),
        x_title=first.title,
        y_title="",
        series=series,
        categories=rows,
        is_x_log=is_wide(values),
        is_from_zero=True,
        limit=view.limit(first),
        is_in_seconds=first.unit == "s",
    )


def _band_series(view: View, rows: Sequence[tuple[str, Entry]]) -> Iterator[Series]:
    storage, style = rows[0][1].storage, rows[0][1].style
    whole = [(entry.metric.get("p0"), entry.metric.get("p100"), row) for row, entry in rows]
    slow = [(entry.metric.get("p50"), view.slow_end(entry).get("value"), row) for row, entry in rows]
    hover = [percentile_words(view, entry) for _, entry in rows]
    yield Series(
        storage,
        [entry.metric.get("p50") for _, entry in rows],
        [row for row, _ in rows],
        "dots",
        style,
        low=[entry.interval()[0] for _, entry in rows],
        high=[entry.interval()[1] for _, entry in rows],
        hover=hover,
    )
    yield Series(f"{storage}, all", *segments(whole), kind="segments", style=style, group=storage, width=1.5)
    yield Series(f"{storage}, slow end", *segments(slow), kind="segments", style=style, group=storage, width=6)


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
    """Number rows of the same name, which would be drawn over each other."""
    return [name if names.index(name) == i else f"{name} ({i + 1})" for i, name in enumerate(names)]
