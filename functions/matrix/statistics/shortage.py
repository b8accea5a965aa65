"""Missing replication of a fleet; apart from the statistics, so that words for it need no numpy."""

from dataclasses import dataclass
from typing import Literal

from matrix.terms.documents import summary as documents

LEAST_LAUNCHES = 3
# A variance between fewer is hardly known: with two instances in one of two states, 10 % of equal pairs seem different.
LEAST_INSTANCES = 3
# Two repetitions show that they differ, but hardly how much: t with 1 degree of freedom is 12.7, with 2 it is 4.3.
LEAST_REPETITIONS = 3


@dataclass(frozen=True)
class Shortage:
    """Instances, repetitions or launches of which a fleet has too few for a comparison."""

    unit: Literal["instance", "repetition", "launch"]
    count: int
    least: int

    def to_document(self) -> documents.Shortage:
        """The form in summary.json."""
        return {"unit": self.unit, "count": self.count, "least": self.least}
