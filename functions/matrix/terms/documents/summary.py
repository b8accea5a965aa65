"""summary.json: all cells of a run, their cost and the recommended storage. Every output is made from it."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from matrix.terms.documents.parts import CostRange, Part
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.findings.replication import NeededReplication
from matrix.terms.findings.risks import RiskDocument
from matrix.terms.findings.verdicts import LostDocument, VerdictDocument


class Filling(TypedDict):
    """Cost of filling the cache that builds read."""

    seconds: float
    """On one instance."""
    instances: int
    """That fill one: all of a fleet with storages of their own, else one."""
    builds: int
    """Builds that use the filled cache at the same time."""
    usd: float
    """Of all instances that fill."""
    basis: str
    is_assumed: NotRequired[bool]
    """There where nobody measured the seconds: they are those that the matrix or the source expects."""


class PointCost(TypedDict):
    """Cost of one result."""

    per: str
    """build, TB moved or million files."""
    usd: float
    """Cost while it worked: hourly rates times the time from first start to last end, plus charges by use."""
    low_usd: NotRequired[float]
    high_usd: NotRequired[float]
    """Ends of its 95 % interval, where single values of replicated work are known. Shown where they are far apart."""
    basis: str
    missing: str | None
    """Missing parts, which make it a lower bound."""
    is_assumed: NotRequired[bool]
    """Whether a twentieth of `usd` and more is for bytes that nobody has counted. Shown as about, with two digits."""
    is_of_median: NotRequired[bool]
    """Whether `usd` is the cost of a result of the median time, as single values are not published."""
    usd_billed: float | None
    """As the run paid it, with boot, barriers and waiting."""
    billed_basis: str | None
    filling: NotRequired[Filling]
    """Cost of filling a cache first, which is not in `usd`."""


class RankedBy(TypedDict):
    """The percentile that all candidates of a question are compared by."""

    level: float
    """Which one, as in `Question.ranked_level`: 50 is the median."""
    value: float
    """In the question's unit, as are low and high."""
    low: float | None
    high: float | None
    """Ends of the value's interval; None where too few values are known."""
    confidence: NotRequired[float]
    """How often such an interval holds the true percentile: 0.95, or 0.8 for tails over instances and repetitions."""


class Candidate(TypedDict):
    """One storage in one question."""

    cell: str
    point: str
    storage: str
    """As it is called in sentences."""
    file_system: str
    value: float | None
    """At `Question.level`, in the question's unit; None if it was not measured."""
    low: float | None
    high: float | None
    """Ends of the value's interval."""
    ranked: NotRequired[RankedBy | None]
    """The figure that ranks it. Differs from `value` where the median ranks."""
    cost: PointCost | None
    times_as_dear: NotRequired[float | None]
    """Its cost over that of the cheapest candidate, or with an objective over that of `Question.best_value`: 2 is twice
    as expensive. None if one of both costs is not known in full."""
    fleet_s: NotRequired[float | None]
    """Seconds from the first start to the last end in the fleet, the mean of repetitions; None where that is at most
    1.1 times the slow percentile of the durations, which then says as much."""
    lost: LostDocument | None
    on_front: bool
    """Whether no other candidate is both cheaper and faster."""
    counts_in_memory: NotRequired[bool]
    """Whether a create or change counts as done before it is stored."""
    verdict: VerdictDocument
    risks: list[RiskDocument]


class Neighbour(TypedDict):
    """Result of a storage with another number of instances."""

    instances: int
    value: float
    """At the percentile that ranks the question of the absence, in its unit."""


class Absence(TypedDict):
    """A storage that was not measured here, but with other numbers of instances."""

    storage: str
    neighbours: list[Neighbour]
    """The nearest smaller and larger one, where there is one."""
    is_expected_ahead: bool
    """Whether it is shown to be at least 5 % faster than all others at both, or to meet the objective at both."""


# `shown`: the figures show which storage to take. `open`: they leave it open, or were not replicated. `not-tested`:
# there are no intervals. `expected`: a storage without figures here is expected to be faster. `by-value`, `missed`:
# the objective is met by values alone, or by none; where several are shown to meet it, `shown`, `open` and `not-tested`
# say whether one is cheaper. `nothing`: fewer than two storages, and no objective.
QuestionState = Literal["shown", "open", "not-tested", "expected", "by-value", "missed", "nothing"]


class CostRatio(TypedDict):
    """A cost over another."""

    ratio: float
    low: float
    high: float
    """Ends of its 95 % interval."""


class Question(TypedDict):
    """Which storage for this workload, point and fleet?"""

    workload: str
    label: str
    """The point's parameters: `threads 4, block 1 MiB`."""
    fleet: str
    instances: int
    metric: str
    unit: str
    """Of all values and bounds of its candidates."""
    higher_is_better: bool
    level: float
    """The percentile that is read: 90 of durations, 10 of rates, where the objective names no other."""
    ranked_level: NotRequired[float]
    """The percentile that candidates are compared by."""
    why_median: NotRequired[RiskDocument | None]
    """Why that is the median instead of `level`."""
    candidates: list[Candidate]
    absences: NotRequired[list[Absence]]
    state: NotRequired[QuestionState]
    recommended: str | None
    """Id of the cell to take, marked ★; null unless `state` is `shown`, or in a run that recommends nothing."""
    best_value: NotRequired[str | None]
    """Id of the cell that is cheapest within 5 % of the fastest, or cheapest of those that meet the objective. Where
    `state` is not `shown`, by the values alone, as if they had no uncertainty; null if there is none."""
    rival: NotRequired[str | None]
    """Id of the cell that keeps an open question open: it may be within 5 % of the fastest, or not, or be cheaper."""
    rival_cost: NotRequired[CostRatio]
    """Cost of the rival over that of `best_value`, where it is not shown which of them is cheaper."""
    needed: NotRequired[NeededReplication | None]
    """With how much data most runs would decide; null if it is not open, or if no reasonable fleet would."""
    margin: float | None
    """Distance of the value of `best_value` from the objective's limit, as a share of the limit. Never negative: 0.1 is
    10 % better than the limit. null if no value meets it, or without an objective."""


class Decision(TypedDict):
    """Which storage to take."""

    schema: int
    objective: Part | None
    percentile: float
    """Of the samples that must be at least as good, 90 if the objective names none: P90 of durations, P10 of rates."""
    is_recommendation: bool
    """False for local and emulated runs."""
    questions: list[Question]


class LeftBehind(TypedDict):
    """A resource that is not known to be gone."""

    kind: str
    id: str


class SummaryTotals(TypedDict):
    """Numbers of cells by outcome."""

    cells: int
    measured: int
    failed: int
    skipped: NotRequired[int]


class ServiceTime(TypedDict):
    """How long AWS took for a storage, in seconds, over all that were made of it or all instances that mounted it."""

    file_system: str
    """The first of them."""
    storage: Part
    metric: Literal["available_s", "mounted_s", "deleted_s"]
    """From the request to create or delete it until a poll saw the end; or attaching, formatting and mounting it."""
    n: int
    p0: float
    p50: float
    p100: float


class QuotedAnswer(TypedDict):
    """The answer for scripts: of the comparison with the most storages, of these the one with the most instances."""

    headline: str
    """It in a sentence that may be quoted alone; without a comparison that is ranked, why there is none."""
    overview: str
    """The answer of all comparisons in a line."""
    fleet: str | None
    storage: str | None
    """None where no storage is the first, or the storages did different work."""
    figure: RankedBy | None
    """Its figure that ranks it."""
    unit: str | None
    cost: PointCost | None
    """In US dollars. None where prices are unknown, or the run recommends nothing."""


class SummaryDocument(TypedDict):
    """All cells of a run, their cost and the recommended storage. Every output is made from it.

    Published figures have the same form, without times and costs.
    """

    schema: int
    run: str
    name: str
    environment: str
    """aws, local, local-vm, emulated, published or imported."""
    source: NotRequired[str]
    """Of published figures and imported files."""
    tools: NotRequired[list[str]]
    """The tools whose figures were imported; only of imported runs."""
    started_at: float | None
    finished_at: float | None
    status: str
    """measured, partly failed or failed; interrupted where the run ended before it was analysed."""
    cells: list[ResultDocument]
    """Without samples, rates and bins, which the cells' own result.json keep."""
    totals: NotRequired[SummaryTotals]
    cost_usd: NotRequired[CostRange | None]
    """By the plan."""
    left_behind: NotRequired[list[LeftBehind]]
    warnings: list[str]
    service_times: NotRequired[list[ServiceTime]]
    receipt: NotRequired[ReceiptDocument]
    decision: NotRequired[Decision]
    answer: NotRequired[QuotedAnswer]
    """Of `matrix results --format json`; kept files have only the decision."""
