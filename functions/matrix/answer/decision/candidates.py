"""One question, its candidates and their order."""

from dataclasses import dataclass, field

from matrix.answer.costs import PointCost
from matrix.answer.decision.objective import Objective, Percentile
from matrix.statistics.deciding import Slowdown
from matrix.statistics.fleet_costs import CostRatio, FleetTime
from matrix.statistics.fleet_values import FleetValues
from matrix.terms.documents import summary as documents
from matrix.terms.findings.replication import NeededReplication, Shortage
from matrix.terms.findings.risks import MEDIAN, Risk
from matrix.terms.findings.verdicts import Lost, NoFigure, Verdict


@dataclass
class Candidate:
    """One storage in one question."""

    cell: str
    point: str
    storage: str
    file_system: str
    tail: Percentile | None
    median: Percentile | None
    cost: PointCost | None
    values: FleetValues | None
    lost: Lost | None = None  # why it was not measured, or is not ranked
    lacks: tuple[Shortage, ...] = ()  # replication missing for comparisons with other instances and times
    is_placed_once: bool = False  # AWS placed its file system for this run, in fewer than three launches
    counts_in_memory: bool = False  # a create counts as done before it is stored
    time: FleetTime | None = None  # what the hours in its cost are of; None where single values are unknown
    ranked: Percentile | None = None  # tail or median, the same for all candidates of a question
    slowdown: Slowdown | None = None  # beside the fastest; None for the fastest, and if it is not known
    times_as_dear: float | None = None
    fleet_s: float | None = None
    on_front: bool = False
    verdict: Verdict = field(default_factory=NoFigure)
    risks: list[Risk] = field(default_factory=list)

    @property
    def value(self) -> float:
        """The value that ranks it. Only for candidates that have one."""
        assert self.ranked is not None  # noqa: S101 - callers ask only judged candidates
        return self.ranked.value

    @property
    def usd(self) -> float | None:
        """Cost of one result. None if a part of it is unknown."""
        return self.cost.usd if self.cost and not self.cost.missing else None

    @property
    def by_hour(self) -> float:
        """The share of its cost that grows with time: hours do, charges by the byte do not."""
        return 1 - self.cost.by_use.expected / self.cost.usd if self.cost and self.cost.usd else 0.0

    @property
    def usd_ends(self) -> tuple[float, float]:
        """The least and the most of its cost as a part of it: not all that AWS meters is counted by its size."""
        if not self.cost or not self.cost.usd:
            return 1.0, 1.0
        used, usd = self.cost.by_use, self.cost.usd
        return 1 + (used.low - used.expected) / usd, 1 + (used.high - used.expected) / usd

    def to_document(self) -> documents.Candidate:
        """As it is in summary.json."""
        end = self.tail
        return {
            "cell": self.cell,
            "point": self.point,
            "storage": self.storage,
            "file_system": self.file_system,
            "value": end.value if end else None,
            "low": end.low if end else None,
            "high": end.high if end else None,
            "ranked": self.ranked.to_document() if self.ranked else None,
            "cost": self.cost.to_document() if self.cost else None,
            "times_as_dear": self.times_as_dear,
            "fleet_s": self.fleet_s,
            "lost": self.lost.document if self.lost else None,
            "on_front": self.on_front,
            "counts_in_memory": self.counts_in_memory,
            "verdict": self.verdict.document,
            "risks": [risk.document for risk in self.risks],
        }


@dataclass
class Question:
    """Which storage for this workload, point and fleet?"""

    workload: str
    label: str
    fleet: str
    instances: int
    metric: str
    unit: str
    higher_is_better: bool
    level: float
    candidates: list[Candidate]
    why_median: Risk | None = None  # why candidates are ranked by their medians instead of their tails
    absences: list[documents.Absence] = field(default_factory=list)
    state: documents.QuestionState = "nothing"
    recommended: Candidate | None = None
    best_value: Candidate | None = None
    rival: Candidate | None = None
    # Of the rival's cost to that of the best value; None if costs leave nothing open.
    rival_cost: CostRatio | None = None
    needed: NeededReplication | None = None
    margin: float | None = None

    @property
    def judged(self) -> list[Candidate]:
        """Candidates with a value to judge by."""
        return [candidate for candidate in self.candidates if candidate.tail is not None and candidate.lost is None]

    @property
    def is_comparison(self) -> bool:
        """Whether there are two to compare: a storage alone wins nothing."""
        return len(self.judged) > 1

    @property
    def is_comparable(self) -> bool:
        """Whether all did the same work: a create in memory is less than a stored one."""
        return len({candidate.counts_in_memory for candidate in self.judged}) < 2  # noqa: PLR2004

    @property
    def ranked_level(self) -> float:
        """The percentile by which candidates are ranked."""
        return MEDIAN if self.why_median else self.level

    @property
    def ranked(self) -> list[Candidate]:
        """Judged candidates, fastest first."""
        return sorted(self.judged, key=lambda candidate: candidate.value, reverse=self.higher_is_better)

    @property
    def priced(self) -> list[Candidate]:
        """The same, cheapest first; of two that cost the same, the faster one."""
        costed = [candidate for candidate in self.ranked if candidate.usd is not None]
        return sorted(costed, key=lambda candidate: candidate.usd or 0.0)

    def meeting(self, wanted: Objective) -> list[Candidate]:
        """Candidates that reach the objective, cheapest first. Those with unknown cost come last."""
        unpriced = [candidate for candidate in self.ranked if candidate.usd is None]
        return [candidate for candidate in [*self.priced, *unpriced] if wanted.is_met(candidate.value)]

    def is_faster(self, value: float, other: float) -> bool:
        """Whether a value is better than another."""
        return value > other if self.higher_is_better else value < other

    def to_document(self) -> documents.Question:
        """As it is in summary.json."""
        document: documents.Question = {
            "workload": self.workload,
            "label": self.label,
            "fleet": self.fleet,
            "instances": self.instances,
            "metric": self.metric,
            "unit": self.unit,
            "higher_is_better": self.higher_is_better,
            "level": self.level,
            "ranked_level": self.ranked_level,
            "why_median": self.why_median.document if self.why_median else None,
            "candidates": [candidate.to_document() for candidate in self.candidates],
            "absences": self.absences,
            "state": self.state,
            "recommended": self.recommended.cell if self.recommended else None,
            "best_value": self.best_value.cell if self.best_value else None,
            "rival": self.rival.cell if self.rival else None,
            "needed": self.needed,
            "margin": self.margin,
        }
        if self.rival_cost:
            document["rival_cost"] = self.rival_cost.to_document()
        return document
