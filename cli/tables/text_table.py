"""A table of texts that keeps every name and figure whole, however narrow the terminal is.

rich makes room by cutting figures and breaking names inside words, and it measures each cell separately: 2,600 rows of
nine columns took 2.3 s of processor time. Here columns of words wrap between words, with a hanging indent; if that is
not enough, each row becomes a name with its figures below it.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, zip_longest
from textwrap import wrap
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style, StyleType
from rich.table import Table
from rich.text import Text

from matrix.tables.percentiles import SUBJECTS
from matrix.tables.table import RunTable, TableRow

HANG, RECORD_INDENT = 2, 4
# The minimum width of a column of words: in a narrower one each word would have its own line.
LEAST_WORDS = 18


class Cell(NamedTuple):
    """The lines of a cell, its style, and the width of its longest line in terminal columns."""

    lines: Sequence[str]
    style: StyleType = ""
    width: int = 0


class TextTable(Table):
    """A table without borders; columns that are `no_wrap` hold figures or marks, which are never broken."""

    def __init__(self, title: str = "", *, gap: int = 2) -> None:
        """Store a title for the line above the heads, and the gap between columns."""
        super().__init__(title=title or None, box=None, padding=(0, gap, 0, 0), header_style="bold", pad_edge=False)
        self.gap = gap

    def add_figures(self, *heads: str) -> None:
        """Add columns of figures, which are right-aligned."""
        for head in heads:
            self.add_column(head, justify="right", no_wrap=True)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return its width with enough room."""
        widths = [max(cell.width for cell in column) for column in self._cells()]
        whole = sum(widths) + self.gap * max(0, len(widths) - 1)
        return Measurement(whole, whole)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield its title, its heads and its rows, or records if the columns do not fit side by side."""
        columns = self._cells()
        if not columns:
            return
        if self.title:
            yield from console.render(Text(str(self.title), "bold"), options)
        widths = self._widths(columns, options.max_width)
        heads, *rows = zip(*columns, strict=True)
        if widths:
            yield from self._row(console, heads, widths, console.get_style("bold"), is_head=True)
        for row in rows:
            if widths:
                yield from self._row(console, row, widths, Style.null())
            else:
                yield from _record(console, heads, row, options.max_width)
        if self.caption:
            yield from console.render(Text(str(self.caption)), options)

    def _cells(self) -> list[list[Cell]]:
        return [[_cell(cell) for cell in (column.header, *column.cells)] for column in self.columns]

    def _widths(self, columns: Sequence[Sequence[Cell]], most: int) -> list[int]:
        """Return the widths of the columns; empty if unbreakable columns and the longest words do not fit."""
        most -= self.gap * (len(columns) - 1)
        natural = [max(cell.width for cell in column) for column in columns]
        if sum(natural) <= most:
            return natural
        widths = [
            whole if column.no_wrap else min(whole, max(LEAST_WORDS, *(_longest_word(cell) for cell in cells)))
            for whole, column, cells in zip(natural, self.columns, columns, strict=True)
        ]
        room = most - sum(widths)
        if room < 0:
            return []
        # The remaining width goes to the narrowest of the wrapping columns.
        while room and (open_ := [at for at, width in enumerate(widths) if width < natural[at]]):
            widths[min(open_, key=lambda at: widths[at])] += 1
            room -= 1
        return widths

    def _row(
        self, console: Console, row: Sequence[Cell], widths: Sequence[int], style: Style, *, is_head: bool = False
    ) -> Iterator[Segment]:
        parts = [_wrapped(cell, width) for cell, width in zip(row, widths, strict=True)]
        # Heads are bottom-aligned in their row, all other cells top-aligned.
        turn = slice(None, None, -1 if is_head else 1)
        for line in list(zip_longest(*(part[turn] for part in parts), fillvalue=""))[turn]:
            # A line ends with its last text, so that piped output has no blanks at its ends.
            ends = max((at for at, text in enumerate(line) if text), default=-1)
            for at, (text, cell, width) in enumerate(zip(line[: ends + 1], row, widths, strict=False)):
                room = " " * (width - cell_len(text))
                if self.columns[at].justify == "right":
                    written = f"{room}{text}"
                else:
                    written = text if at == ends else f"{text}{room}"
                gap = "" if at == ends else " " * self.gap
                yield Segment(f"{written}{gap}", style + console.get_style(cell.style) if cell.style else style)
            yield Segment.line()


def grouped(table: RunTable, *, gap: int, most_rows: int) -> TextTable:
    """Draw a table of a run: storage and fleet on their own line, below it a row for each of their points.

    If it has more than `most_rows` lines, it shows the first cells, at least one; the others are counted.
    """
    built = TextTable(table.title, gap=gap)
    built.add_column("Storage, fleet, point")
    for column in table.columns[len(SUBJECTS) :]:
        built.add_column(column.short or column.head, justify="right" if column.is_figure else "left", no_wrap=True)
    cells = [(words, list(rows)) for (_, words), rows in groupby(table.rows, _cell_of)]
    lines = accumulate(1 + len(rows) for _, rows in cells)
    shown = max(1, sum(count <= most_rows for count in lines))
    for words, rows in cells[:shown]:
        built.add_row(Text(words, "cyan"))
        for row in rows:
            point, *figures = row.cells[len(SUBJECTS) - 1 :]
            # Text prevents that rich takes brackets for a style.
            texts = (Text(figure.text, "red" if figure.is_alarming else "") for figure in figures)
            built.add_row(Text(f"  {point.text}"), *texts)
    rest = len(cells) - shown
    more = [f"and {rest} more cells: see the report, or add --format csv"] if rest else []
    if below := [*more, *table.sentences]:
        built.caption = "\n".join(below)
    return built


def _cell_of(row: TableRow) -> tuple[str, str]:
    storage, fleet, *_ = row.cells
    return (row.about.cell["id"] if row.about else ""), f"{storage.text}, {fleet.text}"


def _record(console: Console, heads: Sequence[Cell], row: Sequence[Cell], most: int) -> Iterator[Segment]:
    """Yield a row as its name, and below it each figure behind its head."""
    name, *figures = row
    for line in _wrapped(name, most):
        yield Segment(line, console.get_style(name.style or "bold"))
        yield Segment.line()
    indent = " " * RECORD_INDENT
    written = ""
    for head, cell in zip(heads[1:], figures, strict=True):
        value = " ".join(cell.lines).strip()
        if not value:
            continue
        pair = " ".join(filter(None, [" ".join(head.lines).strip(), value]))
        if written and cell_len(f"{indent}{written}  {pair}") > most:
            yield Segment(f"{indent}{written}\n")
            written = ""
        whole = f"{written}  {pair}" if written else pair
        *full, written = _wrapped(_cell(whole), most - RECORD_INDENT)
        for line in full:
            yield Segment(f"{indent}{line}\n")
    if written:
        yield Segment(f"{indent}{written}\n")


def _cell(cell: RenderableType) -> Cell:
    text = cell if isinstance(cell, Text) else Text(str(cell))
    # The style of its first part applies to all parts.
    style = text.style or (text.spans[0].style if text.spans else "")
    lines = [line.rstrip(" ") for line in text.plain.expandtabs().split("\n")]
    return Cell(lines, style, max(map(cell_len, lines)))


def _longest_word(cell: Cell) -> int:
    return max((_indent(line) + HANG + cell_len(word) for line in cell.lines for word in line.split()), default=0)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _wrapped(cell: Cell, width: int) -> list[str]:
    """Break the lines of a cell between words; the rest of a line is indented below its start."""
    if cell.width <= width:
        return list(cell.lines)
    lines: list[str] = []
    for line in cell.lines:
        hang = " " * (_indent(line) + HANG)
        if cell_len(line) == len(line):
            lines += wrap(line, width, subsequent_indent=hang, break_on_hyphens=False) or [""]
        else:
            # Letters that are two columns wide, which textwrap counts as one.
            lines += [part.plain.rstrip() for part in Text(line).wrap(Console(width=width), width)]
    return lines
