"""A rate over time as an agent watched it: the bytes that a counter had seen at each second of one step.

It adds a curve to a result that is complete without it.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field, FiniteFloat, StringConstraints, model_validator

from matrix.samples import raw_file
from matrix.samples.raw_file import Claims
from matrix.terms.documents.result import Curve

# 86,400 s of a day with seven counters of 20 characters are 12 MB; no agent writes more.
MAX_BYTES = 15_000_000
MAX_READINGS = 90_000
# More curves of one point cannot be distinguished; the raw files have them all.
MAX_CURVES = 12
# A longer curve is reduced to this many stretches, each with its mean: a chart shows no more.
MAX_STRETCHES = 720

Reading = Annotated[FiniteFloat, Field(ge=0, le=1e15)]
Counter = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}$")]


class SeriesFile(Claims):
    """The counters of one instance since the start of a step, at these seconds."""

    carrier: Counter
    seconds: Annotated[list[Reading], Field(min_length=2, max_length=MAX_READINGS)]
    counted: Annotated[dict[Counter, list[Reading]], Field(max_length=20)]

    @model_validator(mode="after")
    def _is_a_series(self) -> Self:
        if len(self.counted.get(self.carrier, [])) != len(self.seconds):
            raise ValueError("the carrier has not one reading for each second")
        if any(after <= before for before, after in pairwise(self.seconds)):
            raise ValueError("the seconds do not rise")
        return self


def read_curve(content: bytes) -> Curve:
    """Return the rate of the counter that the bytes went through: `counter`, `seconds` and `mb_per_s`.

    A rate is the mean since the second before it. Raises InvalidSamples if the file is too large or of another shape.
    """
    series = raw_file.read(SeriesFile, content, name="a series", max_bytes=MAX_BYTES)
    kept = _spread(len(series.seconds))
    seconds = [series.seconds[index] for index in kept]
    counted = [series.counted[series.carrier][index] for index in kept]
    steps = zip(pairwise(seconds), pairwise(counted), strict=True)
    rates = [max(0.0, more - less) / (after - before) / 1e6 for (before, after), (less, more) in steps]
    return {"counter": series.carrier, "seconds": seconds[1:], "mb_per_s": [round(rate, 3) for rate in rates]}


def _spread(readings: int) -> Sequence[int]:
    """Return the readings to keep, with both ends; counters add up, so the bytes of a dropped reading are not lost."""
    if readings <= MAX_STRETCHES + 1:
        return range(readings)
    return sorted({round(n * (readings - 1) / MAX_STRETCHES) for n in range(MAX_STRETCHES + 1)})
