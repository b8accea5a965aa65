"""Compare the provenance of two runs' instances, to explain a changed figure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

Facts = Mapping[str, Mapping[str, int]]


class Changed(NamedTuple):
    """A fact that two runs do not share: its values in each, in alphabetical order."""

    fact: str
    before: list[str]
    after: list[str]


def what_changed(before: Iterable[Facts], after: Iterable[Facts]) -> list[Changed]:
    """Return each fact of provenance with different values. A fact that only one run has is not a change."""
    old, new = _values(before), _values(after)
    return [
        Changed(fact, sorted(old[fact]), sorted(values))
        for fact, values in new.items()
        if fact in old and old[fact] != values
    ]


def _values(cells: Iterable[Facts]) -> dict[str, set[str]]:
    values: dict[str, set[str]] = {}
    for facts in cells:
        for fact, counted in facts.items():
            values.setdefault(fact, set()).update(counted)
    return values


def describe_change(changed: Changed, most: int = 60) -> str:
    """Write a change: `kernel: 6.1.0 → 6.12.0`; long values are cut."""
    before, after = (", ".join(values) for values in changed[1:])
    return f"{changed.fact}: {_cut(before, most)} → {_cut(after, most)}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
