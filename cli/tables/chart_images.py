"""The charts of a report as SVG and PNG for other documents, drawn by matplotlib without a browser."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matrix.report.charts import sections
from matrix.report.charts.chart import Chart, Series, minute_ticks
from matrix.report.page import view_of
from matrix.terms.documents.summary import SummaryDocument

# The light half of the page's palette (page.js), with the same markers in the same order.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07500", "#2F9BD8", "#000000", "#7A7A00")
MARKERS = ("o", "D", "s", "^", "P", "v", "p", "*")
DOTS_PER_INCH = 150
WIDTH_INCH = 8.0
PIXELS_PER_INCH = 90.0


def write(summary: SummaryDocument, known: dict[str, Any], folder: Path) -> int:
    """Write each chart of a run into a folder and return how many there are."""
    # matplotlib makes a folder for settings, of which we read none: beside its list of fonts, not in ~/.config.
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    os.environ.setdefault("MPLCONFIGDIR", str(cache / "matplotlib"))
    import matplotlib as mpl

    mpl.use("agg")
    # A fixed salt for ids in SVG, so that equal figures give equal files.
    mpl.rcParams.update({"svg.hashsalt": "storage-matrix", "font.size": 9, "svg.fonttype": "none"})
    folder.mkdir(parents=True, exist_ok=True)
    drawn = [chart for section in sections(view_of(summary, **known)) for chart in section.charts]
    for chart in drawn:
        _write(chart, folder)
    return len(drawn)


def _write(chart: Chart, folder: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_INCH, chart.height / PIXELS_PER_INCH + 1.0), layout="constrained")
    axes = figure.subplots()
    for series in chart.series:
        if not series.is_off:
            _draw(axes, series, chart)
    _axes(axes, chart)
    axes.set_title(_plain(chart.title), loc="left", fontweight="bold", wrap=True)
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        figure.legend(handles, labels, loc="outside lower left", ncols=2, frameon=False, fontsize=8)
    figure.savefig(folder / f"{chart.id}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{chart.id}.png", dpi=DOTS_PER_INCH, metadata={"Software": None})


def _draw(axes: Any, series: Series, chart: Chart) -> None:
    colour = COLOURS[series.style % len(COLOURS)]
    marker = MARKERS[(series.style + series.style // len(MARKERS)) % len(MARKERS)]
    x, y = _numbers(series.x, ()), _numbers(series.y, chart.categories)
    label = _plain(series.name) if series.legend == series.name else None
    look: dict[str, Any] = {"color": colour, "linewidth": series.width, "label": label}
    dash = "-." if series.kind == "limit" else ":" if series.is_hollow else "--" if series.is_dashed else "-"
    face = "none" if series.is_hollow else colour
    match series.kind:
        case "segments":
            axes.plot(x, y, **look, linestyle="-", alpha=0.45 if series.width > 2 else 0.9)  # noqa: PLR2004
        case "dots":
            axes.plot(x, y, **look, linestyle="none", marker=marker, markerfacecolor=face, markersize=6)
        case "ticks":
            axes.plot(x, y, **look, linestyle="none", marker="|", markersize=9)
        case "steps":
            axes.plot(x, y, **look, linestyle=dash, drawstyle="steps-post")
        case _:
            shown = "" if series.kind == "limit" else marker
            axes.plot(x, y, **look, linestyle=dash, marker=shown, markerfacecolor=face, markersize=5)
    if series.low is not None and series.high is not None:
        _interval(axes, series, (x, y), chart, colour)


def _interval(axes: Any, series: Series, at: tuple[list[float], list[float]], chart: Chart, colour: str) -> None:
    x, y = at
    for i, (low, high) in enumerate(zip(series.low or (), series.high or (), strict=True)):
        if low is None or high is None:
            continue
        ends = [float(low), float(high)]
        if chart.categories:
            axes.plot(ends, [y[i]] * 2, color=colour, marker="|", linewidth=1.2)
        else:
            axes.plot([x[i]] * 2, ends, color=colour, marker="_", linewidth=1.2)


def _axes(axes: Any, chart: Chart) -> None:
    axes.set_xlabel(_plain(chart.x_title))
    axes.set_ylabel(_plain(chart.y_title))
    axes.grid(visible=True, color="#d5d9df", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if chart.is_x_log:
        _make_log(axes.set_xscale, axes.xaxis)
    if chart.is_y_log:
        _make_log(axes.set_yscale, axes.yaxis)
    if chart.ticks and len(chart.ticks) <= 12:  # noqa: PLR2004 - more labels would lie on each other
        axes.set_xticks(list(chart.ticks), [chart.tick_text(tick) for tick in chart.ticks], minor=False)
        axes.minorticks_off()
    if chart.categories:
        names = [_plain(category) for category in chart.categories]
        axes.set_yticks(range(len(names), 0, -1), names)
        axes.set_ylim(0.4, len(names) + 0.6)
    if chart.limit is not None:
        line = axes.axvline if chart.categories else axes.axhline
        line(chart.limit[0], color="#16191d", linestyle="--", linewidth=1.2, label=_plain(chart.limit[1]))
    on_values = axes.xaxis if chart.categories else axes.yaxis
    if chart.is_from_zero and not (chart.is_x_log if chart.categories else chart.is_y_log):
        (axes.set_xlim if chart.categories else axes.set_ylim)(0, None)
    if chart.is_in_seconds:
        minutes = minute_ticks(float((axes.get_xlim() if chart.categories else axes.get_ylim())[1]))
        if minutes:
            on_values.set_ticks([at for at, _ in minutes], [text for _, text in minutes])


def _make_log(set_scale: Any, axis: Any) -> None:
    """Ticks at 1, 2, 5, 10 and so on in plain figures; matplotlib's own are powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    set_scale("log")
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))


def _numbers(values: Sequence[Any], categories: Sequence[str]) -> list[float]:
    """Return values as numbers, with rows numbered from the top; a missing value becomes a gap."""
    places = {name: len(categories) - i for i, name in enumerate(categories)}
    numbers = [places[value] if isinstance(value, str) else value for value in values]
    return [float("nan") if number is None else float(number) for number in numbers]


def _plain(text: str) -> str:
    """Escape dollar signs, which matplotlib takes for mathematics."""
    return text.replace("$", "\\$")
