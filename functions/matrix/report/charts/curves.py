"""The rate of each instance over the seconds of one step, if it was recorded: it shows the length of a burst."""

from collections.abc import Iterator

from matrix.report.charts.chart import MAX_SERIES, Chart, Series, few_lines, thinned
from matrix.report.view import Entry, View
from matrix.terms.grouping import grouped

# Words for each counter.
COUNTERS = {
    "network_sent_bytes": "sent over the network",
    "network_received_bytes": "received over the network",
    "disk_write_bytes": "written to the disk",
    "disk_read_bytes": "read from the disk",
    "file_bytes": "by which the file grew",
    "operation_bytes": "of the operations that ended",
}
HEADS = ("Storage", "Point", "Instance", "Repetition", "Median burst MB/s", "Median baseline MB/s", "Burst s")


def curves(view: View) -> Iterator[Chart]:
    """One chart for each cell with rates of each second."""
    cells = grouped((entry.cell["id"], entry) for entry in view.entries if entry.point.get("rates"))
    for number, entries in enumerate(cells.values(), start=1):
        yield _chart(view, number, entries)


def _chart(view: View, number: int, entries: list[Entry]) -> Chart:
    drawn = [(entry, curve) for entry in entries for curve in entry.point["rates"]]
    counters = sorted({COUNTERS.get(curve["counter"], curve["counter"]) for _, curve in drawn})
    series = []
    for style, (entry, curve) in enumerate(drawn[:MAX_SERIES]):
        shown = thinned(len(curve["seconds"]))
        name = f"{curve['instance']}, {entry.label}, repetition {curve['repetition']}"
        x, y = ([curve[column][index] for index in shown] for column in ("seconds", "mb_per_s"))
        series.append(Series(name, x, y, style=style, width=1.5))
    first = entries[0]
    return Chart(
        id=f"curve-{number}",
        title=f"{first.workload} on {first.fleet}, {first.storage}: MB/s in each second",
        reads=f"Bytes {' or '.join(counters)}, each second. A fall to a lower level that lasts is the end of a burst.",
        x_title="seconds since the start of the step",
        y_title="MB/s",
        series=series,
        notes=few_lines(len(drawn), "those of the first points"),
        heads=HEADS,
        rows=[row for entry in entries for row in _rows(entry)],
        is_from_zero=True,
        of=view.facets.marks(storage=first.storage, workload=first.workload, fleet=first.fleet),
    )


def _rows(entry: Entry) -> Iterator[tuple[object, ...]]:
    """Return the rate levels of each sample that its agent detected; None if the rate never fell."""
    samples = entry.samples
    if samples is None:
        return
    for index, (instance, repetition) in enumerate(zip(samples["instance"], samples["repetition"], strict=True)):
        names = ("burst_mb_per_s", "baseline_mb_per_s", "burst_s")
        levels = ((samples["metrics"].get(name) or {index: None})[index] for name in names)
        yield (entry.storage, entry.label, instance, repetition, *levels)
