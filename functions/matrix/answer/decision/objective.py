"""The target for a percentile, and a percentile with its confidence interval."""

from dataclasses import dataclass

from matrix.statistics.sample_size import CONFIDENCE
from matrix.terms.documents.parts import Part
from matrix.terms.documents.summary import RankedBy
from matrix.terms.findings.risks import Risk

USUAL_PERCENT = 90.0
HOUR_S = 3600.0


@dataclass(frozen=True)
class Objective:
    """The target for the tail. `limit` None: no target, rank by the tail of the primary metric."""

    metric: str | None = None
    percent: float = USUAL_PERCENT
    limit: float | None = None
    is_upper: bool = True
    job_s: float | None = None  # duration of the real job; None: the measured duration

    @classmethod
    def of(cls, document: Part | None) -> "Objective":
        """Read the `objective` of a matrix."""
        if not document:
            return cls()
        upper, lower = document.get("atMost"), document.get("atLeast")
        limit = upper if upper is not None else lower
        hours = document.get("jobHours")
        job_s = None if hours is None else HOUR_S * hours
        percent = float(document.get("percentile", USUAL_PERCENT))
        return cls(document.get("metric"), percent, limit, upper is not None, job_s)

    def is_met(self, value: float) -> bool:
        """Whether a value reaches it."""
        return self.limit is not None and (value <= self.limit if self.is_upper else value >= self.limit)


@dataclass(frozen=True)
class Percentile:
    """A percentile of a metric, with the ends of its interval if it has one."""

    level: float
    value: float
    low: float | None
    high: float | None
    doubt: Risk | None  # why this percentile is uncertain
    has_enough_samples: bool  # False only if the number of values is known and too small
    confidence: float = CONFIDENCE  # coverage of such an interval
    bound: float | None = None  # with an objective: the worst that it may be (97.5 % confidence); None if unknown

    def to_document(self) -> RankedBy:
        """As it is in summary.json."""
        return {
            "level": self.level,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
        }
