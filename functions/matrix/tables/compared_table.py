"""The table of two runs, point by point."""

from collections.abc import Iterable, Mapping

from matrix.tables.table import Table, TableCell, TableColumn, TableNote, Tone, figures, row
from matrix.terms.documents.compared import ComparedPair, ComparedSide
from matrix.terms.metrics import metric_title
from matrix.terms.quantities import ABSENT, quantity

TONES: Mapping[str, Tone] = {"slower": "bad", "faster": "good", "cannot tell": "unsure"}
COLUMNS = (
    *map(TableColumn, ("Storage", "Fleet", "Point")),
    TableColumn("Metric", is_detail=True),
    *figures("Base", "Run", "Change"),
    TableColumn("What it means"),
)
# A change that differs by more from that of the medians beside it is explained.
MAX_APART = 0.005
OF_MEANS = (
    "Change: as its test, of geometric means (3 to 5 instances), over launches, from the median of five earlier runs, "
    "or of all runs by their trend; that of the two figures may differ."
)


def compared_table(pairs: Iterable[ComparedPair]) -> Table:
    """Return a row for each point that both runs have."""
    title, pairs = "Each cell and point that both runs have", list(pairs)
    notes = [TableNote(OF_MEANS, None)] if any(map(_is_of_means, pairs)) else []
    return Table(title, COLUMNS, [row(_contents(pair), pair) for pair in pairs], notes=notes, grouped_by=2)


def _is_of_means(pair: ComparedPair) -> bool:
    """Whether a change does not follow from the two figures beside it."""
    base, run = (pair[side]["figure"] if pair[side] else None for side in ("base", "run"))
    return bool(base and run and pair["ratio"] and abs(pair["ratio"] / (run / base) - 1) > MAX_APART)


def _contents(pair: ComparedPair) -> tuple[object, ...]:
    return (
        pair["storage"],
        pair["fleet"],
        ", ".join(
            [pair["workload"], pair["point"], *([pair["percentile"].upper()] if pair["percentile"] != "p50" else [])]
        ),
        metric_title(pair["metric"], pair["workload"]),
        _figure(pair["base"], pair["unit"]),
        _figure(pair["run"], pair["unit"]),
        _change(pair["ratio"]),
        TableCell(pair["words"], tone=TONES.get(pair["verdict"], "")),
    )


def _figure(side: ComparedSide | None, unit: str) -> TableCell:
    return TableCell(quantity(side["figure"], unit), side["figure"]) if side else TableCell(ABSENT)


def _change(ratio: float | None) -> TableCell:
    """Return the relative change of the figure itself: `+12.5 %`; the verdict's words say whether that is better."""
    return TableCell(ABSENT if ratio is None else f"{round(100 * (ratio - 1), 1) + 0.0:+.1f} %", ratio)
