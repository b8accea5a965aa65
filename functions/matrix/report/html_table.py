"""A table as HTML: it scrolls by keyboard, its figures align right, and its exact values are data for copies."""

from collections.abc import Callable, Mapping
from typing import Any

from matrix.report.html import Markup, escaped, tag
from matrix.tables.table import Table, TableCell, TableColumn
from matrix.terms.quantities import ABSENT


def html_table(
    table: Table,
    *,
    class_: str | None = None,
    marks: Callable[[Any], Mapping[str, str]] = lambda _: {},
    is_captioned: bool = True,
) -> Markup:
    """Return a table with its title as caption, unless it stands below a title of its own; notes are the caller's.

    `marks` returns the attributes by which the page's chips choose rows, from what a row is about.
    """
    shown = table.shown(has_details=True)
    exact = [
        any(isinstance(row.cells[place].value, int | float) for row in shown.rows)
        for place in range(len(shown.columns))
    ]
    heads = (_head(column, is_exact) for column, is_exact in zip(shown.columns, exact, strict=True))
    rows = (
        tag(
            "tr",
            *(
                _cell(cell, column, place)
                for place, (cell, column) in enumerate(zip(row.cells, shown.columns, strict=True))
            ),
            **marks(row.about),
        )
        for row in shown.rows
    )
    above = [tag("caption", table.title)] if is_captioned else []
    built = tag("table", *above, tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_=class_)
    return tag("div", built, class_="table", tabindex="0", role="region", aria_label=table.title)


def _head(column: TableColumn, is_exact: bool) -> Markup:
    class_ = "figure" if is_exact or column.kind == "figure" else None
    return tag("th", column.head, scope="col", class_=class_, data_value=column.exact or None)


def _cell(cell: TableCell, column: TableColumn, place: int) -> Markup:
    if isinstance(cell.value, int | float):
        # The page's style aligns cells with an exact value; a page has thousands of them.
        return Markup(f'<td data-value="{cell.value!r}">{escaped(cell.text)}</td>')
    if place == 0:
        return tag("th", cell.text, scope="row")
    return tag("td", cell.text, class_="figure" if column.kind == "figure" or cell.text == ABSENT else None)
