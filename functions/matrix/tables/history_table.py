"""The table of one point of a cell over all runs that measured it."""

from collections.abc import Sequence

from matrix.answer.history import KeptRun, Track
from matrix.tables.compared_table import TONES
from matrix.tables.table import Table, TableCell, TableColumn, figures
from matrix.terms.quantities import ABSENT, instant, quantity

COLUMNS = (
    TableColumn("Run", "id"),
    TableColumn("Started (UTC)"),
    *figures("P50", "95 % interval", "n"),
    TableColumn("Change"),
)


def history_table(track: Track, runs: Sequence[KeptRun]) -> Table:
    """Return a row for each run, in the order of `runs`."""
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
