"""Documents of comparisons.

`matrix compare --json` prints two runs point by point; comparison.json is their short form at a run's end;
baseline.json names the run to compare with; and `matrix results --published` puts published figures beside a run's.
"""

from typing import Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from matrix.terms.documents.result import Interval


class PublishedComparison(TypedDict):
    """A figure of a run and the published one, with every objection to holding them against each other."""

    cell: str
    storage: str
    instances: int
    point: str
    metric: str
    unit: str
    percentile: str
    ours: float | None
    published: float | None
    date: str | None
    ratio: float | None
    comparable: bool
    why_not: list[str]
    differs: list[str]
    """Differences between them that still allow a comparison."""
    source: str


class LostCell(TypedDict):
    """A cell of the base that the run has not measured, wholly or at some of its points."""

    cell: str
    points: list[str]
    reason: str


RunVerdict: TypeAlias = Literal["slower", "faster", "both", "no-difference", "cannot-tell", "not-compared"]


class ComparedPoint(TypedDict):
    """A point that became slower or faster, by more than chance explains."""

    storage: str
    fleet: str
    workload: str
    point: str
    metric: str
    percentile: str
    """p50, or the slow percentile, such as p90, where only that became slower."""
    is_trend: bool
    """Whether the change grew over the earlier runs, and none of them shows it alone."""
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
    lost: list[LostCell]
    """What the base has measured and the run has not."""
    points: int
    slower: int
    faster: int
    unjudged: int
    regressions: int
    """Points that are shown to be slower by more than the threshold."""
    threshold: float
    """As a share: 0.05 is 5 %."""
    detectable_ratio: float | None
    """The smallest change that would have been found, at the middle point. None: nothing was tested."""
    noisiest_ratio: float | None
    """At the noisiest point."""
    is_of_one_night: NotRequired[bool]
    """Whether a change was found without the scatter of earlier runs, so that it may be what nights differ by."""
    runs: int
    """How many earlier runs counted with their scatter, the base among them, at the point with the fewest; 0: none."""
    changes: list[ComparedPoint]
    """The largest ones, slower ones first."""


class BaselineDocument(TypedDict):
    """A name for the run that later runs are compared with."""

    schema: int
    name: str
    run: str
    matrix: str
    """Name of the run's matrix."""
    set_at: float


PairVerdict: TypeAlias = Literal["slower", "faster", "no difference shown", "cannot tell"]


class ComparedSide(TypedDict):
    """A point in one of the two runs."""

    cell: str
    figure: float | None
    """At the percentile that is compared."""
    n: int | None
    """How many samples have the metric; None where a source does not tell."""


class ComparedPair(TypedDict):
    """One point of one cell in both runs."""

    storage: str
    workload: str
    fleet: str
    point: str
    metric: str
    unit: str
    higher_is_better: bool
    percentile: str
    """p50; or the slow percentile, such as p90, where only that became slower, or where nobody can tell it."""
    base: ComparedSide
    run: ComparedSide
    ratio: float | None
    """Of the figures, run over base; None where there is no ratio of 0."""
    interval: Interval | None
    """Of the ratio, at 95 %."""
    p_lower: float | None
    """The chance that a value of the run is lower than one of the base."""
    cliffs_delta: float | None
    test: str | None
    p_value: float | None
    p_holm: float | None
    """Corrected so that a run in which nothing changed has one alarm with a chance of 5 % at most."""
    units: list[int] | None
    """How many independent values of base and run were tested."""
    runs: int
    """How many earlier runs counted with their scatter, the base among them; 0: none."""
    is_trend: bool
    """Whether the change is that of all runs in time, as no single one shows it."""
    is_replicated: bool | None
    detectable_ratio: float | None
    """The smallest change that would have been found."""
    verdict: PairVerdict
    words: str
    reason: str | None
    """Why nothing can be told."""
    is_regression: bool
    """Whether it is slower by more than chance explains, and at both ends of its interval beyond the threshold."""


class ComparisonPower(TypedDict):
    """The smallest changes that would have been found."""

    points: int
    """That were tested."""
    power: float
    """The chance to find such a change."""
    ratio: float
    """At the middle point."""
    worst_ratio: float
    """At the noisiest."""
    words: str


class ComparedRuns(TypedDict):
    """Two runs side by side."""

    schema: int
    base: str
    run: str
    threshold: float
    """As a share: 0.05 is 5 %."""
    thresholds: NotRequired[dict[str, float]]
    """Of metrics that have one of their own."""
    environments: list[str]
    """Of base and run."""
    compared: list[ComparedPair]
    """Points that need attention come first."""
    power: ComparisonPower | None
    """None where nothing could be tested."""
    lost: list[LostCell]
    """What the base has measured and the run has not."""
    only_in_run: list[str]
    regressions: int
    is_of_one_night: bool
    """Whether a change was found without the scatter of earlier runs, so that it may be what nights differ by."""
    warnings: list[str]
