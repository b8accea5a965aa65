"""The figures of a measured point: each once, with its column in all tables and its columns in summary.csv."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from matrix.tables.table import TableCell, TableColumn, cell
from matrix.terms.figures import (
    PERCENTILES,
    SLOW_OF_RATES,
    figure,
    interval,
    percentile_of,
    percentiles_of,
    sample_count,
)
from matrix.terms.measured import Measured
from matrix.terms.names import describe_steadiness
from matrix.terms.quantities import ABSENT

# Writes a number without its unit, which the title has.
Write = Callable[[float | None], str]
Value = Callable[[Measured], object]


@dataclass(frozen=True)
class PointFigure:
    """A figure of a metric of a point. A new one is an entry of `FIGURES`: all outputs show it then."""

    column: TableColumn
    cell: Callable[[Measured, Write], TableCell]
    csv: Mapping[str, Value] = field(default_factory=dict)
    """Its columns in summary.csv; a new one follows the existing columns."""
    is_of_point: bool = False
    """Whether it is the same for all metrics of a point."""


def percentile_figure(name: str, metric: str = "", unit: str = "") -> PointFigure:
    """Return the figure of a percentile by its name, such as `p90`; a copy names its numbers by `metric` and `unit`."""

    def shown(measured: Measured, write: Write) -> TableCell:
        return TableCell(figure(measured.metric, name, write).strip(), percentile_of(measured.metric, name))

    column = TableColumn(name.upper(), "figure", exact=f"{metric} {name} ({unit})")
    return PointFigure(column, shown, {name: _of_metric(name)})


def _of_metric(key: str) -> Value:
    return lambda measured: measured.metric.get(key)


def _of_steadiness(key: str) -> Value:
    def value(measured: Measured) -> object:
        steadiness = measured.point.get("steadiness")
        return steadiness.get(key) if steadiness else None

    return value


def _end_of_median(key: str) -> Value:
    def value(measured: Measured) -> object:
        median = (measured.metric.get("intervals") or {}).get("p50")
        return median.get(key) if median else None

    return value


def _not_carried(measured: Measured) -> str:
    carried = measured.metric.get("carried") or {}
    return " ".join(name for name, is_enough in carried.items() if not is_enough)


def _interval(measured: Measured, write: Write) -> TableCell:
    return TableCell(interval(measured.metric, write))


def _count(measured: Measured, _: Write) -> TableCell:
    is_short = measured.metric.get("n") != measured.metric.get("expected_n")
    return TableCell(sample_count(measured.metric), tone="bad" if is_short else "")


def _steady(measured: Measured, _: Write) -> TableCell:
    return TableCell(describe_steadiness(measured.point.get("steadiness")))


def _independent(measured: Measured, _: Write) -> TableCell:
    return cell(measured.metric.get("independent_n"))


def _far_off(measured: Measured, _: Write) -> TableCell:
    outliers = measured.metric.get("outliers")
    return cell(outliers["count"] or None if outliers else None)


def _between(units: str) -> PointFigure:
    """Return the variation between launches, instances or repetitions, as coefficient of variation in per cent."""

    def shown(measured: Measured, _: Write) -> TableCell:
        spread: Mapping[str, object] = measured.metric.get("spread") or {}
        value = spread.get(f"between_{units}_cv")
        return TableCell(f"{100 * value:.1f} %", value) if isinstance(value, int | float) else TableCell(ABSENT)

    return PointFigure(TableColumn(f"Between {units}", "figure", is_detail=True), shown)


# Behind the percentiles, in the order of all tables.
FIGURES: tuple[PointFigure, ...] = (
    PointFigure(
        TableColumn("P50, 95 % interval", "figure"),
        _interval,
        {"p50_low": _end_of_median("low"), "p50_high": _end_of_median("high")},
    ),
    PointFigure(
        TableColumn("n", "figure"),
        _count,
        {"n": _of_metric("n"), "expected_n": _of_metric("expected_n")},
    ),
    PointFigure(
        TableColumn("Steady", is_detail=True),
        _steady,
        {
            "judged_samples": _of_steadiness("judged"),
            "steady_samples": _of_steadiness("steady"),
            "steady_from_s": _of_steadiness("from_s"),
            "steady_ratio": _of_steadiness("ratio"),
            "too_short_samples": _of_steadiness("too_short"),
            "too_noisy_samples": _of_steadiness("too_noisy"),
        },
        is_of_point=True,
    ),
    PointFigure(
        TableColumn("n, independent", "figure", is_detail=True),
        _independent,
        {"independent_n": _of_metric("independent_n"), "not_carried": _not_carried},
    ),
    *map(_between, ("launches", "instances", "repetitions")),
    PointFigure(TableColumn("Far off", "figure", is_detail=True), _far_off),
)


def shown_figures(measured: Sequence[Measured]) -> list[PointFigure]:
    """Return the figures that a table of one metric shows: its percentiles, the best first, then all others."""
    first, names = measured[0], percentiles_of(each.metric for each in measured)
    return [*(percentile_figure(name, first.name, first.unit) for name in names), *FIGURES]


_PERCENTILES = tuple(map(percentile_figure, (*PERCENTILES, *SLOW_OF_RATES)))


def _in_csv() -> Iterator[PointFigure]:
    yield from _PERCENTILES
    yield from FIGURES


def csv_columns() -> list[str]:
    """Return the columns of summary.csv that figures have."""
    return [column for each in _in_csv() for column in each.csv]


def csv_values(measured: Measured, *, are_of_metric: bool = False) -> dict[str, object]:
    """Return the figures of a row of summary.csv by column; `are_of_metric` leaves out figures of the whole point."""
    shown = (each for each in _in_csv() if not (are_of_metric and each.is_of_point))
    return {column: value(measured) for each in shown for column, value in each.csv.items()}
