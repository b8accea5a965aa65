"""Two swept parameters against each other as a heat map: block sizes down, threads across, one for each storage."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from matrix.report.charts.labels import lower
from matrix.report.charts.medians import as_number
from matrix.report.heat_map import level_of
from matrix.report.html import Markup, details, tag
from matrix.report.view import Entry, View
from matrix.terms.names import binary_size, flat
from matrix.terms.quantities import Column

# Names of parameters that are the rows of a grid of two parameters.
SIZES = ("block_bytes", "bs", "blocksize", "request_bytes", "file_bytes", "size")
WORKERS = ("threads", "numjobs", "jobs", "iodepth")
MAX_OPEN = 4
Grid = dict[tuple[float, float], Entry]


def grids(view: View) -> Markup:
    """Return the section; empty if no cell has swept two parameters."""
    drawn = [
        _grid(view, entries, names, grid)
        for entries in view.by("workload", "storage", "fleet").values()
        for names, grid in _crossed(entries)
    ]
    if not drawn:
        return Markup("")
    shown, more = drawn[:MAX_OPEN], drawn[MAX_OPEN:]
    folded = [details(f"{len(more)} more", tag("div", *more, class_="pairs"))] if more else []
    return tag("section", tag("h2", "Block size against threads"),
               tag("p", "Medians; the colour is how far each is from the best of its grid.", class_="quiet"),
               tag("div", *shown, class_="pairs" if len(shown) > 1 else None), *folded, id="grids")  # fmt: skip


def _crossed(entries: Sequence[Entry]) -> Iterator[tuple[tuple[str, str], Grid]]:
    """Yield each pair of numeric parameters with a grid of measured combinations, all else being equal."""
    params = [flat(entry.point.get("params") or {}) for entry in entries]
    names = list(dict.fromkeys(name for values in params for name in values))
    varying = [name for name in names if len({str(values.get(name)) for values in params}) > 1]
    numeric = [name for name in varying if all(as_number(values.get(name)) is not None for values in params)]
    for pair in combinations(numeric, 2):
        if len(varying) > len(pair):
            continue
        down, across = sorted(pair, key=lambda name: (name not in SIZES, name in WORKERS))
        grid = {
            (as_number(values[down]) or 0.0, as_number(values[across]) or 0.0): entry
            for values, entry in zip(params, entries, strict=True)
        }
        if len(grid) == len(entries) and all(len({key[axis] for key in grid}) > 1 for axis in (0, 1)):
            yield (down, across), grid


def _grid(view: View, entries: Sequence[Entry], names: tuple[str, str], grid: Grid) -> Markup:
    first = entries[0]
    rows, columns = (sorted({key[axis] for key in grid}) for axis in (0, 1))
    values = {key: entry.metric.get("p50") for key, entry in grid.items()}
    known = [value for value in values.values() if value]
    best = (max if first.higher_is_better else min)(known, default=None)
    column = Column.of(known, first.unit)
    down, across = (name.replace("_", " ").removesuffix(" bytes") for name in names)
    head = tag("tr", tag("th", f"{down} ↓, {across} →", scope="col"),
               *(tag("th", _text(names[1], x), scope="col", class_="figure") for x in columns))  # fmt: skip
    body = [
        tag("tr", tag("th", _text(names[0], y), scope="row"),
            *(_cell(values.get((y, x)), best, column, first) for x in columns))
        for y in rows
    ]  # fmt: skip
    title = f"{first.workload}, {first.storage}, {first.fleet}: {lower(column.head(first.quantity))}"
    built = tag("table", tag("caption", title), tag("thead", head), tag("tbody", *body), class_="heat grid")
    name = f"{title}, {down} against {across}"
    return tag("div", built, class_="table", tabindex="0", role="region", aria_label=name,
               **view.facets.marks(storage=first.storage, fleet=first.fleet))  # fmt: skip


def _cell(value: float | None, best: float | None, column: Column, entry: Entry) -> Markup:
    if value is None:
        return tag("td", tag("span", "not measured"), class_="absent")
    ratio = 1.0
    if best and value:
        ratio = best / value if entry.higher_is_better else value / best
    class_ = f"level-{level_of(ratio)}{' best' if value == best else ''}"
    return tag("td", tag("span", column.write(value)), class_=class_, data_value=repr(value))


def _text(name: str, value: float) -> str:
    return binary_size(int(value)) if name.endswith("bytes") or name in SIZES else f"{value:,g}"
