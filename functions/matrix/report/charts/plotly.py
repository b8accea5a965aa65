"""A chart as Plotly draws it. Colours are put in by the page's script, which knows whether it is dark."""

import math
from html import escape
from typing import Any

from matrix.report.charts.chart import Chart, Series, minute_ticks

# Markers and dashes tell series apart for readers who cannot by colour.
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down", "pentagon", "star")


def figure(chart: Chart) -> dict[str, Any]:
    """Return data and layout; `meta.style` is the place in the palette, `meta.legend` what the legend switches."""
    seen: set[str] = set()
    return {
        "data": [_trace(series, chart, seen) for series in chart.series if len(series.x)],
        "layout": _layout(chart),
    }


def _trace(series: Series, chart: Chart, seen: set[str]) -> dict[str, Any]:
    is_first = series.legend not in seen
    seen.add(series.legend)
    # The ninth storage has the colour of the first, so it gets another marker.
    symbol = SYMBOLS[(series.style + series.style // len(SYMBOLS)) % len(SYMBOLS)] + (
        "-open" if series.is_hollow else ""
    )
    modes = {"dots": "markers", "ticks": "markers", "line": "lines+markers", "segments": "lines+markers"}
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": modes.get(series.kind, "lines"),
        "name": series.name,
        "x": list(series.x),
        "y": [escape(value) if isinstance(value, str) else value for value in series.y],
        "meta": {
            "style": series.style,
            "legend": series.legend,
            "first": is_first,
            "kind": series.kind,
            "off": series.is_off,
        },
        "line": {"width": series.width, "dash": _dash(series), "shape": "hv" if series.kind == "steps" else "linear"},
        "marker": {"symbol": "line-ns-open" if series.kind == "ticks" else symbol, "size": 9},
        "connectgaps": False,
        "showlegend": False,
    }
    if series.kind == "segments":
        # Plotly draws bare lines up to the edge of the plot; invisible markers keep a margin.
        trace["marker"] |= {"opacity": 0}
    if series.labels is not None:
        trace |= {"mode": f"{trace['mode']}+text", "text": list(series.labels), "textposition": "top center"}
    if series.hover is not None:
        # Plotly interprets some tags in hover texts, so all but line ends are escaped.
        trace["hovertext"] = ["<br>".join(escape(part) for part in text.split("<br>")) for text in series.hover]
        trace["hoverinfo"] = "text"
    else:
        trace["hoverinfo"] = "skip"
    if series.is_hollow and series.kind == "line" and series.hover is None:
        trace["mode"] = "lines"
    if series.low is not None and series.high is not None and any(value is not None for value in series.low):
        trace["error_x" if chart.categories else "error_y"] = _error(series, chart)
    return trace


def _dash(series: Series) -> str:
    if series.kind == "limit":
        return "dashdot"
    if series.is_hollow:
        return "dot"
    return "dash" if series.is_dashed else "solid"


def _error(series: Series, chart: Chart) -> dict[str, Any]:
    values = series.x if chart.categories else series.y
    ends = list(zip(values, series.low or [], series.high or [], strict=True))
    return {
        "type": "data",
        "symmetric": False,
        "array": [_gap(high, value) for value, _, high in ends],
        "arrayminus": [_gap(value, low) for value, low, _ in ends],
        "thickness": 1.5,
        "width": 5,
    }


def _gap(high: Any, low: Any) -> float:
    return max(0.0, float(high) - float(low)) if high is not None and low is not None else 0.0


def _layout(chart: Chart) -> dict[str, Any]:
    plain = {"automargin": True, "exponentformat": "none", "separatethousands": True}
    x: dict[str, Any] = {"title": {"text": escape(chart.x_title)}, **plain}
    y: dict[str, Any] = {"title": {"text": escape(chart.y_title)}, **plain}
    values = [float(v) for series in chart.series for v in (series.x if chart.categories else series.y)
              if isinstance(v, (int, float))]  # fmt: skip
    minutes = minute_ticks(max(values, default=0.0)) if chart.is_in_seconds else []
    if minutes:
        on_values = x if chart.categories else y
        on_values |= {"tickvals": [at for at, _ in minutes], "ticktext": [text for _, text in minutes]}
    if chart.is_x_log:
        x |= _log_axis([value for series in chart.series for value in series.x])
    if chart.is_y_log:
        y |= _log_axis([value for series in chart.series for value in series.y])
    if chart.is_y_share:
        shares = (1.0, 0.5, 0.1, 0.01, 0.001, 0.0001, 0.00001)
        y |= {"tickvals": list(shares), "ticktext": [f"{100 * share:g} %" for share in shares]}
    if chart.ticks and len(chart.ticks) <= 12:  # noqa: PLR2004 - more labels would lie on each other
        x |= {"tickvals": list(chart.ticks), "ticktext": [chart.tick_text(value) for value in chart.ticks]}
    if chart.categories:
        order = [escape(category) for category in reversed(chart.categories)]
        y |= {"type": "category", "categoryorder": "array", "categoryarray": order, "range": [-0.6, len(order) - 0.4]}
        if chart.is_from_zero and not chart.is_x_log:
            x |= {"rangemode": "tozero"}
    elif chart.is_from_zero and not chart.is_y_log:
        y |= {"rangemode": "tozero"}
    return {
        "xaxis": x,
        "yaxis": y,
        "height": chart.height,
        "margin": {"l": 10, "r": 16, "t": 28 if chart.limit else 12, "b": 10},
        "hovermode": "closest",
        "dragmode": False,
        **_limit(chart),
    }


def _limit(chart: Chart) -> dict[str, Any]:
    """Draw a line at the objective's limit; the page's script colours it."""
    if chart.limit is None:
        return {}
    value, text = chart.limit
    is_log = chart.is_x_log if chart.categories else chart.is_y_log
    at = math.log10(value) if is_log else value
    along, across = ("x", "y") if chart.categories else ("y", "x")
    line = {"type": "line", f"{along}0": value, f"{along}1": value, f"{across}0": 0, f"{across}1": 1}
    note = {along: at, across: 1, "text": escape(text), "showarrow": False, "yanchor": "bottom", "xanchor": "right"}
    references = {f"{across}ref": "paper"}
    return {"shapes": [line | references], "annotations": [note | references]}


def _log_axis(values: list[Any]) -> dict[str, Any]:
    """Return an axis with ticks at decades; where there are fewer than three, at 1, 2 and 5 of each."""
    known = [float(value) for value in values if isinstance(value, (int, float)) and value > 0]
    is_long = bool(known) and max(known) / min(known) >= 1000  # noqa: PLR2004 - three decades
    return {"type": "log", "exponentformat": "none", "dtick": 1 if is_long else "D2"}
