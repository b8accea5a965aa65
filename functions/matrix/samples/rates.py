"""A rate over time as an agent has watched it: bytes that a counter had seen at each second of one step.

Raw output of an instance, so it is checked before anything believes it. It only adds a curve to a result that stands
without it.
"""

import gzip
import io
import re
import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StringConstraints, ValidationError, model_validator

from matrix.terms.errors import InvalidSamples

# A day of seconds with seven counters of 20 characters; anything larger is no series of an agent.
MAX_BYTES = 15_000_000
MOST_READINGS = 90_000
# More curves than this of one point nobody can tell apart; the raw files have them all.
MOST_CURVES = 12
# Of a longer curve so many stretches are kept, each with its mean: a chart shows no more.
MOST_STRETCHES = 720
_NAME = re.compile(r"raw/(?P<point>.+)-r(?P<repetition>[0-9]{1,7})\.series\.json(?:\.gz)?")

Reading = Annotated[FiniteFloat, Field(ge=0, le=1e15)]
Counter = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}$")]


class SeriesFile(BaseModel):
    """What one instance counted since the beginning of a step, at these seconds."""

    model_config = ConfigDict(extra="ignore")

    carrier: Counter
    seconds: Annotated[list[Reading], Field(min_length=2, max_length=MOST_READINGS)]
    counted: Annotated[dict[Counter, list[Reading]], Field(max_length=20)]

    @model_validator(mode="after")
    def _is_a_series(self) -> Self:
        if len(self.counted.get(self.carrier, [])) != len(self.seconds):
            raise ValueError("the carrier has not one reading for each second")
        if any(after <= before for before, after in pairwise(self.seconds)):
            raise ValueError("the seconds do not rise")
        return self


def step_of(name: str) -> tuple[str, int] | None:
    """Return point and repetition whose series lies in an instance's file of this name; None for any other file."""
    found = _NAME.fullmatch(name)
    return (found["point"], int(found["repetition"])) if found else None


def read_curve(text: bytes) -> dict[str, Any]:
    """Return the rate of the counter that the bytes went through: `counter`, `seconds` and `mb_per_s`.

    A rate is the mean since the second before it. Raises InvalidSamples if the file is too large or of another shape.
    """
    try:
        plain = _unzipped(text)
        if len(plain) > MAX_BYTES:
            raise InvalidSamples(f"a series has more than {MAX_BYTES:,} bytes")
        found = SeriesFile.model_validate_json(plain)
    except (ValidationError, OSError, EOFError, zlib.error) as error:
        raise InvalidSamples(f"a series cannot be read: {str(error).splitlines()[0]}") from error
    kept = _spread(len(found.seconds))
    seconds = [found.seconds[index] for index in kept]
    counted = [found.counted[found.carrier][index] for index in kept]
    steps = zip(pairwise(seconds), pairwise(counted), strict=True)
    rates = [max(0.0, more - less) / (after - before) / 1e6 for (before, after), (less, more) in steps]
    return {"counter": found.carrier, "seconds": seconds[1:], "mb_per_s": [round(rate, 3) for rate in rates]}


def _spread(readings: int) -> Sequence[int]:
    """Return the readings to keep, both ends among them: a counter loses nothing where some are left out."""
    if readings <= MOST_STRETCHES + 1:
        return range(readings)
    return sorted({round(n * (readings - 1) / MOST_STRETCHES) for n in range(MOST_STRETCHES + 1)})


def _unzipped(text: bytes) -> bytes:
    """What a gzip file holds, and no more of it than a series can have; other text as it is."""
    if not text.startswith(b"\x1f\x8b"):
        return text
    with gzip.open(io.BytesIO(text)) as unzipped:
        return unzipped.read(MAX_BYTES + 1)
