"""The usage of an existing storage, for the terminal: a chart, its distribution, and storages that meet the load."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from cli.messages import terminal
from cli.tables import rich_tables
from matrix.tables.table import Table, TableCell, figures
from matrix.terms.quantities import instant, number

if TYPE_CHECKING:
    from matrix.terms.documents.observed import Carrier, ObservedDocument, ObservedMetric

ALWAYS, MOSTLY = 1.0, 0.99
HEIGHTS = " ▁▂▃▄▅▆▇█"
PICTURED = ("Throughput", "IOPS")
# Longer lists are not compared; --json has all.
MAX_CARRIERS = 12


def show(console: Console, observed: "ObservedDocument") -> None:
    """Print a chart of the window, a row for each metric, and a row for each candidate storage."""
    head = f"{observed['id']}: {observed['name']}"
    span = f"  {observed['region']}, {instant(observed['begun'])} to {instant(observed['ended'])}"
    terminal.print_wrapped(console, Text.assemble((head, "bold"), (span, "dim")))
    for metric in observed["metrics"]:
        if metric["name"] in PICTURED:
            terminal.print_wrapped(console, f"{metric['name']:<11}{_picture(metric)}")
    console.print()
    rich_tables.show(console, _usage_table(observed["metrics"]))
    console.print()
    moved = f"{number(observed['read_gib_month'])} GiB read and {number(observed['written_gib_month'])} GiB written"
    cost = f"; as it is {_usd(observed['usd_month']['expected'])} a month" if observed["usd_month"] else ""
    terminal.print_wrapped(console, f"A month: {moved}{cost}. What would carry it:")
    rich_tables.show(console, _carriers_table(observed["carriers"][:MAX_CARRIERS]))
    for sentence in _answer(observed["carriers"]):
        terminal.print_wrapped(console, sentence)
    for warning in observed["warnings"]:
        terminal.print_wrapped(console, Text.assemble(("Note: ", "yellow"), warning))


def _picture(metric: "ObservedMetric") -> str:
    """Draw the highest value of each part of the window, up to the limit if it is known."""
    highest = max(metric["limit"] or 0.0, metric["worst"])
    top = f" {number(highest)} {metric['unit']}{' (limit)' if highest == metric['limit'] else ''}"
    steps = len(HEIGHTS) - 1
    bars = ("·" if value is None else HEIGHTS[_step(value, highest, steps)] for value in metric["over_time"])
    return "".join(bars) + top


def _step(value: float, highest: float, steps: int) -> int:
    # A small value has a bar; only zero has none.
    return 0 if value <= 0 or highest <= 0 else max(1, round(steps * value / highest))


def _usd(usd: float) -> str:
    return f"${usd:,.2f}"


def _usage_table(metrics: "Iterable[ObservedMetric]") -> Table:
    """A row for each metric of the window."""
    heads = ("Metric", *figures("P50", "P90", "P99", "Worst", "Limit", "Hours at it"))
    rows = [
        (
            f"{each['name']} ({each['unit']})",
            *(each["p50"], each["p90"], each["p99"], each["worst"], each["limit"], each["hours_at_limit"]),
        )
        for each in metrics
    ]
    return Table.of("", heads, rows)


def _carriers_table(carriers: "Iterable[Carrier]") -> Table:
    """A row for each storage; those that would carry less than 99 % of the time are quiet."""
    heads = ("Storage", *figures("IOPS", "MiB/s", "Carries", "Hours beyond", "USD a month", "Range"))
    rows = []
    for each in carriers:
        usd = each["usd_month"]
        rows.append(
            (
                TableCell(each["name"], tone="" if each["share_within"] >= MOSTLY else "quiet"),
                each["iops"],
                TableCell(number(each["mibps"]), each["mibps"]),
                TableCell(f"{_share(each['share_within'])} %", each["share_within"]),
                TableCell(number(each["hours_over"]), each["hours_over"]),
                TableCell(_usd(usd["expected"]), usd["expected"]),
                f"{usd['low']:,.0f} – {usd['high']:,.0f}",
            )
        )
    return Table.of("", heads, rows)


def _share(share: float) -> str:
    """A share in percent, never 100 % if something is missing."""
    return "100" if share == ALWAYS else f"{min(100 * share, 99.99):.2f}"


def _answer(carriers: "Sequence[Carrier]") -> list[str]:
    whole = [carrier for carrier in carriers if carrier["share_within"] == ALWAYS]
    most = [carrier for carrier in carriers if carrier["share_within"] >= MOSTLY]
    if not most:
        return ["No storage of the book carries it for 99 % of the time: spread it over several."]
    sentences = []
    if whole:
        sentences.append(
            f"Cheapest that carries all that it did: {whole[0]['name']}, {_usd(_month(whole[0]))} a month."
        )
    cheapest = min(most, key=_month)
    if not whole or _month(cheapest) < _month(whole[0]):
        share = _share(cheapest["share_within"])
        sentences.append(
            f"Cheapest that carries {share} % of the time: {cheapest['name']}, {_usd(_month(cheapest))} a month."
        )
    return sentences


def _month(carrier: "Carrier") -> float:
    return carrier["usd_month"]["expected"]
