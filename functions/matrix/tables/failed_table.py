"""The table of cells that have no result, with the reason."""

from collections.abc import Callable

from matrix.tables.table import RunTable, TableCell, TableColumn, TableRow
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.names import describe_workload, fleet_label, reading_order
from matrix.terms.quantities import ABSENT
from matrix.terms.sentences import error_text

CELL, STORAGE, WORKLOAD, FLEET, STATE, WHY = "Cell", "Storage", "Workload", "Fleet", "State", "Why"
COLUMNS = (TableColumn(CELL, is_code=True), *(TableColumn(head) for head in (STORAGE, WORKLOAD, FLEET, STATE, WHY)))


def failed_table(
    summary: SummaryDocument, name: Callable[[ResultDocument], str] = lambda cell: str(cell.get("file_system"))
) -> RunTable:
    """Return a row for each cell without a result, in reading order; `name` names the storage of a cell."""
    is_published = summary.get("environment") == "published"
    rows = [
        TableRow(
            [
                TableCell(text)
                for text in (
                    cell["id"],
                    name(cell),
                    describe_workload(cell.get("workload") or {}),
                    fleet_label(cell.get("fleet") or {}),
                    "not published" if is_published else str(cell.get("state")),
                    error_text(cell.get("error")) or ABSENT,
                )
            ]
        )
        for cell in reading_order(summary.get("cells", []))
        if cell.get("state") != "measured"
    ]
    return RunTable("Cells without a result", COLUMNS, rows)
