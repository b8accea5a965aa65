"""`matrix history`: one cell over all runs that measured it, and where it changed."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import UnknownRun
from cli.tables import rich_tables
from cli.target import known_runs, past
from cli.target.place import Place
from matrix.tables.compared_table import TONES
from matrix.tables.table import Table, TableCell, TableColumn, figures
from matrix.terms.metrics import metric_title
from matrix.terms.quantities import ABSENT, count_of, instant, quantity

if TYPE_CHECKING:
    from matrix.answer.history import KeptRun, Track

MAX_NAMES = 12
# So many test points are shown also if one run only has measured each.
MAX_ALONE = 4
COLUMNS = (
    TableColumn("Run", "id"),
    TableColumn("Started (UTC)"),
    *figures("P50", "95 % interval", "n"),
    TableColumn("Change"),
)


def history(
    cell: options.Cell,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
    all_: Annotated[bool, typer.Option("--all", help="Also the test points that one run only has measured.")] = False,
) -> None:
    """Show one cell over all runs.

    Oldest run first, with the median of each point, its 95 % interval, and where it changed. CELL is an id, or the
    beginning of one. From six runs on, a change is a run beyond the scatter of those before it, or a trend. With
    fewer, it is a difference that `matrix compare` shows to the run before. What else differs between these runs is
    named too. It reads the runs of this machine. With --stack or --region it reads those on AWS, however old: the
    results table keeps runs that Step Functions forgets.

    Example: matrix history ebs-gp3-100gib.touch.m6i.large-x1
    """
    runs = past.runs(Place(local, stack, region), cell)
    # scipy takes half a second to import, so `matrix --help` must not import it.
    from matrix.answer.history import history as history_of

    tracks = [track for track in history_of(runs) if any(each.cell.startswith(cell) for each in track.measured)]
    if not tracks:
        known = sorted({each["id"] for run in runs for each in run.summary.get("cells", [])})
        near = [name for name in known if cell in name] or known
        shown = ", ".join(near[:MAX_NAMES]) or "none: `matrix run FILE` measures some"
        meant = known_runs.meant(cell, known)
        raise UnknownRun(f"no run has measured a cell {cell}", f"{meant} cells that are known: {shown}".strip())
    if as_json:
        terminal.print_json([track_document(track, runs) for track in tracks])
    else:
        several = [track for track in tracks if all_ or len(track.measured) > 1]
        if not several and len(tracks) <= MAX_ALONE:
            several = tracks
        _show(terminal.stdout(), several, runs)
        if once := len(tracks) - len(several):
            points = count_of(once, "test point")
            terminal.print_wrapped(terminal.stdout(), f"{points} measured by one run only: --all")


def track_document(track: "Track", runs: "list[KeptRun]") -> dict[str, Any]:
    """Return one cell over time in the form of its JSON: with names of runs instead of numbers."""
    document = asdict(track)
    for each in [*document["measured"], *document["changes"]]:
        each |= {name: runs[each[name]].name for name in ("run", "before") if name in each}
    return document


STYLES = {"slower": "red", "faster": "green"}


def _show(console: Console, tracks: "Sequence[Track]", runs: "Sequence[KeptRun]") -> None:
    """Print a table for each point of the cell."""
    for number, track in enumerate(tracks):
        if number:
            console.print()
        better = "higher" if track.higher_is_better else "lower"
        what = f"{track.workload} ({track.point})" if track.point else track.workload
        head = (
            f"{track.storage}, {track.fleet}, {what}: {metric_title(track.metric, track.workload)}, {better} is better"
        )
        terminal.print_wrapped(console, Text.assemble((head, "bold"), (f"  {track.environment}", "dim")))
        rich_tables.show(console, _table(track, runs))
        for change in track.changes:
            words = Text.assemble(
                (f"{runs[change.run].name}: ", "bold"), (change.words, STYLES.get(change.verdict, ""))
            )
            terminal.print_wrapped(console, words)
            for fact in change.changed:
                terminal.print_wrapped(console, f"  {fact.fact}: {', '.join(fact.before)} → {', '.join(fact.after)}")
        if track.undecided:
            count = count_of(track.undecided, "run")
            note = f"{count}: too little was measured to tell a change; `matrix compare` has the reason"
            terminal.print_wrapped(console, Text(note, "yellow"))
        if track.published is not None and track.environment != "published":
            against = f" (not comparable: {'; '.join(track.objections)})" if track.objections else ""
            terminal.print_wrapped(console, f"Published: {quantity(track.published, track.unit)}{against}")


def _table(track: "Track", runs: "Sequence[KeptRun]") -> Table:
    """A row for each run, in the order of `runs`."""
    changes = {change.run: change.verdict for change in track.changes}
    rows = []
    for each in track.measured:
        verdict = changes.get(each.run, "")
        ends = (quantity(each.low, track.unit), quantity(each.high, track.unit))
        rows.append(
            (
                runs[each.run].name,
                instant(runs[each.run].summary.get("started_at")).removesuffix(" UTC"),
                TableCell(quantity(each.p50, track.unit), each.p50),
                ABSENT if each.low is None else " – ".join(ends),
                each.n,
                TableCell(verdict, tone=TONES.get(verdict, "")),
            )
        )
    return Table.of("", COLUMNS, rows)
