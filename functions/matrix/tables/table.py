"""A table before it is drawn: its columns, its rows, and its notes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from matrix.terms.documents.summary import Candidate
from matrix.terms.measured import Measured
from matrix.terms.quantities import ABSENT, number


@dataclass(frozen=True, slots=True)
class TableCell:
    """The content of one row in one column."""

    text: str
    value: float | None = None
    """The exact number that the text rounds; None if the text is not a number."""
    is_alarming: bool = False
    """Whether it reports that something is missing."""
    is_bound: bool = False
    """Whether the figure is only known to be at least or at most so much."""


def number_cell(value: float | None) -> TableCell:
    """Return a number: a count with all its digits, else three of them; an unknown one is a dash."""
    if value is None:
        return TableCell(ABSENT)
    if isinstance(value, int):
        return TableCell(f"{value:,}", value)
    return TableCell(number(value) if value >= 0 else f"−{number(-value)}", value)


@dataclass(frozen=True)
class TableColumn:
    """The head of a column, and the format of its cells."""

    head: str
    short: str = ""
    """The head in narrow outputs; empty if it is the same."""
    exact: str = ""
    """Name of the column's exact numbers in a copy, with their unit; empty if it is the head."""
    is_figure: bool = False
    """Whether it has figures, which are right-aligned."""
    is_code: bool = False
    """Whether it has ids, which a reader types as they are."""
    is_strong: bool = False
    """Whether readers look at this column first."""
    is_fixed: bool = False
    """Whether tables of one kind all have it, though in one of them no row may have a value."""


@dataclass(frozen=True)
class TableRow:
    cells: Sequence[TableCell]
    about: Measured | None = None
    candidate: Candidate | None = None
    """The storage of a comparison that it ranks."""


@dataclass(frozen=True)
class TableNote:
    """A sentence below a table, and which measurement it is about."""

    text: str
    about: Measured | None = None


@dataclass(frozen=True)
class RunTable:
    title: str
    columns: Sequence[TableColumn]
    rows: Sequence[TableRow]
    notes: Sequence[TableNote] = ()

    @property
    def has_bound(self) -> bool:
        """Whether a figure of it is only known to be at least or at most so much."""
        return any(cell.is_bound for row in self.rows for cell in row.cells)

    @property
    def sentences(self) -> list[str]:
        """The texts of its notes, each once, without their subjects."""
        return list(dict.fromkeys(note.text for note in self.notes))

    def texts(self, *heads: str) -> Iterator[tuple[str, ...]]:
        """Yield the texts of each row in these columns, or in all columns if none is named."""
        table = self.only(*heads) if heads else self
        return (tuple(cell.text for cell in row.cells) for row in table.rows)

    def only(self, *heads: str) -> "RunTable":
        """Return these columns, in this order."""
        places = [[column.head for column in self.columns].index(head) for head in heads]
        return self._of(places)

    def without_empty(self) -> "RunTable":
        """Leave out columns without any content: they take room from the others."""
        kept = [
            index
            for index, column in enumerate(self.columns)
            if column.is_fixed or any(row.cells[index].text != ABSENT for row in self.rows)
        ]
        return self._of(kept)

    def _of(self, places: Sequence[int]) -> "RunTable":
        rows = [replace(row, cells=[row.cells[place] for place in places]) for row in self.rows]
        return replace(self, columns=[self.columns[place] for place in places], rows=rows)
