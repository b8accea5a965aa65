"""The table of what runs cost, by owner, matrix and month."""

from collections.abc import Iterable
from dataclasses import replace

from matrix.answer.spending import Spending
from matrix.tables.table import Table, TableCell, TableColumn, TableNote
from matrix.terms.quantities import money

COLUMNS = (
    *(TableColumn(head, exact=head.lower()) for head in ("Owner", "Matrix", "Month")),
    TableColumn("Environment", exact="environment", is_detail=True),
    TableColumn("Runs", "figure", "runs"),
    TableColumn("Not complete", "figure", "open"),
    TableColumn("Cost", "figure", "cost_usd"),
)
# Runs of this machine cost nothing.
UNPAID = TableColumn("Would have cost on AWS", "figure", "cost_usd")


def spending_table(rows: Iterable[Spending]) -> Table:
    """Return a row for each owner, matrix and month."""
    rows = list(rows)
    contents = [
        (
            *(each["owner"], each["matrix"], each["month"], each["environment"], each["runs"]),
            TableCell(str(each["open"] or ""), each["open"], "unsure"),
            TableCell(money(each["cost_usd"]), each["cost_usd"]),
        )
        for each in rows
    ]
    note = TableNote("A run that is not complete costs more until everything of it is deleted.", None)
    columns = COLUMNS if any(each["environment"] == "aws" for each in rows) else (*COLUMNS[:-1], UNPAID)
    return replace(Table.of("", columns, contents), notes=[note] if any(each["open"] for each in rows) else [])
