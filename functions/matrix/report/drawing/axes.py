"""The position of a value on an axis, and the ticks of the axis."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from matrix.report.charts.chart import MAX_BEYOND, Chart, Value

# Free of marks at both ends, as a share of an axis.
MARGIN = 0.04
# Room for names of points beyond the outermost points.
NAMES_MARGIN = 0.16
MAX_TICKS = 6
# More ticks of a chart's own would overlap.
MAX_ASKED_TICKS = 12
# Ratio of a logarithmic axis's ends: from FAR on ticks at each decade, up to NEAR more than three in each decade.
FAR, NEAR = 1000.0, 20.0
# Longer durations are labelled in minutes: 12,000 seconds are hard to read.
LONG_S = 600.0
MINUTES = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 240, 480)
# Smaller ticks are written by powers of ten; larger ones in full, because 2e-05 does not read as a price.
MIN_IN_FULL = 1e-7
LARGE = ((1e9, "G"), (1e6, "M"))
Ticks = Sequence[tuple[float, str]]


@dataclass(frozen=True)
class Axis:
    """The range of an axis and its ticks: each a value and its text."""

    low: float
    high: float
    is_log: bool
    ticks: Ticks
    is_in_minutes: bool = False

    def title(self, words: str) -> str:
        """Return the title of the axis in the unit of its ticks."""
        return f"{words.removesuffix(' (s)')} (min)" if self.is_in_minutes else words

    def share(self, value: Value) -> float | None:
        """Return the position of a value along the axis, 0 to 1; None for a value without a position."""
        if not _is_number(value) or (self.is_log and value <= 0):
            return None
        low, high, at = (math.log(v) if self.is_log else v for v in (self.low, self.high, value))
        return (at - low) / (high - low)


def x_axis(chart: Chart) -> Axis:
    """Return the axis that runs to the right."""
    values = _numbers(value for series in chart.series for value in series.x)
    asked = [(value, chart.tick_text(value)) for value in chart.ticks]
    axis = _axis(values, is_log=chart.is_x_log, asked=asked if len(asked) <= MAX_ASKED_TICKS else ())
    return _in_minutes(axis) if chart.is_x_in_seconds else axis


def y_axis(chart: Chart) -> Axis:
    """Return the vertical axis."""
    values = _numbers(value for series in chart.series for value in series.y)
    return _value_axis(chart, [*values, *_ends(chart, values)], is_log=chart.is_y_log)


def _ends(chart: Chart, values: Sequence[float]) -> list[float]:
    """Return further values that the axis must include: the limit, and the ends of intervals unless far beyond."""
    limit = [chart.limit[0]] if chart.limit else []
    most = MAX_BEYOND * max([*values, *limit], default=0.0)
    ends = _numbers(value for series in chart.series for value in (*(series.low or ()), *(series.high or ())))
    return [end if most <= 0 else min(end, most) for end in ends] + limit


def _value_axis(chart: Chart, values: Sequence[float], *, is_log: bool) -> Axis:
    has_names = any(series.names for series in chart.series)
    margin = NAMES_MARGIN if has_names else MARGIN
    axis = _axis(values, is_log=is_log, is_from_zero=chart.is_from_zero, margin=margin)
    return _in_minutes(axis) if chart.is_in_seconds else axis


def _in_minutes(axis: Axis) -> Axis:
    minutes = _minutes(axis) if axis.high >= LONG_S else []
    return replace(axis, ticks=minutes, is_in_minutes=True) if len(minutes) > 1 else axis


def _axis(
    values: Sequence[float], *, is_log: bool, is_from_zero: bool = False, asked: Ticks = (), margin: float = MARGIN
) -> Axis:
    known = [value for value in values if value > 0] if is_log else list(values)
    least, most = min(known, default=1.0), max(known, default=1.0)
    if is_log:
        room = max((most / least) ** margin, 1.05)
        low, high = least / room, most * room
    else:
        low = 0.0 if is_from_zero and least > 0 else least
        room = margin * (most - low) or abs(most) / 2 or 1.0
        # An axis of values above zero has nothing below it.
        low, high = (low - room if least < 0 else max(0.0, low - room)), most + room
    decades = [value for value in _decades(low, high) if low <= value <= high] if is_log else []
    # An axis that covers less than from one such tick to the next has its ticks as if it were not logarithmic.
    places = decades if len(decades) > 1 else _steps(low, high)
    named = [(value, text) for value, text in asked if low <= value <= high]
    return Axis(low, high, is_log, named or [(value, plain(value)) for value in places])


def _steps(low: float, high: float) -> list[float]:
    """Return ticks at multiples of 1, 2 or 5 times a power of ten, six at most."""
    power = 10.0 ** math.floor(math.log10((high - low) / MAX_TICKS))
    step = next(factor * power for factor in (1, 2, 5, 10, 20) if (high - low) / (factor * power) <= MAX_TICKS)
    return [round(index * step, 12) for index in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _minutes(axis: Axis) -> Ticks:
    """Return ticks at whole minutes, or at tenths of them if an axis covers little."""
    low, high = axis.low / 60, axis.high / 60
    step = next((minutes for minutes in MINUTES if (high - low) / minutes <= MAX_TICKS), 960)
    whole = [index * step for index in range(math.ceil(low / step), math.floor(high / step) + 1)]
    places = _decades(low, high) if axis.is_log else whole
    return [(60 * minutes, plain(minutes)) for minutes in places if low <= minutes <= high]


def _decades(low: float, high: float) -> list[float]:
    """Return ticks at decades; if there are fewer than three, at 1, 2 and 5 of each, or at more."""
    factors: Sequence[float] = (1,) if high / low >= FAR else (1, 2, 5) if high / low > NEAR else (1, 1.5, 2, 3, 5, 7)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [float(f"{factor}e{power}") for power in powers for factor in factors]


def plain(value: float) -> str:
    """Write a tick: `1,500`, `2.5M`, `0.00002`."""
    unit, letter = next(((unit, letter) for unit, letter in LARGE if abs(value) >= unit), (1.0, ""))
    text = f"{value / unit:,.10g}"
    if "e-" in text and abs(value) >= MIN_IN_FULL:
        text = f"{value:.12f}".rstrip("0")
    return f"{text}{letter}"


def fitting(axis: Axis, width_px: float, per_letter_px: float) -> Iterator[tuple[float, str]]:
    """Yield the ticks whose texts, centred below them, do not overlap on an axis of this width."""
    end = -math.inf
    for value, text in axis.ticks:
        middle, half = (axis.share(value) or 0.0) * width_px, (len(text) + 2) * per_letter_px / 2
        if middle - half >= end:
            end = middle + half
            yield value, text


def _numbers(values: Iterable[Value]) -> list[float]:
    return [float(value) for value in values if _is_number(value)]


def _is_number(value: Value) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and math.isfinite(value)
