"""Format of numbers and their units: three digits, times, dates and dollars."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

ABSENT = "–"


def duration(seconds: float) -> str:
    """Write a duration as the published tables do (`97m 42s`); below a minute with three digits (`0.648s`, `12.5s`)."""
    if seconds >= 59.95:  # noqa: PLR2004 - three digits would round it up to 60.0s
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes}m {rest:02d}s"
    return f"{number(seconds)}s"


def rough_duration(seconds: float) -> str:
    """Write a duration to the second, for clocks and estimates: `7s`, `2m 05s`; from an hour on `44h 50m`."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:  # noqa: PLR2004 - of an hour
        hours, minutes = divmod(round(seconds / 60), 60)
        return f"{hours}h {minutes:02d}m"
    return f"{minutes}m {rest:02d}s" if minutes else f"{rest}s"


def count_of(count: int, unit: str) -> str:
    """Write a number of things: `1 instance`, `1,200 instances`, `3 launches`."""
    return f"{count:,} {unit}{'' if count == 1 else 'es' if unit.endswith('ch') else 's'}"


LEAST_DECIMAL = 1e-6


def number(value: float) -> str:
    """Write a figure with three digits, or with all digits before the point: `4,425`, `305`, `86.6`, `0.0124`."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return ABSENT
    decimals = 2 - math.floor(math.log10(abs(value)))
    if decimals <= 0:
        return f"{value:,.0f}"
    # With six decimals a smaller figure would be shown as zero.
    return f"{value:.{min(decimals, 6)}f}" if abs(value) >= LEAST_DECIMAL else f"{value:.3g}"


# The value of each operation beyond fio's bins, and until November 2026 beyond the agent's, in metrics.
CUT_OFF_US = 17_112_760.32


def latency(microseconds: float, *, in_ms: bool = False) -> str:
    """Write a latency in µs or ms, without the unit. Three digits (`4,430`), since its bin is known to ± 0.78 %.

    A latency that fio could only count as "slower than my bins reach" is `≥ 17,000,000`.
    """
    unit_us = 1000 if in_ms else 1
    if math.isclose(microseconds, CUT_OFF_US, rel_tol=1e-9):
        return f"≥ {17_000_000 // unit_us:,}"
    return number(float(f"{microseconds / unit_us:.3g}"))


def quantity(value: float | None, unit: str) -> str:
    """Write a figure with its unit; a missing figure is a dash, never a zero."""
    if value is None or not math.isfinite(value):
        return ABSENT
    if unit == "µs":
        return f"{latency(value)} µs"
    return duration(value) if unit == "s" else f"{number(value)} {unit}"


@dataclass(frozen=True)
class Column:
    """Format of the figures of a column; its head has their unit, or each figure if `unit` is empty."""

    unit: str
    write: Callable[[float | None], str]

    @classmethod
    def of(cls, values: Iterable[float | None], unit: str) -> "Column":
        """Choose the unit: each its own if most durations take minutes (`97m 42s`), else the metric's."""
        known = sorted(value for value in values if value is not None and math.isfinite(value))
        if unit == "s" and known and known[len(known) // 2] >= 60:  # noqa: PLR2004 - a minute
            return cls("", partial(quantity, unit="s"))
        return cls(unit, _latency if unit == "µs" else _bare)

    def head(self, words: str) -> str:
        """Write the head of the column: `P50 (MB/s)`."""
        return f"{words} ({self.unit})" if self.unit else words


def _latency(microseconds: float | None) -> str:
    return quantity(microseconds, "µs").removesuffix(" µs")


def _bare(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return ABSENT
    return number(value) if value >= 0 else f"−{number(-value)}"


def instant(epoch: float | None) -> str:
    """Write a time in UTC to the second."""
    return ABSENT if epoch is None else datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def day(epoch: float) -> str:
    """Write the day of a time in UTC."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d")


def money(usd: float | None) -> str:
    """Format US dollars: `$1.58`, `$0.0124`, `$4,425`. Unknown: a dash."""
    return ABSENT if usd is None else f"${usd:,.2f}" if usd >= 1 else f"${number(usd)}"


def factor(ratio: float) -> str:
    """Write how far two figures are apart: `1.48`, and `1.005` where two decimals would hide which one is ahead."""
    if ratio >= 10:  # noqa: PLR2004
        return f"{ratio:.3g}" if ratio < 1000 else f"{ratio:,.0f}"  # noqa: PLR2004
    return f"{ratio:.3f}" if f"{ratio:.2f}" == "1.00" and f"{ratio:.3f}" != "1.000" else f"{ratio:.2f}"


def times(ratio: float) -> str:
    """Write a ratio in a sentence, as `×1.48` stands for it in tables: `1.48 times`."""
    return f"{factor(ratio)} times"


# Smaller estimates get more digits than whole cents.
CENTS_MATTER = 0.1
LEAST_USD = 0.001


def cents(usd: float | None) -> str:
    """Format estimated US dollars, which need no third digit: `$1.58`, `$0.012`, `<$0.001`. Unknown: a dash."""
    if usd is None or usd == 0:
        return ABSENT if usd is None else "$0"
    if usd < LEAST_USD:
        return f"<${LEAST_USD}"
    return f"${usd:,.2f}" if usd >= CENTS_MATTER else f"${usd:.3f}"
