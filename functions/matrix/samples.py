"""What an agent uploads. It comes from an instance, so it is checked before anything believes it."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from matrix.errors import InvalidSamples
from matrix.metrics import METRICS

# 10,000 steps of one instance at about 2 kB each; anything larger is not a file of samples.
MAX_BYTES = 20_000_000

Name = Annotated[str, Field(max_length=200)]


class Sample(BaseModel):
    """One step (a point in one repetition) on one instance."""

    model_config = ConfigDict(extra="ignore")

    point: Name
    repetition: int = Field(ge=1)
    step: int = Field(ge=0)
    metrics: dict[Name, FiniteFloat] = Field(min_length=1, max_length=100)
    started_at: FiniteFloat
    ended_at: FiniteFloat
    start_skew_s: FiniteFloat | None = None
    work: dict[Name, FiniteFloat] = Field(default_factory=dict, max_length=20)
    warnings: list[Annotated[str, Field(max_length=1000)]] = Field(default_factory=list, max_length=50)
    caches: Name | None = None


class InstanceIdentity(BaseModel):
    """Which instance measured."""

    model_config = ConfigDict(extra="ignore")

    id: Name
    type: Name
    availability_zone: Name | None = None


class SampleFile(BaseModel):
    """All samples of one instance in one cell."""

    model_config = ConfigDict(extra="ignore")

    run: Name
    cell: Name
    instance: InstanceIdentity
    samples: list[Sample] = Field(max_length=10_000)


def read_samples(text: bytes, *, instance: str, cell: str) -> SampleFile:
    """Return the samples that an instance uploaded for a cell.

    Raises InvalidSamples when the text is too large, is not JSON of the right shape, holds
    numbers that are not finite, or speaks of another cell or instance than the one whose folder it lies in.
    """
    if len(text) > MAX_BYTES:
        raise InvalidSamples(f"samples.json has {len(text):,} bytes, more than {MAX_BYTES:,}")
    try:
        found = SampleFile.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise InvalidSamples(f"samples.json: {where}: {first['msg']}") from error
    if found.cell != cell or found.instance.id != instance:
        raise InvalidSamples(f"samples.json claims to be of {found.instance.id} in cell {found.cell}")
    unknown = sorted({name for sample in found.samples for name in sample.metrics} - METRICS.keys())
    if unknown:
        raise InvalidSamples(f"samples.json has unknown metrics: {', '.join(unknown[:5])}")
    return found
