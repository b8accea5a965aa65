"""Output of `matrix compare --json`: two runs, point by point."""

from typing import Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from matrix.terms.documents.result import Interval

PairVerdict: TypeAlias = Literal["slower", "faster", "no difference shown", "cannot tell"]


class ComparedSide(TypedDict):
    """A point in one of the two runs."""

    cell: str
    p50: float | None
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
    base: ComparedSide
    run: ComparedSide
    ratio: float | None
    """Of the medians, run over base; None where there is no ratio of 0."""
    interval: Interval | None
    """Of the ratio, at 95 %."""
    p_lower: float | None
    """The chance that a value of the run is lower than one of the base."""
    cliffs_delta: float | None
    test: str | None
    p_value: float | None
    p_holm: float | None
    """Corrected so that a run in which nothing changed has one alarm with a chance of 5 % at most."""
    q_value: float | None
    """Corrected so that of all points that are listed as changed 5 % are expected to be false alarms."""
    units: list[int] | None
    """How many independent values of base and run were tested."""
    is_replicated: bool | None
    detectable_ratio: float | None
    """The smallest change that would have been found."""
    verdict: PairVerdict
    words: str
    reason: str | None
    """Why nothing can be told."""
    is_regression: bool
    """Whether it is slower by more than the threshold and by more than chance explains."""


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
    correction: Literal["Benjamini-Hochberg", "Holm"]
    environments: list[str]
    """Of base and run."""
    compared: list[ComparedPair]
    """Points that need attention come first."""
    power: ComparisonPower | None
    """None where nothing could be tested."""
    only_in_base: list[str]
    only_in_run: list[str]
    regressions: int
    is_launched_once: bool
    """Whether a change was found between single launches, whose intervals exclude differences between launches."""
    warnings: list[str]
