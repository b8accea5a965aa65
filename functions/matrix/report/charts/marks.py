"""Marks and axes that charts of several families share."""

from collections.abc import Iterable
from typing import Any

# Values that differ by more than this are drawn on a logarithmic axis.
WIDE = 30.0
# A limit farther above the measured values would flatten the curves.
NEAR_LIMIT = 4.0
SINCE_START = "since the first start of the cell (s)"
SINCE_STEP = "since the start of the step (s)"


def segments(parts: Iterable[tuple[float | None, float | None, str]]) -> tuple[list[Any], list[Any]]:
    """Join segments (start, end, row) to one series of x and y, with a gap after each segment."""
    x: list[Any] = []
    y: list[Any] = []
    for start, end, row in parts:
        if start is not None and end is not None:
            x += [start, end, None]
            y += [row, row, None]
    return x, y


def is_wide(values: Iterable[float | None], ratio: float = WIDE) -> bool:
    """Return whether values are so far apart that only a logarithmic axis shows them all."""
    known = [value for value in values if value is not None]
    return bool(known) and min(known) > 0 and max(known) / min(known) > ratio
