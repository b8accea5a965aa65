"""A chart as figures and words, before it is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Value = float | int | str | None
Kind = Literal["line", "dots", "segments", "steps", "ticks", "limit"]

# A screen shows no more points side by side; a page of 200 instances and many cells must stay small.
MOST_POINTS = 400
# Marks are as wide as several points of a line.
MOST_MARKS = 200
# Nobody can follow more lines than this in one chart.
MOST_SERIES = 14


@dataclass(frozen=True)
class Series:
    """One line, or one row of marks. `style` chooses colour, marker and dash together: never the colour alone."""

    name: str
    x: Sequence[Value]
    y: Sequence[Value]
    kind: Kind = "line"
    style: int = 0
    group: str = ""  # what the legend turns on and off together; its first series stands in the legend
    low: Sequence[Value] | None = None  # ends of each point's interval, on the axis of values
    high: Sequence[Value] | None = None
    hover: Sequence[str] | None = None  # what stands under the pointer, below the name of the row or the series
    labels: Sequence[str] | None = None  # beside the points
    is_dashed: bool = False
    is_hollow: bool = False
    is_off: bool = False  # until the legend turns it on
    width: float = 2.0

    @property
    def legend(self) -> str:
        """What the legend turns on and off."""
        return self.group or self.name


@dataclass(frozen=True)
class Chart:
    """One chart, the sentence that says how to read it, and its figures as a table."""

    id: str
    title: str
    reads: str
    x_title: str
    y_title: str
    series: Sequence[Series]
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    notes: Sequence[str] = ()
    is_x_log: bool = False
    is_y_log: bool = False
    is_y_share: bool = False
    is_from_zero: bool = False
    categories: Sequence[str] = field(default_factory=tuple)  # of the y axis, top to bottom
    ticks: Sequence[float] = field(default_factory=tuple)  # of the x axis
    limit: tuple[float, str] | None = None  # a line across, on the axis of values, with its name
    is_in_seconds: bool = False  # the values
    is_x_binary: bool = False  # bytes: 1 MiB, not 1.05M

    def tick_text(self, value: float) -> str:
        """Write a tick of the x axis."""
        for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")) if self.is_x_binary else ():
            if value >= 1024**power and value % 1024**power == 0:
                return f"{value / 1024**power:g} {unit}"
        return f"{value:,g}"

    @property
    def has_points(self) -> bool:
        """Whether there is anything to draw."""
        return any(len(series.x) for series in self.series)


def thinned(count: int, most: int = MOST_POINTS) -> list[int]:
    """Return at most `most` indices spread over `count` points, both ends among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(index * (count - 1) / (most - 1)) for index in range(most)})
