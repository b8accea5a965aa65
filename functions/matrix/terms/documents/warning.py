"""Warnings about a cell's figures as codes and numbers. matrix/text/warnings.py has the words."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class About(TypedDict):
    """Subject of a warning. Without points: the whole cell."""

    points: NotRequired[list[str]]
    metric: NotRequired[str]
    launches: NotRequired[list[int]]
    """In which launches, where not in all."""


class Sized(About):
    """A warning of which the larger is the worse."""

    share: float
    """How far it goes."""


class SlowFirstRun(Sized):
    """A first repetition that was slower than all later ones."""

    code: Literal["slow-first-run"]
    repetition: int


class Drift(Sized):
    """A steady change over the repetitions; share is its size from the first to the last."""

    code: Literal["drift"]
    way: Literal["slower", "faster"]
    repetitions: int


class Group(TypedDict):
    """One of two groups of values."""

    values: int
    median: float


class TwoGroups(Sized):
    """Values with two modes; share is their distance."""

    code: Literal["two-groups", "two-groups-of-instances", "two-groups-of-repetitions"]
    """Who makes them: neither, always the same instances, or whole repetitions."""
    lower: Group
    upper: Group


class Unsteady(Sized):
    """Repetitions of the whole fleet that differ widely without a trend."""

    code: Literal["unsteady"]
    repetitions: int


class Autocorrelated(Sized):
    """Repetitions or launches that resemble the ones before them; share is the lag-1 autocorrelation."""

    code: Literal["autocorrelated"]
    unit: Literal["repetitions", "launches"]
    count: int
    counts_as: int
    """As how many independent ones."""


class LaunchesDiffer(Sized):
    """Launches whose medians differ widely."""

    code: Literal["launches-differ"]
    count: int


class WideInterval(Sized):
    """A median that is known to no better than 10 %; share is half of its interval."""

    code: Literal["wide-interval"]
    unit: Literal["instances", "repetitions", "launches"]
    """Its limit."""
    needed: int
    """How many of them would halve it."""


Finding = SlowFirstRun | Drift | TwoGroups | Unsteady | Autocorrelated | LaunchesDiffer | WideInterval


class FewerInstances(Sized):
    """A fleet that is smaller than its count, at least its quorum. `share` is the missing part."""

    code: Literal["fewer-instances"]
    ran: int
    count: int
    reason: str
    """Why, as EC2 said it."""


class LaunchMissing(About):
    """A launch that was not measured, while others were."""

    code: Literal["launch-missing"]
    of: int
    """How many launches there were."""
    reason: str


class Overhead(Sized):
    """Share of a sample's time that was not the work itself, at the worst point."""

    code: Literal["overhead"]


class ToolBound(Sized):
    """A point near the rate that its tool reaches without a storage. `share` of that rate."""

    code: Literal["tool-bound"]
    tool: str
    ceiling: float
    """Rate of the tool, in the metric's unit."""


class Behind(Sized):
    """An open loop that completed fewer operations than were due. `share` is the missing part."""

    code: Literal["behind"]
    done_per_s: float
    offered_per_s: float


class NotSteady(Sized):
    """A point whose rate had not settled; share is that of its samples."""

    code: Literal["not-steady"]
    unsteady: int
    judged: int
    period_s: NotRequired[float]
    """Of the swings, where most of them swing."""


class SteadyLate(Sized):
    """A point that was steady only late, and at another rate."""

    code: Literal["steady-late"]
    from_s: float
    ratio: float
    """The steady rate as a share of the whole step's."""


class OfSamples(About):
    """Warnings that instances wrote about their samples."""

    code: Literal["of-samples"]
    text: str
    samples: int
    """How many samples have it."""


class Unreadable(About):
    """Files that could not be read."""

    code: Literal["unreadable"]
    what: Literal["latencies", "bundles", "rates-over-time"]
    """`bundles`: files of many steps; their latencies were then read step by step."""
    files: int
    reason: str
    """Of the first."""


class NoBottleneck(About):
    """The search for the bottleneck failed."""

    code: Literal["no-bottleneck"]
    reason: str


class OfSource(About):
    """Doubts about published figures."""

    code: Literal["of-source"]
    text: str


CellWarning = (
    Finding | FewerInstances | LaunchMissing | Overhead | ToolBound | Behind | NotSteady | SteadyLate | OfSamples
    | Unreadable | NoBottleneck | OfSource
)  # fmt: skip
