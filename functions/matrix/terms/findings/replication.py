"""Missing replication, without which fleets cannot be compared: instances, repetitions or launches."""

from collections.abc import Iterable, Sequence
from typing import Literal

from typing_extensions import TypedDict

from matrix.terms.grouping import grouped
from matrix.terms.quantities import count_of

Unit = Literal["instance", "repetition", "launch"]
MIN_LAUNCHES = 3
# A variance between fewer is hardly known: with two instances in one of two states, 10 % of equal pairs seem different.
MIN_INSTANCES = 3
# Two repetitions show that they differ, but hardly how much: t with 1 degree of freedom is 12.7, with 2 it is 4.3.
MIN_REPETITIONS = 3
NOT_REPLICATED = "not replicated"
# Two runs do not show the variation between nights, which often exceeds that within one run.
ONE_NIGHT = (
    "what another night, other hosts or another zone change is in no interval, and may be the whole difference: "
    "launches of one night share it. From five earlier nights on, their scatter counts; until then allow for it by "
    "`--threshold 10%`"
)
LEAST: dict[Unit, int] = {"instance": MIN_INSTANCES, "repetition": MIN_REPETITIONS, "launch": MIN_LAUNCHES}
# Fields of a matrix.
FIELDS = {"instance": "count", "repetition": "repetitions", "launch": "launches"}


class Shortage(TypedDict):
    """Instances, repetitions or launches of which a fleet has too few for a comparison."""

    unit: Unit
    count: int
    least: int
    """How many it takes."""


class NeededReplication(TypedDict, total=False):
    """With how much data most runs would show what these figures do not: instances and repetitions, or launches."""

    instances: int
    repetitions: int
    launches: int


def shortages_of(instances: int, repetitions: int, launches: int | None) -> tuple[Shortage, ...]:
    """Return what is missing for a comparison: it takes three launches, or three instances in three repetitions.

    `launches` is None where no more than one was planned.
    """
    counts: dict[Unit, int] = {"instance": instances, "repetition": repetitions}
    if launches is not None:
        counts = {"launch": launches}
    return tuple(
        {"unit": unit, "count": count, "least": LEAST[unit]} for unit, count in counts.items() if count < LEAST[unit]
    )


def describe_shortage(shortages: Sequence[Shortage]) -> str:
    """Write the shortages and the fields to set: `only 2 repetitions: set "repetitions": 3, or "launches": 3`."""
    return f"only {describe_counts(shortages)}: {advice(shortages)}"


def describe_not_replicated(shortages: Sequence[Shortage]) -> str:
    """Write that figures cannot be compared, and why: `not replicated (only 2 repetitions: set "repetitions": 3)`."""
    return f"{NOT_REPLICATED} ({describe_shortage(shortages)})"


def describe_needed(needed: NeededReplication | None) -> str:
    """Write how much data most runs would need for a decision: `"count": 30 and "repetitions": 10`."""
    if not needed:
        return "no fleet of reasonable size would show it"
    fields = {
        "count": needed.get("instances"),
        "repetitions": needed.get("repetitions"),
        "launches": needed.get("launches"),
    }
    known = " and ".join(f'"{field}": {count}' for field, count in fields.items() if count)
    return f"{known} would show it in most runs"


def describe_counts(shortages: Sequence[Shortage]) -> str:
    """Write the counts that are too small: `2 instances and 1 repetition`."""
    return " and ".join(count_of(each["count"], each["unit"]) for each in shortages)


def advice(shortages: Sequence[Shortage]) -> str:
    """Write the fields to set: `set "count": 3, or "launches": 3`."""
    fields = " and ".join(f'"{FIELDS[each["unit"]]}": {each["least"]}' for each in shortages)
    is_launched = any(each["unit"] == "launch" for each in shortages)
    return f"set {fields}" + ("" if is_launched else f', or "launches": {MIN_LAUNCHES}')


def shortage_words_of(several: Iterable[Sequence[Shortage]]) -> str:
    """Write the shortages of several comparisons: `only 1 to 2 instances and 1 repetition: set …`."""
    by_unit = grouped((each["unit"], each) for shortages in several for each in shortages)
    most = [max(same, key=lambda each: each["count"]) for same in by_unit.values()]
    fewest = [min(each["count"] for each in same) for same in by_unit.values()]
    counts = [
        f"{f'{least} to ' if least < each['count'] else ''}{describe_counts([each])}"
        for least, each in zip(fewest, most, strict=True)
    ]
    return f"only {' and '.join(counts)}: {advice(most)}"
