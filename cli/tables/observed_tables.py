"""The usage of an existing storage, for the terminal: a chart, its distribution, and storages that meet the load."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.messages import terminal
from cli.tables.rich_tables import add_figures, new_table
from matrix.terms.quantities import ABSENT, instant, number

if TYPE_CHECKING:
    from matrix.terms.documents.observed import Carrier, ObservedDocument, ObservedMetric

HEIGHTS = " ▁▂▃▄▅▆▇█"
PICTURED = ("Throughput", "IOPS")
# Longer lists are not compared; --json has all.
MAX_CARRIERS = 12
NEVER, RARELY = 1.0, 0.99


def show(console: Console, observed: "ObservedDocument") -> None:
    """Print a chart of the window, a row for each metric, and a row for each candidate storage."""
    head = f"{observed['id']}: {observed['name']}"
    span = f"  {observed['region']}, {instant(observed['begun'])} to {instant(observed['ended'])}"
    terminal.print_wrapped(console, Text.assemble((head, "bold"), (span, "dim")))
    for metric in observed["metrics"]:
        if metric["name"] in PICTURED:
            terminal.print_wrapped(console, f"{metric['name']:<11}{_picture(metric)}")
    console.print()
    console.print(_metrics(observed["metrics"]))
    console.print()
    moved = f"{number(observed['read_gib_month'])} GiB read and {number(observed['written_gib_month'])} GiB written"
    cost = f"; as it is {_usd(observed['usd_month']['expected'])} a month" if observed["usd_month"] else ""
    terminal.print_wrapped(console, f"A month: {moved}{cost}. What would carry it:")
    console.print(_carriers(observed["carriers"][:MAX_CARRIERS]))
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


def _metrics(metrics: "Sequence[ObservedMetric]") -> Table:
    table = new_table("Metric")
    add_figures(table, "P50", "P90", "P99", "Worst", "Limit", "Hours at it")
    for metric in metrics:
        figures = [number(metric[level]) for level in ("p50", "p90", "p99", "worst")]
        limit, hours = metric["limit"], metric["hours_at_limit"]
        table.add_row(
            f"{metric['name']} ({metric['unit']})",
            *figures,
            ABSENT if limit is None else number(limit),
            ABSENT if hours is None else number(hours),
        )
    return table


def _carriers(carriers: "Sequence[Carrier]") -> Table:
    table = new_table("Storage")
    add_figures(table, "IOPS", "MiB/s", "Carries", "Hours beyond", "USD a month", "Range")
    for carrier in carriers:
        style = "" if carrier["share_within"] >= RARELY else "dim"
        table.add_row(
            Text(carrier["name"], style),
            f"{carrier['iops']:,}",
            number(carrier["mibps"]),
            f"{_share(carrier['share_within'])} %",
            number(carrier["hours_over"]),
            _usd(_month(carrier)),
            f"{carrier['usd_month']['low']:,.0f} – {carrier['usd_month']['high']:,.0f}",
        )
    return table


def _share(share: float) -> str:
    """Return a share in percent, never 100 % if something is missing."""
    return "100" if share == NEVER else f"{min(100 * share, 99.99):.2f}"


def _usd(usd: float) -> str:
    return f"${usd:,.2f}"


def _answer(carriers: "Sequence[Carrier]") -> list[str]:
    whole = [carrier for carrier in carriers if carrier["share_within"] == NEVER]
    most = [carrier for carrier in carriers if carrier["share_within"] >= RARELY]
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
