"""A table as CSV: all its columns, with exact values."""

import csv
import io

from matrix.tables.table import Table, TableCell
from matrix.terms.printable import csv_field
from matrix.terms.quantities import ABSENT


def csv_table(table: Table) -> str:
    """Return a line for each row. A text that a spreadsheet would take for a formula begins with an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.exact or column.head for column in table.columns)
    writer.writerows(map(_field, row.cells) for row in table.rows)
    return text.getvalue()


def _field(cell: TableCell) -> object:
    if cell.value is not None:
        return csv_field(cell.value)
    return "" if cell.text == ABSENT else csv_field(cell.text)
