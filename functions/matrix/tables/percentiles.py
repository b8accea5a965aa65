"""The tables of percentiles: one for each workload and the metric that it is judged by."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum, auto
from functools import partial

from matrix.tables.point_figures import Write, shown_figures
from matrix.tables.table import RunTable, TableCell, TableColumn, TableNote, TableRow
from matrix.terms.figures import percentile_of, percentiles_of
from matrix.terms.measured import Measured
from matrix.terms.metrics import describe_measure
from matrix.terms.names import describe_fleet, describe_launch, direction, marked_label, marks
from matrix.terms.quantities import ABSENT, Column, quantity

# Returns the name of a storage in the table's place.
Name = Callable[[Measured], str]
# Heads of the columns that identify a row; a point's marks follow its label.
SUBJECTS = ("Storage", "Instances", "Point")


class Medium(Enum):
    """The output of a table, which decides its width and the place of its units."""

    PAGE = auto()
    """Wide enough for all columns. The title has the unit and the properties that all rows share."""
    DOCUMENT = auto()
    """Single lines may be quoted, so each figure has its unit."""
    TERMINAL = auto()
    """Narrow. The title has the unit."""


def percentile_tables(measured: Iterable[Measured], name: Name, medium: Medium) -> list[RunTable]:
    """Return a table for each workload and metric, with a row for each of these points, in their order."""
    groups: dict[tuple[str, str], list[Measured]] = {}
    for each in measured:
        groups.setdefault((each.workload, each.name), []).append(each)
    return [_table(rows, name, medium) for rows in groups.values()]


def _table(measured: Sequence[Measured], name: Name, medium: Medium) -> RunTable:
    is_page = medium is Medium.PAGE
    figures = shown_figures(measured, are_brief=not is_page)
    title, write = _TITLES[medium](measured), _write(measured, medium)
    heads, subjects = _whole_subjects(measured, name) if is_page else _brief_subjects(measured, name)
    rows = [
        TableRow([*subject, *(figure.cell(each, write) for figure in figures)], about=each)
        for each, subject in zip(measured, subjects, strict=True)
    ]
    notes = [
        TableNote(f"Left out: {name(each)}, {each.fleet}: {each.left_out}.", about=each)
        for each in measured
        if each.left_out
    ]
    return RunTable(title, [*heads, *(figure.column for figure in figures)], rows, notes).without_empty()


# --- titles, and how numbers are written ------------------------------------------------------------------------------


def _column(measured: Sequence[Measured]) -> Column:
    names = percentiles_of(each.metric for each in measured)
    return Column.of((percentile_of(each.metric, name) for each in measured for name in names), measured[0].unit)


def _write(measured: Sequence[Measured], medium: Medium) -> Write:
    unit = measured[0].unit
    if medium is Medium.DOCUMENT:
        return None
    # `1m 40s` is shorter than a title with the unit of each duration.
    return partial(quantity, unit=unit) if unit == "s" and medium is Medium.TERMINAL else _column(measured).write


def _page_title(measured: Sequence[Measured]) -> str:
    first, label, kind = measured[0], *_in_common(measured)
    work = ", ".join(filter(None, [first.workload, label])) + (f" on {kind}" if kind else "")
    return f"{work}: {_column(measured).head(first.quantity)}, {direction(first.metric)}"


def _document_title(measured: Sequence[Measured]) -> str:
    return f"{measured[0].workload}: {measured[0].quantity} ({direction(measured[0].metric)})"


def _terminal_title(measured: Sequence[Measured]) -> str:
    first = measured[0]
    return f"{first.workload}: {describe_measure(first.name, first.unit)} ({direction(first.metric)})"


_TITLES: Mapping[Medium, Callable[[Sequence[Measured]], str]] = {
    Medium.PAGE: _page_title,
    Medium.DOCUMENT: _document_title,
    Medium.TERMINAL: _terminal_title,
}


# --- subject of a row -------------------------------------------------------------------------------------------------

Subjects = tuple[Sequence[TableColumn], list[list[TableCell]]]


def _whole_subjects(measured: Sequence[Measured], name: Name) -> Subjects:
    label, kind = _in_common(measured)
    cells = [
        [
            TableCell(name(each)),
            TableCell(str(each.instances), each.instances) if kind else TableCell(each.fleet),
            TableCell(describe_launch(each.cell).removesuffix(" launches") or ABSENT),
            TableCell(ABSENT if label else each.label),
            TableCell("; ".join([*(["left out"] if each.left_out else []), *marks(each.point, each.cell)]) or ABSENT),
        ]
        for each in measured
    ]
    return [TableColumn(head) for head in ("Storage", "Instances", "Launches", "Point", "Marks")], cells


def _brief_subjects(measured: Sequence[Measured], name: Name) -> Subjects:
    cells = [
        [
            TableCell(name(each)),
            TableCell(
                ", ".join(filter(None, [describe_fleet(each.cell.get("fleet") or {}), describe_launch(each.cell)]))
            ),
            TableCell(marked_label(each.label, each.point, each.cell)),
        ]
        for each in measured
    ]
    return [TableColumn(head, is_fixed=True) for head in SUBJECTS], cells


def _in_common(measured: Sequence[Measured]) -> tuple[str, str]:
    """Return the label and the instance type that several rows share; empty if they differ."""
    return _constant([each.label for each in measured]), _constant([each.instance_type for each in measured])


def _constant(words: Sequence[str]) -> str:
    return words[0] if len(words) > 1 and len(set(words)) == 1 else ""
