"""Numbers that a command prints: found by a pattern, or as a field of JSON lines, within bounds of size and time.

The pattern is the user's and the output the command's, so neither is trusted: only the end of a long output is read,
long lines are skipped, and a pattern that backtracks endlessly is stopped by its processor time.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from agent.errors import JobInvalid, NumberMissing
from agent.programs.processes import Ended

MAX_BYTES = 2**20
MAX_LINE_BYTES = 4_096
MAX_CPU_S = 10.0
# As samples/file.py of the functions: statistics cannot use values outside of this range.
MIN_NUMBER, MAX_NUMBER = 1e-9, 1e15
TAIL_LINES, MAX_SHOWN = 6, 160
# float() would also take "nan", "infinity" and "1_000".
NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
THOUSANDS = r"[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])"
IN_THOUSANDS = re.compile(rf"\s*[+-]?{THOUSANDS}(\.[0-9]*)?([eE][+-]?[0-9]+)?\s*")
# Numbers in a line, to see whether a group has the whole of one: 12,345.6 or 1.2e+04.
WHOLE = re.compile(rf"(?:(?<![\w.,)\]-])-)?(?:(?:{THOUSANDS}|[0-9]+)(?:\.[0-9]+)*|(?:\.[0-9]+)+)(?:[eE][+-]?[0-9]+)?")
# The commas of a CSV line separate numbers. Its pattern names one beside its group, itself or in a class: ,( or )[,;].
COMMA = r"(?:,|\[(?!\^)[^\]]*,[^\]]*\])"
COMMA_BEFORE = re.compile(rf"{COMMA}(?:\\s\*|[)?*+]|\{{[0-9,]+\}})*\((?!\?)")
COMMA_AFTER = re.compile(rf"\)(?:\\s\*)?(?:\(\?[:=])?{COMMA}")


@dataclass(frozen=True)
class Number:
    """A number that the matrix declares."""

    name: str
    pattern: re.Pattern[str] | None
    field: str | None

    @property
    def place(self) -> str:
        """Describe the pattern or field of the number."""
        return f"pattern {self.pattern.pattern!r}" if self.pattern else f"JSON field {self.field!r}"


def declared(workload: dict[str, Any]) -> list[Number]:
    """Return the numbers that a workload of a job declares. Raises JobInvalid where a pattern is none."""
    return [_number(name, metric) for name, metric in (workload.get("metrics") or {}).items()]


def _number(name: str, metric: dict[str, Any]) -> Number:
    if metric.get("jsonField"):
        return Number(name, None, str(metric["jsonField"]))
    try:
        pattern = re.compile(str(metric.get("pattern")))
    except (re.error, OverflowError, RecursionError) as err:
        # This machine's Python may be older than the one that has checked the matrix.
        raise JobInvalid(f"metrics.{name}: {metric.get('pattern')!r} is not a pattern: {err}") from err
    if pattern.groups != 1:
        raise JobInvalid(f"metrics.{name}: {pattern.pattern!r} has {pattern.groups} groups, not one")
    return Number(name, pattern, None)


def read(numbers: Sequence[Number], ended: Ended) -> dict[str, float]:
    """Return each number from the last line that has it. Raises NumberMissing if it is missing or no number."""
    if not numbers:
        return {}
    lines = list(_lines(ended.stdout))
    objects = list(_objects(lines)) if any(number.field for number in numbers) else []
    return {number.name: _read(number, lines, objects) for number in numbers}


def _read(number: Number, lines: Sequence[str], objects: Sequence[dict[str, Any]]) -> float:
    with _limited(number, lines):
        match = _match(number.pattern, lines) if number.pattern else None
        text = match[1] if match else _field(str(number.field), objects) if number.field else None
    if match and (whole := _cut_number(match)):
        raise NumberMissing(
            f"{number.name} ({number.place}) takes {_shown(text)} of {whole}: let its group take all of it, such "
            f"as ([0-9.,e+-]+), or name the comma beside it that separates, as in ([0-9.]+), in "
            f"{_shown(match.string.strip())}"
        )
    value = _value(text)
    if value is None or not (value == 0 or MIN_NUMBER <= value <= MAX_NUMBER):
        why = (
            "is in no line of the output"
            if text is None
            else f"is {_shown(text)}, which is not a number from 0 to 1e15"
        )
        raise NumberMissing(f"{number.name} ({number.place}) {why}; the last lines were: {_tail(lines)}")
    return value


def _match(pattern: re.Pattern[str], lines: Sequence[str]) -> re.Match[str] | None:
    # A group that took no part in the match is None: that line does not have the number.
    matches = (match for line in reversed(lines) if (match := pattern.search(line)))
    return next((match for match in matches if match[1] is not None), None)


def _cut_number(match: re.Match[str]) -> str | None:
    """Return the number of which a match's group has only a part."""
    begin, end = match.span(1)
    line = match.string.replace(",", ";") if _is_of_csv(match) else match.string
    for whole in WHOLE.finditer(line):
        is_touched = whole.start() < end and begin < whole.end()
        if is_touched and (whole.start() < begin or end < whole.end()):
            return whole[0]
    return None


def _is_of_csv(match: re.Match[str]) -> bool:
    """Whether the pattern names a comma beside its group that separates fields, as no comma before a blank does."""
    begin, end = match.span(1)
    before, after, pattern = match.string[:begin], match.string[end:], match.re.pattern
    is_before = before.endswith(",") and COMMA_BEFORE.search(pattern)
    return bool(is_before or (re.match(r",(?!\s)", after) and COMMA_AFTER.search(pattern)))


def _field(path: str, objects: Sequence[dict[str, Any]]) -> Any:
    values = (_inner(entry, path.split(".")) for entry in reversed(objects))
    return next((value for value in values if value is not None), None)


def _inner(value: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _value(written: Any) -> float | None:
    """Return a finite number; None for anything else, `true` and NaN included."""
    if isinstance(written, str):
        if IN_THOUSANDS.fullmatch(written):
            written = written.replace(",", "")
        written = float(written) if NUMBER.fullmatch(written) else None
    if isinstance(written, bool) or not isinstance(written, (int, float)):
        return None
    try:
        value = float(written)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def _lines(output: Path) -> Iterator[str]:
    """Yield the lines of the last MAX_BYTES, except lines of more than MAX_LINE_BYTES; \\r ends a line, too."""
    with output.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - MAX_BYTES))
        lines = stream.read(MAX_BYTES).replace(b"\r", b"\n").split(b"\n")
    if size > MAX_BYTES:
        del lines[0]  # only its end was read
    for line in lines:
        if line and len(line) <= MAX_LINE_BYTES:
            yield line.decode(errors="replace")


def _objects(lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line.lstrip().startswith("{"):
            with contextlib.suppress(ValueError, RecursionError):
                entry = json.loads(line)
                if isinstance(entry, dict):
                    yield entry


@contextlib.contextmanager
def _limited(number: Number, lines: Sequence[str]) -> Iterator[None]:
    """End the search after MAX_CPU_S of this process. `re` checks for signals while it matches."""

    def ring(signum: int, frame: FrameType | None) -> None:
        del signum, frame
        raise NumberMissing(
            f"{number.name} ({number.place}) was searched for {MAX_CPU_S:g} s in vain: write a pattern that cannot "
            f"match a line in many ways; the last lines were: {_tail(lines)}"
        )

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before or signal.SIG_DFL)


def _tail(lines: Sequence[str]) -> str:
    shown = [_shown(line.strip()) for line in lines[-TAIL_LINES:] if line.strip()]
    return " | ".join(shown) or "(none; 2>&1 adds standard error)"


def _shown(text: Any) -> str:
    shown = ascii(text)
    return shown if len(shown) <= MAX_SHOWN else shown[: MAX_SHOWN - 3] + "..."
