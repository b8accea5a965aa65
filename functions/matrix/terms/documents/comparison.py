"""comparison.json: how a run came out beside the one that its matrix names in compareWith."""

from typing import Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

RunVerdict: TypeAlias = Literal["slower", "faster", "both", "no-difference", "cannot-tell", "not-compared"]


class ComparedPoint(TypedDict):
    """A point that became slower or faster, by more than chance explains."""

    storage: str
    fleet: str
    workload: str
    point: str
    metric: str
    verdict: Literal["slower", "faster"]
    change: float
    """By how much the figure moved, as a share of the base: 0.5 is 50 % more."""
    ratio: float
    low: float | None
    high: float | None
    """Ends of the ratio's 95 % interval; None where it has none."""


class ComparisonDocument(TypedDict):
    """How a run came out beside the one that its matrix names in compareWith; `matrix compare` has all points."""

    schema: int
    run: str
    asked: str
    """What the matrix says: the name of a run, or baseline:NAME."""
    base: str | None
    """The run that it is compared with; None where the name leads to none."""
    verdict: RunVerdict
    """`both`: some points became slower, others faster."""
    reason: str | None
    """Why nothing was compared, or why most of the points that cannot be judged cannot."""
    points: int
    slower: int
    faster: int
    unjudged: int
    regressions: int
    """Points that are slower by more than the threshold."""
    threshold: float
    """As a share: 0.05 is 5 %."""
    detectable_ratio: float | None
    """What change would have been found, at the middle point; None where nothing could be tested."""
    noisiest_ratio: float | None
    """At the noisiest point."""
    is_launched_once: NotRequired[bool]
    """Whether a change was found between single launches: what launches differ by is in no interval then."""
    changes: list[ComparedPoint]
    """The largest ones, slower ones first."""
