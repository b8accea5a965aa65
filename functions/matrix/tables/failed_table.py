"""The table of cells that have no result, with the reason."""

from collections.abc import Callable

from matrix.tables.table import Table, TableColumn
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.names import fleet_label, reading_order, workload_names_of
from matrix.terms.sentences import NOT_PUBLISHED, reason_of

HEADS = (
    TableColumn("Cell", "id"),
    "Why",
    *(TableColumn(head, is_detail=True) for head in ("State", "Storage", "Workload", "Fleet")),
)


def failed_table(
    summary: SummaryDocument, name: Callable[[ResultDocument], str] = lambda cell: str(cell.get("file_system"))
) -> Table:
    """Return a row for each cell without a result, in reading order; `name` names the storage of a cell."""
    workloads = workload_names_of(summary.get("cells", []))
    is_published = summary.get("environment") == "published"
    rows = [
        (
            cell["id"],
            reason_of(cell),
            NOT_PUBLISHED if is_published else str(cell.get("state")),
            name(cell),
            workloads[cell["id"]],
            fleet_label(cell.get("fleet") or {}),
        )
        for cell in reading_order(summary.get("cells", []))
        if cell.get("state") != "measured"
    ]
    return Table.of("Cells without a result", HEADS, rows, grouped_by=1)
