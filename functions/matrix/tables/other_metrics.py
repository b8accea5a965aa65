"""The table of all metrics that are not the primary metric of their point."""

from collections.abc import Iterable

from matrix.tables.table import RunTable, TableCell, TableColumn, TableRow, number_cell
from matrix.terms.figures import PERCENTILES, percentile_of, sample_count
from matrix.terms.measured import Measured
from matrix.terms.names import marked_label

COLUMNS = (
    *(TableColumn(head) for head in ("Cell", "Point", "Metric", "Unit")),
    *(TableColumn(name.upper(), is_figure=True) for name in PERCENTILES),
    TableColumn("n/expected", is_figure=True),
)


def other_metrics_table(measured: Iterable[Measured]) -> RunTable:
    """Return a row for each metric: its percentiles as they were measured, each with its own unit."""
    return RunTable("All other metrics", COLUMNS, [TableRow(_cells(each), about=each) for each in measured])


def _cells(each: Measured) -> list[TableCell]:
    label = marked_label(each.label, each.point, each.cell)
    return [
        *(TableCell(text) for text in (each.cell["id"], label, each.quantity, each.unit)),
        *(number_cell(percentile_of(each.metric, name)) for name in PERCENTILES),
        TableCell(sample_count(each.metric)),
    ]
