"""The table of cells whose result is an earlier run's, or whose samples of an earlier run were not used."""

from collections.abc import Iterator

from matrix.tables.table import RunTable, TableCell, TableColumn, TableRow
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument

CELL, WHAT = "Cell", "What"


def earlier_runs_table(summary: SummaryDocument) -> RunTable:
    """Return first the cells with an earlier run's result, then the cells with unused samples of an earlier run."""
    cells = summary.get("cells", [])
    rows = [*_taken(cells), *_left(cells)]
    columns = [TableColumn(CELL, is_code=True), TableColumn(WHAT)]
    return RunTable("From earlier runs", columns, [TableRow([TableCell(text) for text in row]) for row in rows])


def _taken(cells: list[ResultDocument]) -> Iterator[tuple[str, str]]:
    for cell in cells:
        if source := cell.get("taken_from"):
            yield cell["id"], f"result of run `{source['run']}`"


def _left(cells: list[ResultDocument]) -> Iterator[tuple[str, str]]:
    for cell in cells:
        for attempt in cell.get("attempts") or []:
            yield (
                cell["id"],
                f"{attempt['instances']} instances uploaded samples to `{attempt['prefix']}`; not used here",
            )
