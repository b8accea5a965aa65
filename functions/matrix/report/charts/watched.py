"""What CloudWatch counted of a cell's storage, minute by minute: throughput, IOPS, utilisation, credits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matrix.answer.costs import storage_limits
from matrix.report.charts.chart import MOST_SERIES, Chart, Series
from matrix.report.view import Entry, View
from matrix.samples import cloudwatch
from matrix.terms.figures import quantity

# What AWS counts of a storage's bytes and operations, minute by minute.
COUNTED = {
    "ebs": ("AWS/EBS VolumeReadBytes", "AWS/EBS VolumeWriteBytes"),
    "efs": ("AWS/EFS DataReadIOBytes", "AWS/EFS DataWriteIOBytes"),
    "fsx-openzfs": ("AWS/FSx DataReadBytes", "AWS/FSx DataWriteBytes"),
}
OPERATIONS = {
    "ebs": (("AWS/EBS VolumeReadOps", None), ("AWS/EBS VolumeWriteOps", None)),
    "efs": (("AWS/EFS DataReadIOBytes", "SampleCount"), ("AWS/EFS DataWriteIOBytes", "SampleCount")),
    "fsx-openzfs": (("AWS/FSx DataReadOperations", None), ("AWS/FSx DataWriteOperations", None)),
}
PERMITTED = "AWS/EFS PermittedThroughput"
MB = 1e6
Curve = tuple[list[float], list[float]]


@dataclass(frozen=True)
class Panel:
    """One chart of a cell: what it is about, its unit, how it is read."""

    id: str
    about: str
    unit: str
    reads: str


THROUGHPUT = Panel(
    "mb", "bytes that its storage counted", "MB/s", "All resources of the cell, each minute at its middle."
)
IOPS = Panel(
    "iops", "operations that its storage counted", "IOPS", "All resources of the cell, each minute at its middle."
)
SHARES = Panel(
    "shares", "use and credits of its storage", "%", "Use near 100 is a limit; a balance near 0, credits that run out."
)
CREDITS = Panel("credits", "burst credits of its storage", "GiB", "A slope downwards lasts until it reaches zero.")


def moved_bytes(view: View, entry: Entry, begun: float, scale: float | None) -> Curve | None:
    """Return seconds and bytes per second over `scale`; None where not all of a cell's resources were asked for."""
    kept = (view.results.get(entry.cell["id"]) or {}).get("cloudwatch")
    names = COUNTED.get(str(entry.cell["storage"].get("type")), ())
    if not kept or scale is None or not _is_whole(kept):
        return None
    return _per_s([curve for name in names for curve in cloudwatch.values(kept, name)], begun, scale)


def in_charts(view: View, number: int, entry: Entry, begun: float) -> Iterator[Chart]:
    """Yield the charts of a cell whose storage CloudWatch counted something of."""
    kept = (view.results.get(entry.cell["id"]) or {}).get("cloudwatch")
    if not kept or not kept.get("series"):
        return
    kind = str(entry.cell["storage"].get("type"))
    limits = storage_limits(dict(entry.cell["storage"]), entry.instances)
    of = view.facets.marks(storage=entry.storage)
    if _is_whole(kept):
        moved = [curve for name in COUNTED.get(kind, ()) for curve in cloudwatch.values(kept, name)]
        permitted = _at(cloudwatch.values(kept, PERMITTED), begun, MB)
        lines = _line("moved", _per_s(moved, begun, MB), "MB/s", of)
        lines += _line("permitted by EFS", permitted, "MB/s", of, style=1)
        yield from _panel(view, number, entry, THROUGHPUT, lines, limits.get("MB/s"))
        operations = [curve for pair in OPERATIONS.get(kind, ()) for curve in cloudwatch.values(kept, *pair)]
        lines = _line("operations", _per_s(operations, begun, 1.0), "IOPS", of)
        yield from _panel(view, number, entry, IOPS, lines, limits.get("IOPS"))
    names = dict.fromkeys((each["namespace"], each["metric"]) for each in kept["series"] if each["unit"] == "%")
    lines = [line for style, (namespace, metric) in enumerate(names)
             for line in _line(metric, _extreme(kept, namespace, metric, begun), "%", of, style=style)]  # fmt: skip
    yield from _panel(view, number, entry, SHARES, lines[:MOST_SERIES], None)
    credits_left = _at(cloudwatch.values(kept, "AWS/EFS BurstCreditBalance"), begun, 2.0**30)
    yield from _panel(view, number, entry, CREDITS, _line("BurstCreditBalance", credits_left, "GiB", of), None)


def _is_whole(kept: cloudwatch.Document) -> bool:
    return bool(len(kept["resources"]["instances"]) >= kept["resources"]["of"])


def _per_s(series: Sequence[cloudwatch.Series], begun: float, scale: float) -> Curve | None:
    """Add up sums of all resources, as a rate in the middle of each period."""
    moved: dict[float, float] = {}
    for curve in series:
        for at, value in curve:
            middle = round(at + curve.period_s / 2 - begun, 3)
            moved[middle] = moved.get(middle, 0.0) + value / curve.period_s / scale
    return (sorted(moved), [moved[at] for at in sorted(moved)]) if moved else None


def _at(series: Sequence[cloudwatch.Series], begun: float, scale: float) -> Curve | None:
    """Return the values of one resource as they are."""
    pairs = sorted(
        (round(at + curve.period_s / 2 - begun, 3), value / scale) for curve in series for at, value in curve
    )
    return ([at for at, _ in pairs], [value for _, value in pairs]) if pairs else None


def _extreme(kept: cloudwatch.Document, namespace: str, metric: str, begun: float) -> Curve | None:
    """Return of all resources what is nearest to a limit: the least balance, else the greatest value."""
    nearest = min if "Balance" in metric else max
    values: dict[float, float] = {}
    for curve in cloudwatch.values(kept, f"{namespace} {metric}"):
        for at, value in curve:
            middle = round(at + curve.period_s / 2 - begun, 3)
            values[middle] = nearest(values.get(middle, value), value)
    return (sorted(values), [values[at] for at in sorted(values)]) if values else None


def _line(name: str, curve: Curve | None, unit: str, of: dict[str, str], *, style: int = 0) -> list[Series]:
    if curve is None:
        return []
    x, y = curve
    return [Series(name, x, y, "line", style, hover=[quantity(value, unit) for value in y], of=of, width=1.5)]


def _panel(
    view: View, number: int, entry: Entry, panel: Panel, lines: list[Series], limit: tuple[float, str] | None
) -> Iterator[Chart]:
    if not lines:
        return
    yield Chart(
        id=f"watched-{number}-{panel.id}",
        title=f"{entry.workload} on {entry.fleet}, {entry.storage}: {panel.about}, by CloudWatch",
        reads=panel.reads,
        x_title="seconds since the first start of the cell",
        y_title=panel.unit,
        series=lines,
        is_from_zero=True,
        limit=(limit[0], f"{limit[1]}: {quantity(limit[0], panel.unit)}") if limit else None,
        of=view.facets.marks(storage=entry.storage, workload=entry.workload, fleet=entry.fleet),
    )
