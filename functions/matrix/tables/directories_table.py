"""The table of the slowdown by one directory for all workers."""

from matrix.tables.table import RunTable, TableCell, TableColumn, TableRow
from matrix.terms.directories import TITLE, shared_directories
from matrix.terms.documents.summary import SummaryDocument


def directories_table(summary: SummaryDocument) -> RunTable:
    """Return a row for each point that was measured with one directory and with one for each worker."""
    columns = [TableColumn("Cell", is_code=True), TableColumn("What one directory costs")]
    rows = [TableRow([TableCell(each.cell), TableCell(each.sentence)]) for each in shared_directories(summary)]
    return RunTable(TITLE, columns, rows)
