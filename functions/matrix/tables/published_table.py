"""The table of a run's figures beside the published ones."""

from collections.abc import Iterable, Sequence

from matrix.tables.table import Table, TableCell, TableColumn
from matrix.terms.documents.compared import PublishedComparison
from matrix.terms.quantities import ABSENT, quantity


def _column(name: str, head: str = "", *, is_detail: bool = False) -> TableColumn:
    return TableColumn(head or name.replace("_", " ").capitalize(), exact=name, is_detail=is_detail)


COLUMNS = (
    _column("cell", is_detail=True),
    _column("storage"),
    TableColumn("Instances", "figure", "instances"),
    _column("point"),
    *(_column(name, is_detail=True) for name in ("metric", "unit")),
    _column("percentile", "Level"),
    *(TableColumn(name.capitalize(), "figure", name) for name in ("ours", "published")),
    _column("date"),
    TableColumn("Ratio", "figure", "ratio"),
    _column("comparable", is_detail=True),
    _column("why_not", "Not comparable"),
    _column("differs"),
    _column("source", is_detail=True),
)


def published_table(rows: Iterable[PublishedComparison]) -> Table:
    """Return a row for each figure with a published one; the ratio stands there even if they are not comparable."""
    return Table.of("", COLUMNS, map(_contents, rows))


def _contents(each: PublishedComparison) -> Sequence[object]:
    ratio = each["ratio"]
    return (
        *(each["cell"], each["storage"], each["instances"], each["point"], each["metric"], each["unit"]),
        TableCell(each["percentile"].upper(), each["percentile"]),
        *(TableCell(quantity(value, each["unit"]), value) for value in (each["ours"], each["published"])),
        *(each["date"], TableCell(ABSENT if ratio is None else f"{ratio:.2f}", ratio), each["comparable"]),
        TableCell("; ".join(each["why_not"]), tone="unsure"),
        *("; ".join(each["differs"]), each["source"]),
    )
