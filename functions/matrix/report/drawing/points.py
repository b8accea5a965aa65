"""The figures of a drawing, for the page's script: tooltips, and the content of a CSV file."""

import math
from collections.abc import Sequence
from typing import Any

from matrix.report.charts.chart import Chart, Series, Value
from matrix.report.drawing.svg import Plot

# For larger numbers, such as times, nine digits are too few.
LARGE = 1e6


def points(chart: Chart) -> dict[str, Any]:
    """Return each series as columns: values, ends of intervals, and texts of tooltips.

    `axes` are the ends of each axis and whether it is logarithmic: the script computes positions of values from them.
    A series without `x` has the `x` of the series before it.
    """
    plot = Plot(chart)
    drawn = [series for series in chart.series if len(series.x)]
    groups = list(dict.fromkeys(series.legend for series in drawn))
    columns = [_columns(series) | {"group": groups.index(series.legend)} for series in drawn]
    # Lines over the same places have them once, with the first of them.
    x = [of_series["x"] for of_series in columns]
    for of_series, before, own in zip(columns[1:], x, x[1:], strict=False):
        if own == before:
            del of_series["x"]
    return {
        "heads": ["series", *_heads(chart), "low", "high"],
        "axes": [[_exact(axis.low), _exact(axis.high), int(axis.is_log)] for axis in (plot.x, plot.y)],
        "series": columns,
    }


def _heads(chart: Chart) -> tuple[str, str]:
    """Name both axes; a file has the metric's own name, which people do not read in the page."""
    return chart.x_title, chart.metric or chart.y_title


def _columns(series: Series) -> dict[str, Any]:
    columns: dict[str, Any] = {"name": series.name, "x": _all(series.x), "y": _all(series.y)}
    if series.low is not None and series.high is not None and any(value is not None for value in series.low):
        columns |= {"low": _all(series.low), "high": _all(series.high)}
    return columns if series.hover is None else columns | {"words": list(series.hover)}


def _all(values: Sequence[Value]) -> list[Value]:
    return [_exact(value) for value in values]


def _exact(value: Value) -> Value:
    """Leave out the digits that no clock and no counter has; a page has thousands of them."""
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    return int(value) if value.is_integer() else float(f"{value:.9g}") if abs(value) < LARGE else round(value, 3)
