"""A table before it is written. HTML, Markdown, the terminal and CSV have one writer each, for all tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from matrix.terms.quantities import ABSENT, number

# Figures are right-aligned; an id stays whole, because readers copy it.
Kind = Literal["text", "figure", "id"]
Tone = Literal["", "good", "bad", "unsure", "quiet"]


@dataclass(frozen=True, slots=True)
class TableCell:
    """The content of one row in one column."""

    text: str
    value: float | str | None = None
    """The exact number or the whole text that `text` shortens; None if there is none."""
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """The head of a column, and the format of its cells."""

    head: str
    kind: Kind = "text"
    exact: str = ""
    """Name of its exact values in CSV and in copies, with their unit; empty if it is the head."""
    is_detail: bool = False
    """Whether only media with room for all columns have it: the page and CSV."""


@dataclass(frozen=True, slots=True)
class TableRow:
    cells: Sequence[TableCell]
    about: Any = None
    """What the row shows, such as a measurement: filters of the page choose rows by it."""


@dataclass(frozen=True, slots=True)
class TableNote:
    """A sentence below a table, and what it is about."""

    text: str
    about: Any = None


@dataclass(frozen=True)
class Table:
    title: str
    columns: Sequence[TableColumn]
    rows: Sequence[TableRow]
    notes: Sequence[TableNote] = ()
    grouped_by: int = 0
    """How many of the first columns name a group of rows. A narrow medium writes them on a line above the group."""

    @classmethod
    def of(
        cls, title: str, heads: Iterable[object], rows: Iterable[Sequence[object]], *, grouped_by: int = 0
    ) -> "Table":
        """Return a table of plain heads and contents: texts, numbers, or None for what is not known."""
        columns = [head if isinstance(head, TableColumn) else TableColumn(str(head)) for head in heads]
        return cls(title, columns, list(map(row, rows)), grouped_by=grouped_by)

    @property
    def sentences(self) -> list[str]:
        """The texts of its notes, each once."""
        return list(dict.fromkeys(note.text for note in self.notes))

    def texts(self, *heads: str) -> Iterator[tuple[str, ...]]:
        """Yield the texts of each row in these columns, or in all columns if none is named."""
        known = [column.head for column in self.columns]
        places = [known.index(head) for head in heads] if heads else range(len(known))
        return (tuple(row.cells[place].text for place in places) for row in self.rows)

    def shown(self, *, has_details: bool = False) -> "Table":
        """Leave out columns whose rows have no content, and details, unless there is room for them."""
        roomy = [place for place, column in enumerate(self.columns) if has_details or not column.is_detail]
        kept = [
            place
            for place in roomy
            if not self.rows
            or place == roomy[0]
            or any(_has_content(row.cells[place], has_details) for row in self.rows)
        ]
        rows = [replace(row, cells=[row.cells[place] for place in kept]) for row in self.rows]
        grouped_by = sum(place < self.grouped_by for place in kept)
        return replace(self, columns=[self.columns[place] for place in kept], rows=rows, grouped_by=grouped_by)

    def without_constants(self) -> "Table":
        """Write a text that all rows have in a column behind the first in the title, once."""
        texts = {place: {row.cells[place].text for row in self.rows} for place in range(1, len(self.columns))}
        same = [
            place
            for place, [*known] in texts.items()
            if self.columns[place].kind == "text" and len(self.rows) > 1 == len(known) and known[0] not in ("", ABSENT)
        ]
        kept = [place for place in range(len(self.columns)) if place not in same]
        words = [f"{self.columns[place].head.lower()} {self.rows[0].cells[place].text}" for place in same]
        rows = [replace(row, cells=[row.cells[place] for place in kept]) for row in self.rows]
        title, columns = ", ".join([self.title, *words]), [self.columns[place] for place in kept]
        return replace(self, title=title, columns=columns, rows=rows)


def _has_content(cell: TableCell, is_exact: bool) -> bool:
    """Return whether there is anything to read, or an exact value where those are copied."""
    return cell.text not in ("", ABSENT) or (is_exact and cell.value not in (None, ""))


def figures(*heads: str) -> Iterator[TableColumn]:
    """Yield columns of figures."""
    return (TableColumn(head, "figure") for head in heads)


def row(contents: Iterable[object], about: Any = None) -> TableRow:
    return TableRow(list(map(cell, contents)), about)


def cell(content: object) -> TableCell:
    """Return a cell. A count has all its digits, another number three; what is not known is a dash."""
    if isinstance(content, TableCell):
        return content
    if content is None:
        return TableCell(ABSENT)
    if isinstance(content, bool) or not isinstance(content, int | float):
        return TableCell(str(content))
    if isinstance(content, int):
        return TableCell(f"{content:,}", content)
    return TableCell(number(content) if content >= 0 else f"−{number(-content)}", content)


def exact_row(columns: Sequence[TableColumn], values: Mapping[str, object]) -> TableRow:
    """Return a row for CSV alone, from values by their names; text of numbers is not needed there."""
    return TableRow([_exact(values.get(column.exact or column.head)) for column in columns])


def _exact(value: object) -> TableCell:
    return TableCell("", value) if isinstance(value, int | float) else TableCell("" if value is None else str(value))
