"""The tables of an observed storage: how it is used, and storages that would carry its load."""

from collections.abc import Iterable

from matrix.tables.table import Table, TableCell, figures
from matrix.terms.documents.observed import Carrier, ObservedMetric
from matrix.terms.quantities import number

ALWAYS, MOSTLY = 1.0, 0.99


def usage_table(metrics: Iterable[ObservedMetric]) -> Table:
    """Return a row for each metric of the window."""
    heads = ("Metric", *figures("P50", "P90", "P99", "Worst", "Limit", "Hours at it"))
    rows = [
        (
            f"{each['name']} ({each['unit']})",
            *(each["p50"], each["p90"], each["p99"], each["worst"], each["limit"], each["hours_at_limit"]),
        )
        for each in metrics
    ]
    return Table.of("", heads, rows)


def carriers_table(carriers: Iterable[Carrier]) -> Table:
    """Return a row for each storage; those that would carry less than 99 % of the time are quiet."""
    heads = ("Storage", *figures("IOPS", "MiB/s", "Carries", "Hours beyond", "USD a month", "Range"))
    rows = []
    for each in carriers:
        usd = each["usd_month"]
        rows.append(
            (
                TableCell(each["name"], tone="" if each["share_within"] >= MOSTLY else "quiet"),
                each["iops"],
                TableCell(number(each["mibps"]), each["mibps"]),
                TableCell(f"{describe_share(each['share_within'])} %", each["share_within"]),
                TableCell(number(each["hours_over"]), each["hours_over"]),
                TableCell(f"${usd['expected']:,.2f}", usd["expected"]),
                f"{usd['low']:,.0f} – {usd['high']:,.0f}",
            )
        )
    return Table.of("", heads, rows)


def describe_share(share: float) -> str:
    """Return a share in percent, never 100 % if something is missing."""
    return "100" if share == ALWAYS else f"{min(100 * share, 99.99):.2f}"
