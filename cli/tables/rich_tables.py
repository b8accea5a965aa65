"""A table in the terminal: without borders; where it is too wide its cells fold, so that nothing is cut."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table as RichTable
from rich.text import Text

from cli.messages import terminal
from matrix.tables.table import Table, TableCell, TableColumn, TableNote, TableRow
from matrix.terms.quantities import ABSENT

STYLES = {"good": "green", "bad": "red", "unsure": "yellow", "quiet": "dim"}
# rich takes 1 ms of processor time for a row of nine columns.
MAX_ROWS = 500
LONGEST_TEXT = 240
# Longer texts are not repeated from row to row.
LONG_TEXT = 60
# Longer words may break, where a table is too wide.
LONG_WORD = 12


def show(console: Console, table: Table) -> None:
    """Print the title, the rows and the notes of a table; nothing without rows."""
    shown = table.shown()
    if not shown.rows:
        return
    if shown.title:
        terminal.print_wrapped(console, Text(shown.title, "bold"))
    rest = len(shown.rows) - MAX_ROWS
    shown = replace(shown, rows=shown.rows[:MAX_ROWS])
    # Sentences need the whole width.
    if shown.grouped_by and all(column.kind == "text" for column in shown.columns[shown.grouped_by :]):
        _print_list(console, shown)
    else:
        shown = _with_notes(shown)
        _print_grid(console, shown)
    for note in [*([f"and {rest:,} more: add --json"] if rest > 0 else []), *shown.sentences]:
        terminal.print_wrapped(console, note)


def _with_notes(table: Table) -> Table:
    """Put long texts that stand in several rows below the table, once, with a number in their place."""
    notes = list(table.notes)
    rows = [list(row.cells) for row in table.rows]
    for place, column in enumerate(table.columns):
        long = [row[place].text for row in rows if len(row[place].text) > LONG_TEXT]
        numbers = {text: str(number) for number, text in enumerate(dict.fromkeys(long), start=1)}
        if len(numbers) < len(long):
            for row in rows:
                row[place] = replace(row[place], text=numbers.get(row[place].text, row[place].text))
            notes += [TableNote(f"{column.head} {number}: {text}") for text, number in numbers.items()]
    return replace(table, rows=[TableRow(row) for row in rows], notes=notes)


def _print_grid(console: Console, table: Table) -> None:
    """Print a line for each row, and one above each group of rows, if these have a text of their own."""
    by = table.grouped_by
    has_lines = by > 0 and table.columns[by].kind == "text"
    lead = by + 1 if has_lines else by or 1
    columns = [replace(table.columns[0], head=", ".join(column.head for column in table.columns[:lead]))]
    columns += table.columns[lead:]
    names = [_joined(row.cells[: by if has_lines else lead]) for row in table.rows]
    lines = [
        [replace(row.cells[0], text=f"  {row.cells[by].text}" if has_lines else name), *row.cells[lead:]]
        for name, row in zip(names, table.rows, strict=True)
    ]
    grid = _Grid(columns, lines, console.width)
    if not has_lines:
        console.print(grid.drawn(lines, has_head=True))
        return
    console.print(grid.drawn([], has_head=True))
    for name, group in groupby(zip(names, lines, strict=True), lambda pair: pair[0]):
        console.print(Text(name, "cyan"))
        console.print(grid.drawn([line for _, line in group]))


class _Grid:
    """Columns of the same widths for all groups. Figures stay whole; texts share the rest of the room."""

    def __init__(self, columns: Sequence[TableColumn], lines: Sequence[Sequence[TableCell]], room: int) -> None:
        self._columns = columns
        texts = [[column.head, *(line[place].text for line in lines)] for place, column in enumerate(columns)]
        wanted = [max(map(cell_len, each)) for each in texts]
        least = [
            max(_longest_word(head), *(map(cell_len if column.kind != "text" else _longest_word, cells)))
            for column, (head, *cells) in zip(columns, texts, strict=True)
        ]
        self._gap = 2 if sum(wanted) + 2 * (len(columns) - 1) <= room else 1
        rest = room - sum(least) - self._gap * (len(columns) - 1)
        share = min(1.0, max(0, rest) / (sum(wanted) - sum(least) or 1))
        self._widths = [low + int((high - low) * share) for low, high in zip(least, wanted, strict=True)]

    def drawn(self, lines: Iterable[Sequence[TableCell]], *, has_head: bool = False) -> RichTable:
        built = RichTable(
            box=None, padding=(0, self._gap, 0, 0), pad_edge=False, header_style="bold", show_header=has_head
        )
        for column, width in zip(self._columns, self._widths, strict=True):
            justify: JustifyMethod = "right" if column.kind == "figure" else "left"
            built.add_column(column.head, justify=justify, width=width, overflow="fold")
        for line in lines:
            built.add_row(*(Text(cell.text, _style(cell)) for cell in line))
        return built


def _longest_word(text: str) -> int:
    """Return the width below which a text breaks within a word."""
    return min(LONG_WORD, max(map(cell_len, text.split()), default=0))


def _print_list(console: Console, table: Table) -> None:
    """Print the name of each row, and below it each of its other texts with its head; a single one beside it."""
    by = table.grouped_by
    for row in table.rows:
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
