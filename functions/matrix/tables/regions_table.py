"""The table of what a matrix costs in each region."""

from collections.abc import Iterable, Sequence

from matrix.price.regions import RegionCost
from matrix.tables.table import Table, TableCell, TableColumn
from matrix.terms.quantities import ABSENT, cents

MAX_NAMED = 3
COLUMNS = (
    TableColumn("Region", exact="region"),
    *(TableColumn(head, "figure", f"{head.lower()}_usd") for head in ("Low", "Expected", "High")),
    TableColumn("Missing", exact="missing"),
    TableColumn("Not asked", exact="reason"),
    TableColumn("Price of us-east-1", exact="book_prices"),
)


def regions_table(rows: Iterable[RegionCost]) -> Table:
    """Return a row for each region: its cost, or what it lacks, or why it was not asked."""
    return Table.of("", COLUMNS, map(_contents, rows))


def _contents(each: RegionCost) -> Sequence[object]:
    cost = each["cost_usd"]
    usd = (cost["low"], cost["expected"], cost["high"]) if cost else (None, None, None)
    names = each["book_prices"]
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return (
        each["region"],
        *(TableCell(ABSENT if amount is None else cents(amount), amount) for amount in usd),
        TableCell(", ".join(each["missing"]), "; ".join(each["missing"])),
        each["reason"],
        TableCell(f"{', '.join(names[:MAX_NAMED])}{more}", "; ".join(names)),
    )
