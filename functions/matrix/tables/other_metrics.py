"""The table of all metrics that are not the primary metric of their point."""

from collections.abc import Iterable

from matrix.tables.table import Table, TableColumn, figures, row
from matrix.terms.figures import PERCENTILES, percentile_of, sample_count
from matrix.terms.measured import Measured
from matrix.terms.names import marked_label

COLUMNS = (
    *map(TableColumn, ("Cell", "Point", "Metric", "Unit")),
    *figures(*(name.upper() for name in PERCENTILES), "n"),
)


def other_metrics_table(measured: Iterable[Measured]) -> Table:
    """Return a row for each metric: its percentiles as they were measured, each with its own unit."""
    return Table("All other metrics", COLUMNS, [row(_contents(each), each) for each in measured])


def _contents(each: Measured) -> list[object]:
    label = marked_label(each.label, each.point, each.cell)
    percentiles = (percentile_of(each.metric, name) for name in PERCENTILES)
    return [each.cell["id"], label, each.quantity, each.unit, *percentiles, sample_count(each.metric)]
