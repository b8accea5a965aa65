"""One question, its candidates, and their order."""

from dataclasses import dataclass, field
from typing import Any

from matrix.answer.costs import PointCost
from matrix.answer.decision.objective import Objective, SlowEnd
from matrix.statistics.fleet_values import FleetValues
from matrix.terms.figures import quantity

Document = dict[str, Any]

# Nobody should pay for less: the same matrix measured on another day hardly repeats a difference of 5 %.
AS_GOOD = 0.05


@dataclass
class Candidate:
    """One storage in one question."""

    cell: str
    point: str
    storage: str
    file_system: str
    slow_end: SlowEnd | None
    cost: PointCost | None
    values: FleetValues | None
    lost: str | None = None  # why it was not measured, or may not be believed
    on_front: bool = False
    verdict: str = ""
    risks: list[str] = field(default_factory=list)

    @property
    def value(self) -> float:
        """The slow end's value; only of those that have one."""
        assert self.slow_end is not None  # noqa: S101 - only those that were judged are asked
        return self.slow_end.value

    @property
    def usd(self) -> float | None:
        """What a result costs; None where that is not known in full."""
        return self.cost.usd if self.cost and not self.cost.missing else None

    @property
    def name(self) -> str:
        """As it stands in a sentence."""
        return self.storage

    def to_document(self) -> Document:
        """As it is in summary.json."""
        end = self.slow_end
        return {
            "cell": self.cell,
            "point": self.point,
            "storage": self.storage,
            "file_system": self.file_system,
            "value": end.value if end else None,
            "low": end.low if end else None,
            "high": end.high if end else None,
            "cost": self.cost.to_document() if self.cost else None,
            "lost": self.lost,
            "on_front": self.on_front,
            "verdict": self.verdict,
            "risks": self.risks,
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
    recommended: Candidate | None = None
    margin: float | None = None
    words: str = ""

    @property
    def judged(self) -> list[Candidate]:
        """Those that have a figure to be judged by."""
        return [one for one in self.candidates if one.slow_end is not None and one.lost is None]

    @property
    def ranked(self) -> list[Candidate]:
        """The same, fastest first."""
        return sorted(self.judged, key=lambda one: one.value, reverse=self.higher_is_better)

    @property
    def priced(self) -> list[Candidate]:
        """The same, cheapest first; of two that cost the same, the faster one."""
        costed = [one for one in self.ranked if one.usd is not None]
        return sorted(costed, key=lambda one: one.usd or 0.0)

    @property
    def as_good(self) -> Candidate | None:
        """The cheapest of those within AS_GOOD of the fastest; the fastest where its cost is not known."""
        if not self.ranked or self.ranked[0].usd is None:
            return self.ranked[0] if self.ranked else None
        best = self.ranked[0].value
        edge = best * (1 - AS_GOOD) if self.higher_is_better else best * (1 + AS_GOOD)
        return next(one for one in self.priced if (one.value >= edge if self.higher_is_better else one.value <= edge))

    def meeting(self, wanted: Objective) -> list[Candidate]:
        """Those that reach the objective, cheapest first; those whose cost is not known in full come last."""
        unpriced = [one for one in self.ranked if one.usd is None]
        return [one for one in [*self.priced, *unpriced] if wanted.is_met(one.value)]

    def figure(self, one: Candidate) -> str:
        """Write a candidate's slow end: `P90 101m 17s`."""
        return f"P{self.level:g} {quantity(one.value, self.unit)}"

    def to_document(self) -> Document:
        """As it is in summary.json."""
        names = ("workload", "label", "fleet", "instances", "metric", "unit", "higher_is_better", "level")
        return {
            **{name: getattr(self, name) for name in names},
            "candidates": [one.to_document() for one in self.candidates],
            "recommended": self.recommended.cell if self.recommended else None,
            "margin": self.margin,
            "words": self.words,
        }
