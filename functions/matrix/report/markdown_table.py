"""A table of a run as Markdown."""

from matrix.tables.table import RunTable, TableColumn
from matrix.terms.markdown_text import inline, table_line


def markdown_table(table: RunTable) -> list[str]:
    """Return the lines of a table; its title and its notes are the caller's."""
    heads = [column.head for column in table.columns]
    rules = ["---:" if column.is_figure else "---" for column in table.columns]
    rows = [
        [_written(cell.text, column) for cell, column in zip(row.cells, table.columns, strict=True)]
        for row in table.rows
    ]
    return [table_line(line) for line in (heads, rules, *rows)]


def _written(text: str, column: TableColumn) -> str:
    return f"`{text}`" if column.is_code else inline(text)
