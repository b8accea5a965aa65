"""A cell over all runs, for the terminal: a row for each run, with its changes marked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from cli.messages import terminal
from cli.tables.text_table import TextTable
from matrix.terms.figures import ABSENT, instant, quantity

if TYPE_CHECKING:
    from matrix.answer.history import KeptRun, Measured, Track

STYLES = {"slower": "red", "faster": "green"}
MOST_NAMES = 12
# Characters of the longest bar.
BAR_WIDTH = 24
# A terminal with this many columns has room for bars.
WIDE = 110


def show(console: Console, tracks: "Sequence[Track]", runs: "Sequence[KeptRun]") -> None:
    """Print a table for each point of the cell."""
    for number, track in enumerate(tracks):
        if number:
            console.print()
        better = "higher" if track.higher_is_better else "lower"
        what = f"{track.workload} ({track.point})" if track.point else track.workload
        head = f"{track.storage}, {track.fleet}, {what}: {track.metric}, {better} is better"
        terminal.print_wrapped(console, Text.assemble((head, "bold"), (f"  {track.environment}", "dim")))
        console.print(_table(track, runs, console.width))
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


def _table(track: "Track", runs: "Sequence[KeptRun]", width: int) -> TextTable:
    table = TextTable()
    table.add_column("Run")
    for head in ("Started (UTC)", "P50", "95 %", "n", "Change", *([""] if width >= WIDE else [])):
        table.add_column(head, justify="right" if head in ("P50", "95 %", "n") else "left", no_wrap=True)
    changes = {change.run: change.verdict for change in track.changes}
    longest = max((each.p50 for each in track.measured if each.p50 is not None), default=0.0)
    for each in track.measured:
        run, verdict = runs[each.run], changes.get(each.run, "")
        started = instant(run.summary.get("started_at")).removesuffix(" UTC")
        count = ABSENT if each.n is None else str(each.n)
        figures = [quantity(each.p50, track.unit), _interval(each, track.unit), count]
        bar = [_bar(each.p50, longest)] if width >= WIDE else []
        table.add_row(Text(run.name), started, *figures, Text(verdict, STYLES.get(verdict, "")), *bar)
    return table


def _interval(each: "Measured", unit: str) -> str:
    return ABSENT if each.low is None else f"{quantity(each.low, unit)} – {quantity(each.high, unit)}"


def _bar(value: float | None, longest: float) -> str:
    return "█" * max(1, round(BAR_WIDTH * value / longest)) if value is not None and longest > 0 else ""
