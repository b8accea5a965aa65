"""comparison.json: comparison of a run with the run that its matrix names in compareWith."""

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
    """Comparison of a run with the run named in compareWith. `matrix compare` shows all points."""

    schema: int
    run: str
    asked: str
    """compareWith of the matrix: the name of a run, or baseline:NAME."""
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
    """The smallest change that would have been found, at the middle point. None: nothing was tested."""
    noisiest_ratio: float | None
    """At the noisiest point."""
    is_launched_once: NotRequired[bool]
    """Whether a change was found between single launches, whose intervals exclude differences between launches."""
    changes: list[ComparedPoint]
    """The largest ones, slower ones first."""
