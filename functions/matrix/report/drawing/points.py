"""The figures behind a drawing, for the page's script: what stands under the pointer, and what a CSV file holds."""

from typing import Any

from matrix.report.charts.chart import Chart, Series
from matrix.report.drawing.svg import Plot


def points(chart: Chart) -> dict[str, Any]:
    """Return each series as columns: values, ends of intervals, and its places (x, y, x, y, …) with words.

    In a chart of rows `y` is the number of a row.
    """
    plot = Plot(chart)
    drawn = [series for series in chart.series if len(series.x)]
    groups = list(dict.fromkeys(series.legend for series in drawn))
    return {
        "heads": ["series", *_heads(chart), "low", "high"],
        "rows": list(plot.rows),
        "series": [_columns(plot, series) | {"group": groups.index(series.legend)} for series in drawn],
    }


def _heads(chart: Chart) -> tuple[str, str]:
    """Name both axes; a file has the metric's own name, which people do not read in the page."""
    if chart.categories:
        return chart.metric or chart.x_title, "row"
    return chart.x_title, chart.metric or chart.y_title


def _columns(plot: Plot, series: Series) -> dict[str, Any]:
    y = [plot.rows.get(str(value), value) for value in series.y]
    columns: dict[str, Any] = {"name": series.name, "x": list(series.x), "y": y}
    if series.low is not None and series.high is not None and any(value is not None for value in series.low):
        columns |= {"low": list(series.low), "high": list(series.high)}
    if series.hover is not None:
        columns |= {"words": list(series.hover)} if series.hover else {}
        # A point without a place is out of reach.
        columns["at"] = [round(unit) for place in plot.places(series) for unit in place or (-1e4, -1e4)]
    return columns
