"""summary.json: all cells of a run, what they cost, and which storage to take; every output is made from it."""

from typing import NotRequired

from typing_extensions import TypedDict

from matrix.terms.documents.parts import CostRange, Part
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.result import ResultDocument


class Filling(TypedDict):
    """What filling the cache costs that builds read."""

    seconds: float
    """On one instance."""
    instances: int
    """That fill one: all of a fleet with storages of their own, else one."""
    builds: int
    """At once that use what was filled."""
    usd: float
    """Of all instances that fill."""
    basis: str


class PointCost(TypedDict):
    """What one result costs."""

    per: str
    """build, TB moved or million files."""
    usd: float
    """While it worked: hourly rates times the time from the first start to the last end, and what is billed by use."""
    basis: str
    missing: str | None
    """What is left out, so that it is a lower bound."""
    usd_billed: float | None
    """As the run paid it, with boot, barriers and waiting."""
    billed_basis: str | None
    filling: NotRequired[Filling]
    """What is not in `usd`, where a cache is filled first."""


class RankedBy(TypedDict):
    """The percentile that all candidates of a question are compared by."""

    level: float
    value: float
    low: float | None
    high: float | None
    confidence: NotRequired[float]
    """How often such an interval holds the truth: 0.95, or 0.8 for tails over instances and repetitions."""


class Candidate(TypedDict):
    """One storage in one question."""

    cell: str
    point: str
    storage: str
    """As it is called in sentences."""
    file_system: str
    value: float | None
    """Of the slow end."""
    low: float | None
    high: float | None
    ranked: NotRequired[RankedBy | None]
    cost: PointCost | None
    lost: str | None
    """Why it was not measured, or may not be believed."""
    on_front: bool
    """Whether nothing is both cheaper and faster."""
    verdict: str
    risks: list[str]


class Question(TypedDict):
    """Which storage for this workload, point and fleet?"""

    workload: str
    label: str
    fleet: str
    instances: int
    metric: str
    unit: str
    higher_is_better: bool
    level: float
    """The percentile that is read: the slow end."""
    ranked_level: NotRequired[float]
    """The percentile that candidates are compared by."""
    why_median: NotRequired[str | None]
    """Why that is the median instead of the slow end."""
    candidates: list[Candidate]
    recommended: str | None
    """Id of a cell that reaches the objective."""
    as_good: NotRequired[str | None]
    """Id of the cell that is fastest, or near it for less; null where nothing was compared, or figures do not tell."""
    margin: float | None
    """How far within the limit, as a share of it."""
    words: str


class Decision(TypedDict):
    """Which storage to take."""

    schema: int
    objective: Part | None
    percentile: float
    reads: str
    is_recommendation: bool
    """False for local and emulated runs."""
    note: str | None
    sentences: list[str]
    questions: list[Question]


class LeftBehind(TypedDict):
    """A resource that is not known to be gone."""

    kind: str
    id: str


class SummaryTotals(TypedDict):
    """How many cells came to what."""

    cells: int
    measured: int
    failed: int
    skipped: NotRequired[int]


class SummaryDocument(TypedDict):
    """All cells of a run, what they cost, and which storage to take; every output is made from it.

    Published figures are put into the same form; they have no times and no costs.
    """

    schema: int
    run: str
    name: str
    environment: str
    """aws, local, local-vm, emulated or published."""
    source: NotRequired[str]
    """Of published figures."""
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
    receipt: NotRequired[ReceiptDocument]
    decision: NotRequired[Decision]
