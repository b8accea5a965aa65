"""Speed and its variation: each cell's spread as a bar."""

from collections.abc import Iterator, Sequence

from matrix.report.charts.chart import MAX_ROWS, Chart, Series, is_wide, parts_of, segments
from matrix.report.charts.labels import describe_interval, describe_percentile, lower, slug
from matrix.report.view import Entry, View
from matrix.terms.grouping import grouped
from matrix.terms.quantities import Column, count_of


def bands(view: View) -> Iterator[Chart]:
    """Each cell's spread as a bar, one chart per workload; of large matrices some per point."""
    for (workload, _), entries in view.by("workload", "name").items():
        if len(entries) <= MAX_ROWS:
            yield _band(view, workload, _ranked(entries))
            continue
        labels = grouped((entry.label, entry) for entry in entries)
        for label, of_label in labels.items():
            for part, which in parts_of(_ranked(of_label), MAX_ROWS):
                yield _band(view, f"{workload}, {label}", part, which)


def _ranked(entries: Sequence[Entry]) -> list[Entry]:
    """Put the best first among entries of the same work."""
    sign = -1 if entries[0].higher_is_better else 1
    return sorted(entries, key=lambda entry: (entry.label, entry.instances, sign * (entry.metric.get("p50") or 0.0)))


def _band(view: View, title: str, entries: Sequence[Entry], which: str = "") -> Chart:
    has_labels = len({entry.label for entry in entries}) > 1
    has_types = len({entry.cell["fleet"].get("instanceType") for entry in entries}) > 1
    rows = _distinct([_row_name(entry, has_labels, has_types) for entry in entries])
    series: list[Series] = []
    for style in sorted({entry.style for entry in entries}):
        series += _band_series(
            view, [(row, entry) for row, entry in zip(rows, entries, strict=True) if entry.style == style]
        )
    first = entries[0]
    column = Column.of([entry.metric.get("p50") for entry in entries], first.unit)
    direction = "right is better" if first.higher_is_better else "left is better"
    values = [value for entry in entries for value in (entry.metric["p0"], entry.metric["p100"])]
    tail = view.tail_name(entries)
    where = ", where there are enough samples" if any(view.tail(entry) is None for entry in entries) else ""
    return Chart(
        id=f"bands-{slug(title)}",
        title=f"{title}: {lower(first.quantity)}" + ("" if has_types else f" on {first.instance_type}") + which,
        reads=(
            "Thin line: slowest to fastest sample. "
            + (f"Thick line: from the median (P50) to {tail}{where}. " if tail else "")
            + f"Mark: median{describe_interval(entries)}. {direction.capitalize()}."
            + (" Hollow: known to be wrong, left out of every comparison." if any(e.left_out for e in entries) else "")
        ),
        x_title=first.title,
        y_title="",
        series=series,
        categories=rows,
        is_x_log=is_wide(values),
        is_from_zero=True,
        limit=view.limit(first),
        is_in_seconds=first.unit == "s",
        metric=f"{first.name} ({first.unit})",
        of=view.facets.marks(workload=first.workload),
        rows_of=[view.marks(entry) for entry in entries],
        figures=[column.write(entry.metric.get("p50")) for entry in entries],
        figures_head=column.head("P50"),
        groups=[(entry.label, entry.instances) for entry in entries],
    )


def _band_series(view: View, rows: Sequence[tuple[str, Entry]]) -> Iterator[Series]:
    """Yield the marks of one storage; marks of figures that are known to be wrong are hollow."""
    for is_left_out in (False, True):
        mine = [(row, entry) for row, entry in rows if bool(entry.left_out) is is_left_out]
        if mine:
            yield from _of_storage(view, mine, is_left_out=is_left_out)


def _of_storage(view: View, rows: Sequence[tuple[str, Entry]], *, is_left_out: bool) -> Iterator[Series]:
    first = rows[0][1]
    storage, style = f"{first.storage}{', left out' if is_left_out else ''}", first.style
    of = view.facets.marks(storage=first.storage)
    whole = [(entry.metric.get("p0"), entry.metric.get("p100"), row) for row, entry in rows]
    slow = [(entry.metric.get("p50"), view.tail(entry), row) for row, entry in rows]
    hover = [describe_percentile(view, entry) for _, entry in rows]
    yield Series(
        storage,
        [entry.metric.get("p50") for _, entry in rows],
        [row for row, _ in rows],
        "dots",
        style,
        low=[entry.interval()[0] for _, entry in rows],
        high=[entry.interval()[1] for _, entry in rows],
        hover=hover,
        is_hollow=is_left_out,
        of=of,
    )
    yield Series(f"{storage}, all", *segments(whole), kind="segments", style=style, group=storage, width=1.5, of=of)
    yield Series(f"{storage}, slow end", *segments(slow), kind="segments", style=style, group=storage, width=6, of=of)


def _row_name(entry: Entry, has_labels: bool, has_types: bool) -> str:
    words = [
        entry.storage,
        entry.fleet if has_types else count_of(entry.instances, "instance"),
        *([entry.label] if has_labels and entry.label else []),
        *(["left out"] if entry.left_out else []),
    ]
    return " · ".join(words)


def _distinct(names: Sequence[str]) -> list[str]:
    """Number rows of the same name, which would be drawn over each other."""
    return [name if names.index(name) == i else f"{name} ({i + 1})" for i, name in enumerate(names)]
