"""The table of the highest rates of open loops up to which a limit of latency was kept."""

from collections.abc import Iterator, Sequence

from matrix.input.storage_names import cell_names
from matrix.tables.table import Table, TableColumn, figures
from matrix.terms.documents.parts import Point
from matrix.terms.documents.result import HighestRate, ResultDocument
from matrix.terms.figures import sample_count
from matrix.terms.names import describe_fleet, point_labels, reading_order
from matrix.terms.open_loop import offered_per_s

HEADS = (
    *map(TableColumn, ("Storage", "Instances", "Point")),
    *figures("P99 at most", "P0"),
    TableColumn("P50"),
    *figures("P100"),
    *map(TableColumn, ("Rates that were tried", "n")),
)


def highest_rates_table(cells: Sequence[ResultDocument]) -> Table:
    """Return a row for each sweep of rates with a limit; in operations per second of one instance."""
    return Table.of("Highest rate of one instance with its P99 within the limit", HEADS, _rows(cells), grouped_by=2)


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
