"""The table of the highest rates of open loops up to which a limit of latency was kept."""

from collections.abc import Iterator, Sequence

from matrix.input.storage_names import cell_names
from matrix.tables.table import RunTable, TableCell, TableColumn, TableRow
from matrix.terms.documents.parts import Point
from matrix.terms.documents.result import HighestRate, ResultDocument
from matrix.terms.figures import sample_count
from matrix.terms.names import describe_fleet, point_labels, reading_order
from matrix.terms.open_loop import offered_per_s

STORAGE, INSTANCES, POINT, LIMIT, HIGHEST = "Storage", "Instances", "Point", "P99 at most", "P50"
HEADS = (STORAGE, INSTANCES, POINT, LIMIT, "P0", HIGHEST, "P100", "Rates that were tried", "n/expected")


def highest_rates_table(cells: Sequence[ResultDocument]) -> RunTable:
    """Return a row for each sweep of rates with a limit; in operations per second of one instance."""
    rows = [TableRow([TableCell(text) for text in texts]) for texts in _rows(cells)]
    title = "Highest rate of one instance with its P99 within the limit"
    return RunTable(title, [TableColumn(head) for head in HEADS], rows)


def _rows(cells: Sequence[ResultDocument]) -> Iterator[tuple[str, ...]]:
    names = cell_names(cells)
    for cell in reading_order(cells):
        sweeps = cell.get("highest_rates") or []
        named: list[Point] = [{"id": str(index), "params": sweep["params"]} for index, sweep in enumerate(sweeps)]
        labels = point_labels(named)
        for index, sweep in enumerate(sweeps):
            metric = sweep["metric"]
            yield (
                names[cell["id"]],
                describe_fleet(cell["fleet"]),
                labels[str(index)],
                f"{sweep['p99_at_most_ms']:g} ms",
                f"{metric['p0']:g}/s",
                describe_highest(sweep),
                f"{metric['p100']:g}/s",
                ", ".join(f"{rate:g}" for rate in _tried(cell, sweep)),
                sample_count(metric),
            )


def describe_highest(sweep: HighestRate) -> str:
    """Write the highest rate of the median instance: `400/s, not 500`, `at least 800/s` (the highest tried), `none`."""
    kept, beyond = sweep["metric"]["p50"], sweep["beyond_per_s"]
    if beyond is None:
        return f"at least {kept:g}/s"
    return f"{kept:g}/s, not {beyond:g}" if kept else f"none, not even {beyond:g}/s"


def _tried(cell: ResultDocument, sweep: HighestRate) -> list[float]:
    points = {point["id"]: point for point in cell["points"]}
    return [offered for id_ in sweep["points"] if (offered := offered_per_s(points[id_]["params"])) is not None]
