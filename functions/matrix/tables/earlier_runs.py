"""The table of cells whose result is an earlier run's, or whose samples of an earlier run were not used."""

from collections.abc import Iterator

from matrix.tables.table import Table, TableColumn
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument


def earlier_runs_table(summary: SummaryDocument) -> Table:
    """Return first the cells with an earlier run's result, then the cells with unused samples of an earlier run."""
    cells = summary.get("cells", [])
    return Table.of(
        "From earlier runs", (TableColumn("Cell", "id"), "What"), [*_reused(cells), *_left(cells)], grouped_by=1
    )


def _reused(cells: list[ResultDocument]) -> Iterator[tuple[str, str]]:
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
