"""The usage of an existing storage, for the terminal: a chart and its distribution."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from cli.messages import terminal
from cli.tables import rich_tables
from matrix.tables.table import Table, figures
from matrix.terms.quantities import instant, number

if TYPE_CHECKING:
    from matrix.terms.documents.observed import ObservedDocument, ObservedMetric

HEIGHTS = " ▁▂▃▄▅▆▇█"
PICTURED = ("Throughput", "IOPS")


def show(console: Console, observed: "ObservedDocument") -> None:
    """Print a chart of the window, and a row for each metric."""
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
    cost = f"; ${observed['usd_month']['expected']:,.2f}" if observed["usd_month"] else ""
    terminal.print_wrapped(console, f"A month: {moved}{cost}.")
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
