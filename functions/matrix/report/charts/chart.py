"""A chart as figures and words, before it is drawn."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

# Values that differ by more than this are drawn on a logarithmic axis.
WIDE = 30.0
# A limit farther above the measured values would flatten the curves.
NEAR_LIMIT = 4.0
SINCE_START = "since the first start of the cell (s)"
SINCE_STEP = "since the start of the step (s)"


def is_wide(values: Iterable[float | None], ratio: float = WIDE) -> bool:
    """Return whether values are so far apart that only a logarithmic axis shows them all."""
    known = [value for value in values if value is not None]
    return bool(known) and min(known) > 0 and max(known) / min(known) > ratio


T = TypeVar("T")
Value = float | int | str | None
Kind = Literal["line", "dots", "segments", "steps"]

# An interval of three different repetitions may end far above all values: an axis ends at twice the greatest at most.
MAX_BEYOND = 2.0
# More lines than this are unreadable in one chart: the rest is in further charts, or a note has the number drawn.
MAX_SERIES = 14


@dataclass(frozen=True)
class Series:
    """One line, or one row of marks. `style` chooses colour, marker and dash together: never the colour alone."""

    name: str
    x: Sequence[Value]
    y: Sequence[Value]
    kind: Kind = "line"
    style: int = 0
    group: str = ""  # the legend turns it on and off as a whole, and has its first series
    low: Sequence[Value] | None = None  # ends of each point's interval, on the axis of values
    high: Sequence[Value] | None = None
    hover: Sequence[str] | None = None  # text of the tooltip, below the name of the series; (): its values
    labels: Sequence[str] | None = None  # beside the points
    names: Sequence[str] | None = None  # of points that readers look for; on the side without better points
    is_dashed: bool = False
    is_hollow: bool = False
    width: float = 2.0
    of: Mapping[str, str] = field(default_factory=dict)  # what it is about, for the page's chips

    @property
    def legend(self) -> str:
        """The name that the legend turns on and off."""
        return self.group or self.name


@dataclass(frozen=True)
class Chart:
    """One chart, a sentence on how to read it, and its figures as a table."""

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
    is_from_zero: bool = False
    ticks: Sequence[float] = field(default_factory=tuple)  # of the x axis
    limit: tuple[float, str] | None = None  # a line across, on the axis of values, with its name
    is_in_seconds: bool = False  # the values
    is_x_in_seconds: bool = False
    is_x_binary: bool = False  # bytes: 1 MiB, not 1.05M
    metric: str = ""  # of the axis of values, as CSV and JSON call it
    tick_names: Mapping[float, str] = field(default_factory=dict)  # of ticks of the x axis that have names
    of: Mapping[str, str] = field(default_factory=dict)  # what it is about, for the page's chips
    is_up_better: bool = False

    def tick_text(self, value: float) -> str:
        """Write a tick of the x axis."""
        if value in self.tick_names:
            return self.tick_names[value]
        for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")) if self.is_x_binary else ():
            if value >= 1024**power and value % 1024**power == 0:
                return f"{value / 1024**power:g} {unit}"
        return f"{value:,g}"

    @property
    def has_points(self) -> bool:
        """Whether there is anything to draw."""
        return any(len(series.x) for series in self.series)


def parts_of(drawn: Sequence[T], most: int) -> Iterator[tuple[Sequence[T], str]]:
    """Yield lines in parts as equal as can be, `most` at most, each with the end of its title: ` (1 of 6)`."""
    count = math.ceil(len(drawn) / most)
    for part in range(count):
        yield (
            drawn[len(drawn) * part // count : len(drawn) * (part + 1) // count],
            f" ({part + 1} of {count})" * (count > 1),
        )


def few_lines(count: int, which: str) -> list[str]:
    """Write which of `count` lines a chart draws if it has room for MAX_SERIES only; empty if it draws all."""
    if count <= MAX_SERIES:
        return []
    return [f"{MAX_SERIES} of {count} lines, {which}; result.json of each cell has all."]
