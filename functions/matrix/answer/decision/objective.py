"""What a percentile must reach, and a percentile with what is known of how sure it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matrix.terms.figures import quantity

USUAL_PERCENT = 90.0


@dataclass(frozen=True)
class Objective:
    """What the slow end must reach; `limit` None only looks at the slow end of the primary metric."""

    metric: str | None = None
    percent: float = USUAL_PERCENT
    limit: float | None = None
    is_upper: bool = True

    @classmethod
    def of(cls, document: Mapping[str, Any] | None) -> "Objective":
        """Read the `objective` of a matrix."""
        if not document:
            return cls()
        upper, lower = document.get("atMost"), document.get("atLeast")
        limit = upper if upper is not None else lower
        return cls(document.get("metric"), float(document.get("percentile", USUAL_PERCENT)), limit, upper is not None)

    def is_met(self, value: float) -> bool:
        """Whether a value reaches it."""
        return self.limit is not None and (value <= self.limit if self.is_upper else value >= self.limit)

    def words(self, unit: str) -> str:
        """Write it as a sentence's part."""
        return f"{'at most' if self.is_upper else 'at least'} {quantity(self.limit, unit)}"


@dataclass(frozen=True)
class Percentile:
    """A percentile of a metric with the ends of its interval, where there is one."""

    level: float
    value: float
    low: float | None
    high: float | None
    doubt: str | None  # why this percentile is not sure, in words
    is_carried: bool  # False only where too few values are known to stand behind it

    def to_document(self) -> dict[str, float | None]:
        """As it is in summary.json."""
        return {"level": self.level, "value": self.value, "low": self.low, "high": self.high}
