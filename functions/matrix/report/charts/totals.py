"""The rate of a whole fleet over its size: limits of shared storages apply to this figure."""

from collections.abc import Iterator, Sequence
from statistics import median

from matrix.answer.costs import storage_limits
from matrix.input.emulation import MARK
from matrix.report.charts.chart import NEAR_LIMIT, Chart, Series
from matrix.report.charts.labels import point_title, slug
from matrix.report.view import Entry, View
from matrix.tables.fleet_rates_table import BUILDS, done_per_s
from matrix.terms.grouping import grouped
from matrix.terms.quantities import quantity


def totals(view: View) -> Iterator[Chart]:
    """Yield a chart for each point that was measured with fleets of several sizes."""
    for (workload, label, _), entries in view.by("workload", "label", "name").items():
        known = [(entry, total) for entry in entries if not entry.left_out and (total := _total(entry)) is not None]
        # One chart has one unit, and one way in which its figures came about.
        alike = [(entry, value) for entry, (value, unit, way) in known if (unit, way) == known[0][1][1:]]
        by_storage = grouped(
            (entry.storage, (entry, value)) for (entry, value) in sorted(alike, key=lambda pair: pair[0].instances)
        )
        curves = [curve for curve in by_storage.values() if len({entry.instances for entry, _ in curve}) > 1]
        if curves:
            yield _chart(view, workload, label, curves, *known[0][1][1:])


def _total(entry: Entry) -> tuple[float, str, str] | None:
    """Return a fleet's rate per second, its unit, and its source."""
    rates = [done for rate in entry.point.get("fleet") or [] if (done := done_per_s(rate)) is not None]
    if rates:
        way = "Median of the repetitions: all that was done, over the time from the first start to the last end."
        return median(value for value, _ in rates), rates[0][1], way
    middle = entry.metric.get("p50")
    if not middle:
        return None
    if entry.higher_is_better:
        return entry.instances * middle, entry.unit, "Instances times the median of one: no times are known."
    if entry.workload in ("build", "yocto"):
        way = "Number of instances divided by the median time of one: when each began and ended is not known."
        return 3600.0 * entry.instances / middle, BUILDS, way
    return None


def _chart(
    view: View, workload: str, label: str, curves: Sequence[Sequence[tuple[Entry, float]]], unit: str, way: str
) -> Chart:
    peak = max(value for curve in curves for _, value in curve)
    sizes = sorted({entry.instances for curve in curves for entry, _ in curve})
    drawn = [line for curve in curves for line in _lines(view, curve, unit, peak)]
    limited = " Dash-dotted: the most that the storage gives on AWS." if len(drawn) > len(curves) else ""
    return Chart(
        id=f"totals-{slug(f'{workload}-{label}')}",
        title=f"{point_title(workload, label)}: {unit} of the whole fleet over its size",
        reads=f"{way} Straight: each instance does as much as one alone. Flat: more of them get no more done.{limited}",
        x_title="instances that work at the same time",
        y_title=f"whole fleet ({unit})",
        series=drawn,
        heads=("Storage", "Instances", f"Whole fleet ({unit})"),
        rows=[(entry.storage, entry.instances, value) for curve in curves for entry, value in curve],
        is_from_zero=True,
        ticks=tuple(float(size) for size in sizes),
        of=view.facets.marks(workload=workload, label=label),
    )


def _lines(view: View, curve: Sequence[tuple[Entry, float]], unit: str, peak: float) -> Iterator[Series]:
    first, sizes = curve[0][0], [entry.instances for entry, _ in curve]
    of = view.facets.marks(storage=first.storage)
    words = [f"{entry.fleet}<br>{quantity(value, unit)}" for entry, value in curve]
    yield Series(first.storage, sizes, [value for _, value in curve], "line", first.style, hover=words, of=of)
    storage = {key: value for key, value in first.cell["storage"].items() if key != MARK}
    limits = [storage_limits(storage, size).get(unit) for size in sizes]
    if all(limit is not None and limit[0] <= NEAR_LIMIT * peak for limit in limits):
        yield Series(f"{first.storage}, limit", sizes, [limit[0] for limit in limits if limit], "limit", first.style,
                     group=first.storage, of=of)  # fmt: skip
