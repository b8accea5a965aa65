"""The input of `matrix fit`: a measured quantity at several fleet sizes (or thread counts), checked completely."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from matrix.check.read import parse_json
from matrix.terms.problems import InvalidMatrix, Problem, shorten

LARGEST_N = 1_000_000
LARGEST_VALUE = 1e300
MAX_POINTS = 10_000
FIELDS = ("n", "value", "low", "high", "higherIsBetter", "predict", "perInstance")
EXAMPLE = '{"n": [1, 10, 50, 100], "value": [63, 612, 2400, 3900], "higherIsBetter": true, "predict": [200]}'


@dataclass(frozen=True)
class Series:
    """Values at fleet sizes n, and the sizes to predict.

    `low` and `high` are the ends of each value's 95 % interval, None for a value without one; empty if none has one.
    `per_instance`: a rate is that of each instance, not of the whole fleet. Durations always are each instance's.
    """

    n: tuple[int, ...]
    value: tuple[float, ...]
    higher_is_better: bool
    predict: tuple[int, ...] = ()
    per_instance: bool | None = None
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()


def read_series(text: str | bytes) -> Series:
    """Return the series written in JSON `text`; raise InvalidMatrix with every problem it has."""
    document = parse_json(text)
    problems = list(_problems(document))
    if problems:
        raise InvalidMatrix(problems)
    return Series(
        n=tuple(int(entry) for entry in document["n"]),
        value=tuple(float(entry) for entry in document["value"]),
        higher_is_better=document["higherIsBetter"],
        predict=tuple(int(entry) for entry in document.get("predict", [])),
        per_instance=document.get("perInstance"),
        low=_ends(document, "low"),
        high=_ends(document, "high"),
    )


def _ends(document: dict[str, Any], name: str) -> tuple[float | None, ...]:
    return tuple(None if entry is None else float(entry) for entry in document.get(name, []))


def _problems(document: Any) -> Iterator[Problem]:
    if not isinstance(document, dict):
        yield Problem("", shorten(document), "must be a JSON object", f"write {EXAMPLE}")
        return
    for name in sorted(document.keys() - set(FIELDS)):
        yield Problem(name, shorten(document[name]), "is not a field of a series", f"use {', '.join(FIELDS)}")
    yield from _list_problems(document, "n", is_size=True, required=True)
    yield from _list_problems(document, "value", is_size=False, required=True)
    yield from _list_problems(document, "predict", is_size=True, required=False)
    if not isinstance(document.get("higherIsBetter"), bool):
        fix = "write true for rates such as files/s, false for durations"
        yield Problem("higherIsBetter", shorten(document.get("higherIsBetter")), "must be true or false", fix)
    if not isinstance(document.get("perInstance", False), bool):
        fix = "write true where a rate is each instance's, false where it is the whole fleet's"
        yield Problem("perInstance", shorten(document["perInstance"]), "must be true or false", fix)
    n, value = document.get("n"), document.get("value")
    if isinstance(n, list) and isinstance(value, list) and len(n) != len(value):
        yield Problem("value", len(value), f"has {len(value)} entries, n has {len(n)}", "give one value for each n")
    yield from _interval_problems(document)


def _interval_problems(document: dict[str, Any]) -> Iterator[Problem]:
    """Yield the problems of the ends of the values' intervals."""
    ends = {name: document[name] for name in ("low", "high") if name in document}
    values = document.get("value")
    if not ends or not isinstance(values, list):
        return
    for name in ("low", "high"):
        entries = ends.get(name)
        if not isinstance(entries, list) or len(entries) != len(values):
            fix = "give low and high, each with an entry for each value; null where a value has no interval"
            yield Problem(name, shorten(entries), "must be a list as long as value", fix)
            return
    for index, (low, value, high) in enumerate(zip(ends["low"], values, ends["high"], strict=True)):
        if low is None and high is None:
            continue
        if not (_is_positive(low) and _is_positive(high) and _is_positive(value) and low <= value <= high):
            rule = "must be a finite number above 0 and at most the value, and high at least the value"
            yield Problem(f"low[{index}]", shorten(low), rule, "write the 95 % interval of the value, or null for both")


def _list_problems(document: dict[str, Any], name: str, *, is_size: bool, required: bool) -> Iterator[Problem]:
    entries = document.get(name, None if required else [])
    if not isinstance(entries, list) or (required and not entries):
        yield Problem(name, shorten(entries), "must be a list with at least one entry", f"write {EXAMPLE}")
        return
    if len(entries) > MAX_POINTS:
        yield Problem(name, len(entries), f"has more than {MAX_POINTS:,} entries", "give medians instead of samples")
        return
    for index, entry in enumerate(entries):
        if is_size and not _is_size(entry):
            rule = f"must be an integer from 1 to {LARGEST_N:,}"
            yield Problem(f"{name}[{index}]", shorten(entry), rule, "write a number of instances, such as 10")
        elif not is_size and not _is_positive(entry):
            yield Problem(
                f"{name}[{index}]", shorten(entry), "must be a finite number above 0", "leave unmeasured sizes out"
            )


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST_N


def _is_positive(value: object) -> bool:
    # Compare before converting: an integer of a thousand digits does not fit into a float.
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < LARGEST_VALUE
