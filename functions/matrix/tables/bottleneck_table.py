"""The table of each cell's bottleneck: its evidence, advice, and the other limits."""

from collections.abc import Callable

from matrix.tables.table import RunTable, TableCell, TableColumn, TableNote, TableRow
from matrix.terms.ceilings import bottlenecks, describe_limit
from matrix.terms.documents.bottleneck import Bottleneck
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.text.bottlenecks import PROVISIONAL, describe_evidence, describe_next_limit, describe_others

CELL, BOTTLENECK, EVIDENCE, NEXT = "Cell", "Bottleneck", "Evidence", "What to do next"
OTHERS, POINTS = "Other limits, used", "Points that reached it"
COLUMNS = (
    TableColumn(CELL, is_code=True),
    TableColumn(BOTTLENECK, is_strong=True),
    *(TableColumn(head) for head in (EVIDENCE, NEXT, OTHERS, POINTS)),
)


def bottleneck_table(
    summary: SummaryDocument, call: Callable[[ResultDocument], str] = lambda cell: cell["id"]
) -> RunTable:
    """Return a row for each cell that has a bottleneck, in reading order; `call` names a cell."""
    found = bottlenecks(summary)
    rows = [
        TableRow(
            [
                TableCell(text)
                for text in (
                    call(cell),
                    describe_limit(bottleneck["name"]),
                    describe_evidence(cell, bottleneck),
                    describe_next_limit(cell, bottleneck),
                    describe_others(bottleneck),
                    _points(bottleneck),
                )
            ]
        )
        for cell, bottleneck in found
    ]
    is_provisional = any(bottleneck["is_provisional"] for _, bottleneck in found)
    notes = [TableNote(PROVISIONAL)] if is_provisional else []
    return RunTable("The bottleneck of each cell", COLUMNS, rows, notes)


def _points(bottleneck: Bottleneck) -> str:
    points = bottleneck["points"]
    count = sum(name == bottleneck["name"] for name in points.values())
    return f"{count} of {len(points)}"
