"""The samples file of an instance, checked before anything believes it."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Annotated, Literal, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, FiniteFloat, ValidationError

from matrix.samples.raw_file import Claims
from matrix.terms.errors import InvalidSamples
from matrix.terms.grouping import grouped
from matrix.terms.metrics import METRICS

LONGEST = 300
# A fleet boots one image with one agent, so it has far fewer different values; more come from a fuzzer.
MAX_VALUES = 10


def _text(value: object) -> str | None:
    return None if value is None else " ".join(str(value).split())[:LONGEST]


def _mapping(value: object) -> object:
    return value if isinstance(value, dict) else {}


Text = Annotated[str | None, BeforeValidator(_text)]


class Agent(Claims):
    """The agent itself."""

    version: Text = None
    sha256: Text = None


class Host(Claims):
    """The machine."""

    boot_id: Text = None
    kernel: Text = None
    os: Text = None
    architecture: Text = None
    cpus: Text = None
    memory_mib: Text = None
    python: Text = None


class Mount(Claims):
    """The mount of the storage."""

    kind: Text = None
    fstype: Text = None
    options: Text = None
    took_s: Annotated[FiniteFloat, Field(ge=0)] | None = None


class Tool(Claims):
    """The program that did the work of a step; `mode` is whether an engine's workers were threads or processes."""

    name: Text = None
    version: Text = None
    mode: Text = None


AgentField = Annotated[Agent, BeforeValidator(_mapping), Field(default_factory=Agent)]
HostField = Annotated[Host, BeforeValidator(_mapping), Field(default_factory=Host)]
MountField = Annotated[Mount, BeforeValidator(_mapping), Field(default_factory=Mount)]
ToolField = Annotated[Tool, BeforeValidator(_mapping), Field(default_factory=Tool)]

# 10,000 steps of one instance at about 2 kB each; anything larger is not a file of samples.
MAX_BYTES = 20_000_000

MAX_CALIBRATIONS = 1_000
MAX_RAW_FILES, MAX_LETTERS = 20, 300

Name = Annotated[str, Field(max_length=200)]


def _not_too_small(value: float) -> float:
    """Refuse values below 10^-9 other than zero: no measurement is so small, and dividing by one overflows."""
    if 0 < value < 1e-9:  # noqa: PLR2004
        raise ValueError("is neither 0 nor at least 1e-9")
    return value


def _counters(value: object) -> dict[str, float]:
    if not isinstance(value, dict):
        return {}
    numbers = (int, float)
    known = {
        name: amount for name, amount in value.items() if isinstance(amount, numbers) and not isinstance(amount, bool)
    }
    return {str(name)[:200]: float(amount) for name, amount in list(known.items())[:100] if 0 <= amount <= 1e15}  # noqa: PLR2004


def _names(value: object) -> list[str]:
    """Return the valid names of raw files; no figure depends on a bad one, so it does not void the sample."""
    names = value[:MAX_RAW_FILES] if isinstance(value, list) else []
    return [name for name in names if isinstance(name, str) and len(name) <= MAX_LETTERS]


# Quantities are never negative, and none reaches 10^15 of its unit; below that, sums and squares stay finite.
Quantity = Annotated[FiniteFloat, Field(ge=0, le=1e15), AfterValidator(_not_too_small)]
# No figure depends on counters, so an invalid counter is dropped and does not void the sample.
Counters = Annotated[dict[str, float], BeforeValidator(_counters)]
Epoch = Annotated[FiniteFloat, Field(ge=0, le=1e11)]


class Steadiness(Claims):
    """Whether a step's rate of each second became steady, from which second on, and its ratio to the whole step's."""

    state: Literal["steady", "not steady", "too short", "too noisy"]
    from_s: Annotated[FiniteFloat, Field(ge=0, le=1e7)] | None = None
    ratio: Annotated[FiniteFloat, Field(ge=0, le=1e6)] | None = None
    seconds: int = Field(ge=0, le=10_000_000)
    period_s: Annotated[FiniteFloat, Field(gt=0, le=1e7)] | None = None


Aside = TypeVar("Aside", bound=BaseModel)


def _or_none(model: type[Aside]) -> Callable[[object], Aside | None]:
    """Return a validator that drops an invalid value: no figure depends on it, so the sample stays valid."""

    def validated(value: object) -> Aside | None:
        with suppress(ValidationError):
            return model.model_validate(value)
        return None

    return validated


class Sample(Claims):
    """One step (a point in one repetition) on one instance."""

    point: Name
    repetition: int = Field(ge=1, le=1_000_000)
    step: int = Field(ge=0, le=1_000_000)
    metrics: dict[Name, Quantity] = Field(max_length=100)
    started_at: Epoch
    ended_at: Epoch
    # First start and last end of the work itself: without the start of programs, a ramp and a report.
    work_started_at: Epoch | None = None
    work_ended_at: Epoch | None = None
    start_skew_s: Annotated[FiniteFloat, Field(ge=-1e6, le=1e6)] | None = None
    work: dict[Name, Quantity] = Field(default_factory=dict, max_length=20)
    warnings: list[Annotated[str, Field(max_length=1000)]] = Field(default_factory=list, max_length=50)
    caches: Name | None = None
    tool: ToolField
    counters: Counters = Field(default_factory=dict)
    steadiness: Annotated[Steadiness | None, BeforeValidator(_or_none(Steadiness))] = None
    workers: int = Field(default=0, ge=0, le=1_000_000)
    # Below the instance's folder.
    raw: Annotated[list[str], BeforeValidator(_names)] = Field(default_factory=list)

    @property
    def work_span(self) -> tuple[float, float]:
        """Start and end of the work itself (epoch seconds); of the programs if the agent reported no others."""
        if self.work_started_at is None or self.work_ended_at is None:
            return self.started_at, self.ended_at
        return self.work_started_at, self.work_ended_at

    @property
    def overhead_share(self) -> float:
        """Share of the time from start to end that was not the work itself, from 0 to 1."""
        start, end = self.work_span
        whole_s = self.ended_at - self.started_at
        return max(0.0, 1 - (end - start) / whole_s) if whole_s > 0 else 0.0


class Calibration(Claims):
    """Rate of a tool in the instance's memory, without a storage: the load generator's limit at some points."""

    points: list[Name] = Field(max_length=10_000)
    metric: Name
    value: Annotated[FiniteFloat, Field(gt=0, le=1e15)]


def _calibrations(value: object) -> list[Calibration]:
    """Return the valid calibrations; a failed one has a reason instead of a value and stays in samples.json."""
    calibrations = []
    for entry in value[:MAX_CALIBRATIONS] if isinstance(value, list) else []:
        with suppress(ValidationError):
            calibrations.append(Calibration.model_validate(entry))
    return calibrations


class InstanceIdentity(Claims):
    """Which instance measured."""

    id: Name
    type: Name
    availability_zone: Name | None = None


class SampleFile(Claims):
    """All samples of one instance in one cell."""

    run: Name
    cell: Name
    instance: InstanceIdentity
    agent: AgentField
    host: HostField
    mount: MountField
    # No figure depends on ceilings, so an invalid one is dropped and does not void the samples.
    calibration: Annotated[list[Calibration], BeforeValidator(_calibrations)] = Field(default_factory=list)
    samples: list[Sample] = Field(max_length=10_000)


class FileSample(NamedTuple):
    """A sample, and the file of the instance that took it."""

    file: SampleFile
    sample: Sample


def by_point(files: Iterable[SampleFile]) -> dict[str, list[FileSample]]:
    """Return the samples of all instances by point, in the order of the files; one pass serves all points."""
    return grouped((sample.point, FileSample(file, sample)) for file in files for sample in file.samples)


def _is_within(sample: Sample) -> bool:
    start, end = sample.work_span
    return sample.started_at <= start <= end <= sample.ended_at


def read_samples(
    text: bytes, *, instance: str, cell: str, own: Collection[str] = (), is_of_leader: bool = False
) -> SampleFile:
    """Return the samples that an instance uploaded for a cell, whose workload may declare own metrics.

    If only the leader of the fleet has figures (`is_of_leader`), those of the others may have none.

    Raises InvalidSamples when the text is too large, is not JSON of the right shape, holds
    numbers that are not finite, names another cell or instance than its folder, has undeclared metrics, or lacks a
    declared one.
    """
    if len(text) > MAX_BYTES:
        raise InvalidSamples(f"samples.json has {len(text):,} bytes, more than {MAX_BYTES:,}")
    try:
        uploaded = SampleFile.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        # The instance chose these names, so control characters are escaped for terminals.
        where = ".".join(part if str(part).isprintable() else repr(part) for part in map(str, first["loc"]))
        raise InvalidSamples(f"samples.json: {where or 'the whole file'}: {first['msg']}") from error
    if uploaded.cell != cell or uploaded.instance.id != instance:
        raise InvalidSamples(f"samples.json claims to be of {uploaded.instance.id!r} in cell {uploaded.cell!r}")
    counts = Counter((sample.point, sample.repetition) for sample in uploaded.samples)
    twice = [f"{point!r}, repetition {repetition}" for (point, repetition), times in counts.items() if times > 1]
    if twice:
        raise InvalidSamples(f"samples.json has a step twice: {twice[0]}")
    reversed_ = next((sample for sample in uploaded.samples if sample.ended_at < sample.started_at), None)
    if reversed_:
        raise InvalidSamples(f"samples.json: step {reversed_.step} ended before it started")
    beyond = next((sample for sample in uploaded.samples if not _is_within(sample)), None)
    if beyond:
        raise InvalidSamples(f"samples.json: step {beyond.step} worked before it started or after it ended")
    unknown = sorted({name for sample in uploaded.samples for name in sample.metrics} - METRICS.keys() - set(own))
    if unknown:
        raise InvalidSamples(f"samples.json has unknown metrics: {', '.join(map(repr, unknown[:5]))}")
    with_figures = [sample for sample in uploaded.samples if sample.metrics]
    if len(with_figures) < len(uploaded.samples) and not is_of_leader:
        raise InvalidSamples("samples.json has a step without metrics")
    lacking = next((sample for sample in with_figures if not sample.metrics.keys() >= set(own)), None)
    if lacking:
        missing = ", ".join(sorted(set(own) - lacking.metrics.keys()))
        raise InvalidSamples(f"samples.json: step {lacking.step} lacks what the matrix declares: {missing}")
    return uploaded
