"""The cost of a matrix in each region, as a table, as CSV and as a document."""

from collections.abc import Sequence
from typing import TypedDict

from rich.console import Console

from cli.messages import terminal
from cli.tables.plan_tables import money
from cli.tables.rich_tables import add_figures, add_text_columns, new_table
from matrix.price.regions import NOT_ENABLED, RegionCost, best
from matrix.terms.printable import csv_text

CSV_COLUMNS = ("region", "low_usd", "expected_usd", "high_usd", "missing", "reason", "book_prices")
MAX_NAMED = 3


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
    table = new_table("Region")
    add_figures(table, "Cost", "Low", "High")
    add_text_columns(table, "")
    for each in document["regions"]:
        cost = each["cost_usd"]
        figures = [money(cost[part]) for part in ("expected", "low", "high")] if cost else ["–", "–", "–"]
        table.add_row(each["region"], *figures, remark(each))
    console.print(table)
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


def remark(each: RegionCost) -> str:
    """Return the lacks of a region, the reason if it did not answer, and the prices taken from the book."""
    parts = [f"missing: {', '.join(each['missing'])}"] if each["missing"] else []
    parts += [each["reason"]] if each["reason"] else []
    if names := each["book_prices"]:
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        parts.append(f"price of us-east-1: {', '.join(names[:MAX_NAMED])}{more}")
    return "; ".join(parts)


def to_csv(rows: Sequence[RegionCost]) -> str:
    """Return a row for each region; lists are separated by semicolons."""
    return csv_text(
        CSV_COLUMNS,
        [
            {
                "region": each["region"],
                **({f"{part}_usd": usd for part, usd in each["cost_usd"].items()} if each["cost_usd"] else {}),
                "missing": "; ".join(each["missing"]),
                "reason": each["reason"],
                "book_prices": "; ".join(each["book_prices"]),
            }
            for each in rows
        ],
    )


def document_of(name: str, rows: list[RegionCost], unchecked: list[str]) -> RegionsDocument:
    return {"name": name, "cheapest": best(rows), "regions": rows, "unchecked": unchecked}
