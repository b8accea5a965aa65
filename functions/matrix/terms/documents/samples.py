"""samples.json: everything that one instance has measured so far, with where and how."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from matrix.terms.documents.parts import Emulation, Params


class SamplesInstance(TypedDict):
    """Which instance measured."""

    id: str
    type: str
    availability_zone: str | None
    userid: str
    """`aws:userid` of its role's session, by which its folder is named."""
    image_id: str | None


class SamplesAgent(TypedDict):
    """The agent itself."""

    version: str
    sha256: NotRequired[str]
    """Of the zip that it ran from."""


class Clock(TypedDict):
    """State of the clock by chrony."""

    source: str
    offset_s: float
    rms_offset_s: float
    is_synchronised: bool


class SamplesHost(TypedDict):
    """The machine."""

    boot_id: NotRequired[str | None]
    """Identifies the machine. Instances with the same value are processes of one machine and share its counters."""
    kernel: str
    os: str
    architecture: str
    cpus: int
    memory_mib: int
    python: str
    clock: Clock | None
    """None where chrony does not run."""


class SamplesMount(TypedDict):
    """How the storage was mounted, as the kernel says."""

    kind: str
    path: str
    source: str
    fstype: str
    options: str


class SamplesCalibration(TypedDict):
    """Rate of a tool in memory, without a storage: the ceiling of these points, or the reason why it is unknown."""

    points: list[str]
    metric: NotRequired[str]
    value: NotRequired[float]
    duration_s: NotRequired[float]
    params: NotRequired[Params]
    tool: NotRequired[dict[str, Any]]
    not_done: NotRequired[str]


class Prepared(TypedDict):
    """Software that was installed at boot."""

    installed: list[str]
    seconds: float
    at: float
    """Epoch seconds when that was done."""


class Between(TypedDict):
    """Storage traffic before a step, since the previous step or the mount."""

    since: float
    """Epoch seconds."""
    counters: dict[str, float]


class SampleSteadiness(TypedDict):
    """Whether the rate per second reached steady state (SNIA PTS) and kept it to the end of the step."""

    state: Literal["steady", "not steady", "too short", "too noisy"]
    """Too noisy: it changed so much from one second to the next that nobody can tell."""
    from_s: float | None
    """From which second on; null unless it was steady."""
    ratio: float | None
    """The rate from then on, over that of the whole step."""
    seconds: int
    """How many whole seconds were looked at."""
    period_s: NotRequired[float]
    """After how many seconds a rate repeats that swings; such a step is not steady."""


class SamplesEntry(TypedDict):
    """One step on one instance."""

    point: str
    repetition: int
    step: int
    """Its number in the job, from 0."""
    metrics: dict[str, float]
    """Values by metric: names of matrix/terms/metrics.py, and those that a `command` declares."""
    started_at: float
    """Epoch seconds."""
    ended_at: float
    work_started_at: NotRequired[float]
    """First start of the work itself, without the start of its programs."""
    work_ended_at: NotRequired[float]
    scheduled_at: float | None
    """When the fleet was to start; None for an instance alone."""
    start_skew_s: float | None
    """How late this instance started."""
    clock_ahead_of_s3_s: NotRequired[list[float]]
    """Between which two numbers of seconds this instance's clock is ahead of S3's, by the Date of S3's answers."""
    work: dict[str, float]
    """Work done: files, bytes, read_bytes, write_bytes, builds, runs."""
    workers: int
    """How many processes or threads worked at once."""
    caches: str
    """Whether the kernel's caches were dropped before."""
    tool: dict[str, Any]
    """The program that did the work: name, version and further facts."""
    counters: dict[str, float]
    """Differences of the kernel's, the network card's and the volumes' own counters over the step."""
    between: NotRequired[Between]
    steadiness: NotRequired[SampleSteadiness]
    """Steadiness of the rate per second. Missing if the tool does not report it, and for open loops."""
    raw: list[str]
    """Names of the files with the tool's own output."""
    warnings: list[str]
    emulated: NotRequired[bool]
    """There where the storage was only played."""


class SamplesDocument(TypedDict):
    """Everything that one instance has measured so far. It is written by an instance, so it is read with distrust."""

    schema: int
    run: str
    cell: str
    environment: str
    instance: SamplesInstance
    agent: SamplesAgent
    host: SamplesHost
    mount: SamplesMount
    emulation: NotRequired[Emulation]
    calibration: list[SamplesCalibration]
    prepared: Prepared
    samples: list[SamplesEntry]
