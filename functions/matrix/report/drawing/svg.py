"""A chart as SVG that stretches to any width: marks are at percentages, lines in a square that is stretched.

So the same drawing fits a phone, a screen and paper without a script, and text keeps its size.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import wrap

from matrix.report.charts.chart import Chart, Series, Value
from matrix.report.drawing.axes import Axis, fitting, x_axis, y_axis
from matrix.report.html import Markup, tag

LOOK = (Path(__file__).parent / "look.css").read_text(encoding="utf-8")
# Side of the square in which lines are drawn, in its units.
SIDE = 1000.0
HEIGHT_PX = 280
LETTER_PX = 7.0
# Widths of the plot on a phone, and of one of two charts side by side.
NARROW_PX = 280.0
PAIRED_PX = 420.0
LINE_PX = 13
# Shapes and dashes distinguish series for readers who cannot distinguish colours.
SHAPES = (
    "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z", "M0,-6L6,0L0,6L-6,0Z", "M-5,-5H5V5H-5Z", "M-6,5H6L0,-6Z",
    "M-6,-2H-2V-6H2V-2H6V2H2V6H-2V2H-6Z", "M-6,-5H6L0,6Z", "M0,-6L6,-1.5L3.7,5H-3.7L-6,-1.5Z",
    "M0,-6L1.8,-2H6L2.6,.8L4,5.5L0,2.8L-4,5.5L-2.6,.8L-6,-2H-1.8Z",
)  # fmt: skip
# Labels that are nearer to each other than this, in units of the square, would overlap.
LABEL_X, LABEL_Y = 32.0, 48.0
# Height of a line of names; two points of nearly equal height have one line each.
NAME_Y = 54.0
FILE_PX = 900
Place = tuple[float, float] | None


class Plot:
    """The positions of a chart's values, in units of the square."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.x = x_axis(chart)
        self.y = y_axis(chart)
        self._labelled: list[tuple[float, float, float]] = []

    def has_room(self, place: tuple[float, float], text: str = "") -> bool:
        """Return whether a label around a place overlaps no earlier label, and if so reserve the place."""
        half = max(LABEL_X, SIDE * LETTER_PX * len(text) / PAIRED_PX) / 2
        is_free = not any(
            abs(place[0] - x) < half + other and abs(place[1] - y) < LABEL_Y for x, y, other in self._labelled
        )
        if is_free:
            self._labelled.append((*place, half))
        return is_free

    def places(self, series: Series) -> list[Place]:
        """Return the place of each point; None if it has none."""
        return [self.place(x, y) for x, y in zip(series.x, series.y, strict=True)]

    def place(self, x: Value, y: Value) -> Place:
        """Return a place from the left and from the top."""
        right, up = self.x.share(x), self.y.share(y)
        return None if right is None or up is None else (round(SIDE * right, 1), round(SIDE * (1.0 - up), 1))

    @property
    def gutter_px(self) -> int:
        """The room at the left for texts of ticks."""
        return round(14 + LETTER_PX * max((len(text) for _, text in self.y.ticks), default=1))


# --- the drawing ------------------------------------------------------------------------------------------------------


def drawing(chart: Chart) -> Markup:
    """Return a chart for the page, beside a gutter that the page's style leaves for its texts."""
    plot = Plot(chart)
    return tag("div", _svg(plot, class_="plot", height=str(HEIGHT_PX)), class_=f"canvas g{plot.gutter_px}")


def rules(charts: Iterable[Chart]) -> str:
    """Return the style that depends on the charts: their gutters."""
    return "".join(f".g{px}{{--gutter:{px}px}}" for px in sorted({Plot(chart).gutter_px for chart in charts}))


def shapes() -> Markup:
    """Return the shapes that all charts of a page refer to."""
    paths = (tag("path", id=f"m{index}", d=path) for index, path in enumerate(SHAPES))
    return tag("svg", tag("defs", *paths), class_="shapes", width="0", height="0", aria_hidden="true")


def document(chart: Chart, of: str) -> str:
    """Return a chart as a separate SVG file, with its title, its legend and its run (`of`)."""
    plot = Plot(chart)
    titles = wrap(chart.title, 110)
    keys = list(legend(chart))
    top = 40 + 18 * len(titles)
    below = top + HEIGHT_PX + 64
    height = below + 20 * len(keys) + 16
    inner = _svg(
        plot, class_="plot", x=str(plot.gutter_px), y=str(top), height=str(HEIGHT_PX),
        width=str(FILE_PX - plot.gutter_px - 24),
    )  # fmt: skip
    lines = [tag("text", line, x="8", y=str(22 + 18 * i), class_="title") for i, line in enumerate(titles)]
    named = [
        tag("g", mark, tag("text", series.legend, x="24", dy="4"), transform=f"translate(30 {below + 20 * i})")
        for i, (series, mark) in enumerate(keys)
    ]
    origin = tag("text", of, x=str(FILE_PX - 8), y=str(height - 8), text_anchor="end", class_="axis")
    ground = tag("rect", width="100%", height="100%", class_="ground")
    whole = tag(
        "svg", tag("style", Markup(LOOK)), shapes(), ground, *lines, inner, *named, origin,
        xmlns="http://www.w3.org/2000/svg", width=str(FILE_PX), height=str(height),
        viewBox=f"0 0 {FILE_PX} {height}",
    )  # fmt: skip
    return f"{whole.text}\n"


def legend(chart: Chart) -> Iterator[tuple[Series, Markup]]:
    """Yield the first series of each group that the legend switches, with its mark."""
    first: dict[str, Series] = {}
    for series in chart.series:
        if len(series.x):
            first.setdefault(series.legend, series)
    for series in first.values():
        line = [tag("path", d="M-17,0H17", class_=_line_class(series))] if _has_line(series) else []
        mark = [_mark(series)] if _has_marks(series) else []
        yield series, tag("g", *line, *mark, class_=_class(series))


def swatch(mark: Markup) -> Markup:
    """Return the mark of a legend's entry as a small picture."""
    return tag("svg", mark, class_="swatch", viewBox="-17 -7 34 14", aria_hidden="true")


def _svg(plot: Plot, **attributes: str) -> Markup:
    known = [series for series in plot.chart.series if len(series.x)]
    groups = list(dict.fromkeys(series.legend for series in known))
    named = [
        tag("g", *names, data_group=str(groups.index(series.legend)), **series.of)
        for series in known
        if (names := list(_names(plot, series)))
    ]
    drawn = [_group(plot, series, groups.index(series.legend)) for series in known] + named
    return tag("svg", *_axes(plot), *drawn, *_limit(plot), **attributes, aria_hidden="true")


def _group(plot: Plot, series: Series, group: int) -> Markup:
    return tag("g", *_series(plot, series), class_=_class(series), data_group=str(group), **series.of)


# --- series -----------------------------------------------------------------------------------------------------------


def _series(plot: Plot, series: Series) -> Iterator[Markup]:
    places = plot.places(series)
    if _has_line(series):
        yield _lines(_path(places, is_stepped=series.kind == "steps"), _line_class(series), series.width)
    if series.low is not None and series.high is not None and (intervals := _intervals(plot, series)):
        yield _lines(intervals, "line", 1.5)
    if _has_marks(series):
        yield from (_mark(series, f"{_n(x / 10)}%", f"{_n(y / 10)}%") for x, y in filter(None, places))
    # The ends of a line are the most informative, so they get their labels first.
    names = series.names or [""] * len(places)
    labels = [
        ("" if name else label, place) for label, name, place in zip(series.labels or (), names, places, strict=False)
    ]
    for text, place in [*labels[:1], *labels[:0:-1]]:
        if text and place is not None and plot.has_room(place):
            yield _text(text, place, dy="-9", text_anchor="middle")


def _names(plot: Plot, series: Series) -> Iterator[Markup]:
    """Write the names of points on the Pareto front if there is room: below them, or above if higher is better."""
    for name, place in zip(series.names or (), plot.places(series), strict=False):
        if not name or place is None:
            continue
        is_left = place[0] < SIDE / 2
        half = SIDE * LETTER_PX * len(name) / PAIRED_PX / 2
        x, down = place[0] + (half if is_left else -half), -1 if plot.chart.is_up_better else 1
        line = next((line for line in (1, 2) if plot.has_room((x, place[1] + down * line * NAME_Y), name)), None)
        if line is not None:
            dy = str(6 + LINE_PX * line if down > 0 else -LINE_PX * line)
            yield _text(name, place, dy=dy, class_="label",
                        text_anchor="start" if is_left else "end")  # fmt: skip


def _has_line(series: Series) -> bool:
    return series.kind in ("line", "segments", "steps")


def _has_marks(series: Series) -> bool:
    return series.kind in ("dots", "line")


def _class(series: Series) -> str:
    return f"s{series.style % len(SHAPES)}{' hollow' if series.is_hollow else ''}"


def _line_class(series: Series) -> str:
    return "line dots" if series.is_hollow else "line dash" if series.is_dashed else "line"


def _mark(series: Series, x: str | None = None, y: str | None = None) -> Markup:
    # The ninth storage has the colour of the first, so it gets another shape.
    shape = (series.style + series.style // len(SHAPES)) % len(SHAPES)
    return tag("use", href=f"#m{shape}", x=x, y=y)


def _path(places: Iterable[Place], *, is_stepped: bool) -> str:
    """Join places to lines; a missing one is a gap. Steps are at whole units, a third of a pixel upwards."""
    path, is_joined = [], False
    for place in places:
        if place is not None:
            x, y = (f"{axis:.0f}" if is_stepped else _n(axis) for axis in place)
            path.append((f"H{x}V{y}" if is_stepped else f"L{x} {y}") if is_joined else f"M{x} {y}")
        is_joined = place is not None
    return "".join(path)


def _intervals(plot: Plot, series: Series) -> str:
    """Draw each interval as a line with a cap at both ends, except at ends beyond the axis."""
    path = []
    for x, low, high in zip(series.x, series.low or (), series.high or (), strict=True):
        if low is None or high is None:
            continue
        shown = min(float(high), plot.y.high)
        pairs = ((x, low), (x, shown))
        ends = [place for place in (plot.place(*pair) for pair in pairs) if place is not None]
        if len(ends) == len(pairs):
            (x0, y0), (x1, y1) = ends
            path.append(f"M{_n(x0)} {_n(y0)}L{_n(x1)} {_n(y1)}")
            path += [f"M{_n(a - 5)} {_n(b)}h10" for a, b in ends[: 1 if shown < float(high) else 2]]
    return "".join(path)


def _lines(path: str, class_: str, width_px: float) -> Markup:
    return _stretched(tag("path", d=path, class_=class_, stroke_width=None if width_px == 1 else _n(width_px)))


def _stretched(*paths: Markup) -> Markup:
    """Return paths in the square that the page stretches."""
    side = _n(SIDE)
    return tag("svg", *paths, viewBox=f"0 0 {side} {side}", preserveAspectRatio="none")


# --- axes -------------------------------------------------------------------------------------------------------------


def _axes(plot: Plot) -> Iterator[Markup]:
    chart, x, y = plot.chart, plot.x, plot.y
    wide = list(fitting(x, PAIRED_PX, LETTER_PX))
    narrow = list(fitting(Axis(x.low, x.high, x.is_log, wide), NARROW_PX, LETTER_PX))
    across = [SIDE * (y.share(value) or 0.0) for value, _ in y.ticks]
    grid = [f"M{_n(SIDE * (x.share(value) or 0.0))} 0V{_n(SIDE)}" for value, _ in wide]
    grid += [f"M0 {_n(SIDE - at)}H{_n(SIDE)}" for at in across]
    edge = f"M0 {_n(SIDE)}H{_n(SIDE)}M0 0V{_n(SIDE)}"
    yield _stretched(tag("path", d="".join(grid), class_="grid"), tag("path", d=edge, class_="edge"))
    ticks = []
    for value, text in wide:
        right, class_ = SIDE * (x.share(value) or 0.0), None if (value, text) in narrow else "wide"
        ticks.append(_text(text, (right, SIDE), dy="17", class_=class_))
    yield tag("g", *ticks, text_anchor="middle")
    yield _text(x.title(chart.x_title), (SIDE, SIDE), dy="36", text_anchor="end", class_="axis")
    rising = [
        tag("text", text, x="-8", y=f"{_n(100 - at / 10)}%", dy="4")
        for (_, text), at in zip(y.ticks, across, strict=True)
    ]
    yield tag("g", *rising, text_anchor="end")
    yield tag("text", y.title(chart.y_title), x=str(8 - plot.gutter_px), y="0", dy="-12", class_="axis")


def _limit(plot: Plot) -> Iterator[Markup]:
    """Draw a line at the objective's limit, with its name at the end."""
    if plot.chart.limit is None:
        return
    value, words = plot.chart.limit
    share = plot.y.share(value)
    if share is None:
        return
    down = SIDE * (1.0 - share)
    yield _lines(f"M0 {_n(down)}H{_n(SIDE)}", "bound", 1.5)
    yield _text(words, (SIDE, down), dy="-6", text_anchor="end", class_="bound")


def _text(text: str, place: Sequence[float], **attributes: str | None) -> Markup:
    x, y = place
    return tag("text", text, x=f"{_n(x / 10)}%", y=f"{_n(y / 10)}%", **attributes)


def _n(number: float) -> str:
    # A hundredth of a unit is less than a pixel's hundredth.
    return f"{round(number, 2):g}"
