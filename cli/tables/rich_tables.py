"""A table in the terminal: without borders; where it is too wide its cells fold, so that nothing is cut."""

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from cli.messages import terminal
from matrix.tables.table import Table, TableCell, TableRow
from matrix.terms.quantities import ABSENT

STYLES = {"good": "green", "bad": "red", "unsure": "yellow", "quiet": "dim"}
# rich takes 1 ms of processor time for a row of nine columns.
MAX_ROWS = 500
LONGEST_TEXT = 240


def show(console: Console, table: Table) -> None:
    """Print the title, the rows and the notes of a table; nothing without rows."""
    shown = table.shown()
    if not shown.rows:
        return
    if shown.title:
        terminal.print_wrapped(console, Text(shown.title, "bold"))
    rows = shown.rows[:MAX_ROWS]
    # Sentences need the whole width.
    if shown.grouped_by and all(column.kind == "text" for column in shown.columns[shown.grouped_by :]):
        _print_list(console, shown, rows)
    else:
        console.print(_grid(shown, rows))
    rest = len(shown.rows) - len(rows)
    for note in [*([f"and {rest:,} more: add --json"] if rest else []), *shown.sentences]:
        terminal.print_wrapped(console, note)


def _grid(table: Table, rows: Sequence[TableRow]) -> RichTable:
    """Draw a table with a line for each row, and one above each group of rows, if these have a text of their own."""
    by = table.grouped_by
    has_lines = by > 0 and table.columns[by].kind == "text"
    lead = by + 1 if has_lines else by or 1
    built = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    head = ", ".join(column.head for column in table.columns[:lead])
    built.add_column(head, no_wrap=table.columns[0].kind == "id", overflow="fold")
    for column in table.columns[lead:]:
        built.add_column(
            column.head,
            justify="right" if column.kind == "figure" else "left",
            no_wrap=column.kind == "id",
            overflow="fold",
        )
    for name, group in groupby(rows, lambda row: _joined(row.cells[: by if has_lines else lead])):
        if has_lines:
            built.add_row(Text(name, "cyan"))
        for row in group:
            start = Text(f"  {row.cells[by].text}" if has_lines else name, _style(row.cells[0]))
            built.add_row(start, *(Text(cell.text, _style(cell)) for cell in row.cells[lead:]))
    return built


def _print_list(console: Console, table: Table, rows: Sequence[TableRow]) -> None:
    """Print the name of each row, and below it each of its other texts with its head; a single one beside it."""
    by = table.grouped_by
    for row in rows:
        name = Text(f"  {_joined(row.cells[:by])}", "cyan")
        texts = [
            (column.head, Text(shortened(cell.text), _style(cell)))
            for column, cell in zip(table.columns[by:], row.cells[by:], strict=True)
            if cell.text not in ("", ABSENT)
        ]
        if len(table.columns) == by + 1:
            terminal.print_wrapped(console, Text(": ").join([name, *(text for _, text in texts)]))
            continue
        terminal.print_wrapped(console, name)
        for head, text in texts:
            terminal.print_wrapped(console, Text.assemble(f"    {head}: ", text))


def _joined(cells: Sequence[TableCell]) -> str:
    return ", ".join(cell.text for cell in cells if cell.text not in ("", ABSENT))


def _style(cell: TableCell) -> str:
    return STYLES.get(cell.tone, "")


def shortened(text: str) -> str:
    """Cut a text to a readable length: keep the start, with the failed action, and the end, with the error text."""
    if len(text) <= LONGEST_TEXT:
        return text
    begin, end = text[: LONGEST_TEXT // 2], text[-LONGEST_TEXT // 2 :]
    return f"{begin.rpartition(' ')[0] or begin} … {end.partition(' ')[2] or end} (whole in summary.json)"
