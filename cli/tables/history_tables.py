"""A cell over all runs, for the terminal: a row for each run, with its changes marked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.messages import terminal
from cli.tables.rich_tables import add_figures, add_ids, add_words, new_table
from matrix.terms.figures import ABSENT, instant, quantity

if TYPE_CHECKING:
    from matrix.answer.history import KeptRun, Measured, Track

STYLES = {"slower": "red", "faster": "green"}


def show(console: Console, tracks: "Sequence[Track]", runs: "Sequence[KeptRun]") -> None:
    """Print a table for each point of the cell."""
    for number, track in enumerate(tracks):
        if number:
            console.print()
        better = "higher" if track.higher_is_better else "lower"
        what = f"{track.workload} ({track.point})" if track.point else track.workload
        head = f"{track.storage}, {track.fleet}, {what}: {track.metric}, {better} is better"
        terminal.print_wrapped(console, Text.assemble((head, "bold"), (f"  {track.environment}", "dim")))
        console.print(_table(track, runs))
        for change in track.changes:
            words = Text.assemble(
                (f"{runs[change.run].name}: ", "bold"), (change.words, STYLES.get(change.verdict, ""))
            )
            terminal.print_wrapped(console, words)
            for fact in change.changed:
                terminal.print_wrapped(console, f"  {fact.fact}: {', '.join(fact.before)} → {', '.join(fact.after)}")
        if track.published is not None and track.environment != "published":
            against = f" (not comparable: {'; '.join(track.objections)})" if track.objections else ""
            terminal.print_wrapped(console, f"Published: {quantity(track.published, track.unit)}{against}")


def _table(track: "Track", runs: "Sequence[KeptRun]") -> Table:
    table = new_table()
    add_ids(table, "Run")
    add_words(table, "Started (UTC)")
    add_figures(table, "P50", "95 %", "n")
    add_words(table, "Change")
    changes = {change.run: change.verdict for change in track.changes}
    for each in track.measured:
        run, verdict = runs[each.run], changes.get(each.run, "")
        started = instant(run.summary.get("started_at")).removesuffix(" UTC")
        count = ABSENT if each.n is None else str(each.n)
        figures = [quantity(each.p50, track.unit), _interval(each, track.unit), count]
        table.add_row(Text(run.name), started, *figures, Text(verdict, STYLES.get(verdict, "")))
    return table


def _interval(each: "Measured", unit: str) -> str:
    return ABSENT if each.low is None else f"{quantity(each.low, unit)} – {quantity(each.high, unit)}"
