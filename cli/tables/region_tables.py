"""The cost of a matrix in each region, as a table and as a document."""

from collections.abc import Iterable, Sequence
from typing import TypedDict

from rich.console import Console

from cli.messages import terminal
from cli.tables import rich_tables
from matrix.price.regions import NOT_ENABLED, RegionCost, best
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


class RegionsDocument(TypedDict):
    """The answer of `matrix plan FILE --region all`."""

    name: str
    cheapest: str | None
    """The cheapest region that answered and lacks nothing; None if there is none."""
    regions: list[RegionCost]
    unchecked: list[str]
    """Storages whose regions the price list does not give."""


def show(console: Console, document: RegionsDocument) -> None:
    """Print a row for each region, and the storages that were not checked."""
    rich_tables.show(console, regions_table(document["regions"]))
    if document["unchecked"]:
        names = ", ".join(document["unchecked"])
        terminal.print_wrapped(console, f"Not checked, because the price list does not name them: {names}")
    if any(each["reason"] == NOT_ENABLED for each in document["regions"]):
        terminal.print_wrapped(console, "To enable a region: `aws account enable-region --region-name REGION`")
    best_of = document["cheapest"]
    terminal.print_wrapped(
        console,
        f"Cheapest: {best_of}. A run there needs a stack there: `sam deploy --region {best_of}`"
        if best_of
        else "No region that answered has all that this matrix needs.",
    )


def document_of(name: str, rows: list[RegionCost], unchecked: list[str]) -> RegionsDocument:
    return {"name": name, "cheapest": best(rows), "regions": rows, "unchecked": unchecked}


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
