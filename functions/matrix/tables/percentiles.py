"""The tables of percentiles: one for each workload and the metric that judges it, and one of all other metrics."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from matrix.tables.point_figures import shown_figures
from matrix.tables.table import Table, TableCell, TableColumn, TableNote, TableRow, figures, row
from matrix.terms.figures import PERCENTILES, percentile_of, percentiles_of, sample_count
from matrix.terms.grouping import grouped
from matrix.terms.measured import Measured
from matrix.terms.names import describe_fleet, describe_launch, direction, marked_label, marks
from matrix.terms.quantities import ABSENT, Column, latency, number

OTHER_COLUMNS = (
    *map(TableColumn, ("Cell", "Point", "Metric", "Unit")),
    *figures(*(name.upper() for name in PERCENTILES), "n"),
)


def other_metrics_table(measured: Iterable[Measured]) -> Table:
    """Return a row for each metric: its percentiles as they were measured, each with its own unit."""
    return Table("All other metrics", OTHER_COLUMNS, [row(_contents(each), each) for each in measured])


def _contents(each: Measured) -> list[object]:
    label = marked_label(each.label, each.point, each.cell)
    percentiles = (percentile_of(each.metric, name) for name in PERCENTILES)
    return [each.cell["id"], label, each.quantity, each.unit, *percentiles, sample_count(each.metric)]


# Returns the name of a storage in the table's place.
Name = Callable[[Measured], str]
SUBJECTS = (*map(TableColumn, ("Storage", "Instances", "Launches")), TableColumn("Point"))
GROUPED_BY = 3
DIRECTIONS = ("read", "write", "sync")
MS_US = 1000


def percentile_tables(measured: Iterable[Measured], name: Name) -> Iterator[Table]:
    """Yield a table for each workload and metric, with a row for each of these points, in their order.

    Behind one of fio comes a table of its reads and writes.
    """
    groups = grouped(((each.workload, each.name), each) for each in measured)
    for points in groups.values():
        yield _table(points, name)
        if (apart := _reads_and_writes(points, name)).rows:
            yield apart


def has_refused(measured: Iterable[Measured]) -> bool:
    """Return whether a percentile is shown as `≥`, `≤` or a dash because it has too few samples."""
    return any(not all((each.metric.get("carried") or {}).values()) for each in measured)


def _table(measured: Sequence[Measured], name: Name) -> Table:
    first, shown = measured[0], shown_figures(measured)
    names = percentiles_of(each.metric for each in measured)
    column = Column.of((percentile_of(each.metric, name) for each in measured for name in names), first.unit)
    rows = [
        TableRow([*_subject(each, name), *(figure.cell(each, column.write) for figure in shown), _marks(each)], each)
        for each in measured
    ]
    notes = [
        TableNote(f"Left out: {name(each)}, {each.fleet}: {each.left_out}.", each) for each in measured if each.left_out
    ]
    title = f"{first.workload}: {column.head(first.quantity)}, {direction(first.metric)}"
    columns = [*SUBJECTS, *(figure.column for figure in shown), TableColumn("Marks")]
    return Table(title, columns, rows, notes, GROUPED_BY)


def _subject(each: Measured, name: Name) -> list[TableCell]:
    return [
        TableCell(name(each)),
        TableCell(describe_fleet(each.cell["fleet"])),
        TableCell(describe_launch(each.cell)),
        TableCell(each.label),
    ]


def _marks(each: Measured) -> TableCell:
    return TableCell("; ".join([*(["left out"] if each.left_out else []), *marks(each.point, each.cell)]))


def _reads_and_writes(points: Iterable[Measured], name: Name) -> Table:
    """Return fio's rates and latencies of reads, writes and syncs, as medians over the samples."""
    rows = []
    for each in points:
        if each.cell["workload"]["type"] != "fio":
            continue
        for side in DIRECTIONS:
            # Files of fio may have only the latency from the submission on.
            is_whole = f"{side}_lat_p50_us" in each.point["metrics"]
            timed = side if is_whole else f"{side}_completion"
            metrics = (f"{side}_iops", f"{timed}_lat_p50_us", f"{timed}_lat_p99_us")
            rate, *latencies = [each.point["metrics"].get(metric) for metric in metrics]
            if rate or any(latencies):
                way = TableCell(timed.replace("_", " ") if latencies[0] else side)
                medians = [metric["p50"] if metric else None for metric in (rate, *latencies)]
                rows.append(TableRow([*_subject(each, name), way, *map(_median, medians, (False, True, True))], each))
    columns = [*SUBJECTS, TableColumn("Way"), *figures("IOPS", "P50 latency", "P99 latency")]
    return Table("fio, reads and writes apart (medians)", columns, rows, grouped_by=GROUPED_BY)


def _median(value: float | None, is_us: bool) -> TableCell:
    """Return a rate, or a latency in µs or ms, whichever text is shorter."""
    if value is None:
        return TableCell(ABSENT)
    if not is_us:
        return TableCell(number(value), value)
    return TableCell(f"{latency(value, in_ms=True)} ms" if value >= MS_US else f"{latency(value)} µs", value)
