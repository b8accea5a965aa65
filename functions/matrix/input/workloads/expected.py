"""The estimated duration of one execution of a user's own work: one time, or several by the size of the fleet."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, StringConstraints

from matrix.terms.problems import Problems

# Held as a map: one time for all sizes is that of one instance.
ALONE = "1"
# A number of instances, or a type of storage, which then takes this time with each size of the fleet.
SizeOrStorage = Annotated[str, StringConstraints(pattern=r"^([1-9][0-9]{0,3}|[a-z][a-z0-9-]{1,30})$")]
Seconds = Annotated[int, Field(ge=1, le=86_400)]


def _as_map(value: object) -> object:
    return value if isinstance(value, dict) else {ALONE: value}


def _as_written(seconds: dict[str, int]) -> int | dict[str, int]:
    return seconds[ALONE] if seconds.keys() == {ALONE} else seconds


class _OneOrMap:
    """JSON Schema: one time, or a map of several."""

    def __get_pydantic_json_schema__(
        self, core_schema: Any, handler: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        schema = handler(core_schema)
        [of_keys] = schema["patternProperties"].values()
        return {"anyOf": [of_keys, schema | {"additionalProperties": False}]}


ExpectedSeconds = Annotated[
    dict[SizeOrStorage, Seconds],
    Field(min_length=1, max_length=20),
    BeforeValidator(_as_map),
    PlainSerializer(_as_written),
    _OneOrMap(),
]


def seconds_of(expected: Mapping[str, int], storage_type: str, instances: int) -> float:
    """Return the seconds for a fleet of this size on a storage of this type.

    Between two sizes the value is linearly interpolated; beyond them it is that of the nearest size.
    """
    if storage_type in expected:
        return float(expected[storage_type])
    known = sorted((int(size), seconds) for size, seconds in expected.items() if size.isdigit())
    for (size, seconds), (larger, longer) in pairwise(known):
        if size <= instances <= larger:
            return seconds + (longer - seconds) * (instances - size) / (larger - size)
    return float(known[0][1] if instances < known[0][0] else known[-1][1])


def expected_for_any_storage(part: Any) -> Problems:
    """Yield a problem for times by storage alone: a storage that is not among them would have none."""
    if not any(size.isdigit() for size in part.expected_seconds):
        rule = "names no size of a fleet, so a storage that it does not name has no time"
        yield part.problem("expectedSeconds", rule, 'write also "1", the seconds with one instance')
