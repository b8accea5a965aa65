"""A table of a run as HTML."""

from collections.abc import Callable, Mapping

from matrix.report.html import Figure, Markup, table, tag
from matrix.tables.table import RunTable, TableCell, TableColumn, TableRow


def page_table(
    built: RunTable, *, class_: str = "many", marks: Callable[[TableRow], Mapping[str, str]] | None = None
) -> Markup:
    """Return a table with its title as caption; `marks` yields the attributes by which the page's chips choose rows.

    The notes are the caller's.
    """
    rows = [[_drawn(cell, column) for cell, column in zip(row.cells, built.columns, strict=True)] for row in built.rows]
    heads = [(column.head, column.exact) if column.exact else column.head for column in built.columns]
    chosen = [marks(row) for row in built.rows] if marks else ()
    return table(heads, rows, caption=built.title, class_=class_, marks=chosen)


def _drawn(cell: TableCell, column: TableColumn) -> Figure | Markup | str:
    # A column of exact numbers is a column of figures, even if none of them is known.
    if column.exact or cell.value is not None:
        return Figure(cell.text, cell.value)
    return tag("strong", cell.text) if column.is_strong else cell.text
