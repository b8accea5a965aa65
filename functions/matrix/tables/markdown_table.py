"""A table as Markdown: a section with the title, the rows and the notes."""

from matrix.tables.table import Table, TableCell, TableColumn
from matrix.terms.markdown_text import code, inline, table_line


def markdown_section(table: Table) -> str:
    """Return a table below its title, with its notes; empty without rows."""
    if not table.rows:
        return ""
    return "\n\n".join([f"## {inline(table.title)}", markdown_table(table), *map(inline, table.sentences)])


def markdown_table(table: Table, most_rows: int | None = None) -> str:
    """Return the rows below their heads, at most `most_rows`; the others are counted."""
    shown = table.shown()
    heads = [inline(column.head) for column in shown.columns]
    rules = ["---:" if column.kind == "figure" else "---" for column in shown.columns]
    rows = [
        [_written(cell, column) for cell, column in zip(row.cells, shown.columns, strict=True)]
        for row in shown.rows[:most_rows]
    ]
    lines = [table_line(line) for line in (heads, rules, *rows)]
    rest = len(shown.rows) - len(rows)
    return "\n".join([*lines, *(["", f"and {rest:,} more"] if rest else [])])


def _written(cell: TableCell, column: TableColumn) -> str:
    if column.kind == "id":
        return code(cell.text)
    return f"**{inline(cell.text)}**" if cell.tone == "bad" else inline(cell.text)
