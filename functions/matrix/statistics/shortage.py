"""What a fleet has too few of; apart from the statistics, so that words for it need no numpy."""

from dataclasses import dataclass
from typing import Literal

from matrix.terms.documents import summary as documents

LEAST_LAUNCHES = 3
# A variance between fewer knows next to nothing: of two in one of two states, 10 % of equal pairs look different.
LEAST_INSTANCES = 3
# Two repetitions show that they differ, but hardly how much: t with 1 degree of freedom is 12.7, with 2 it is 4.3.
LEAST_REPETITIONS = 3


@dataclass(frozen=True)
class Shortage:
    """Of what a fleet has too few to be compared."""

    unit: Literal["instance", "repetition", "launch"]
    count: int
    least: int

    def to_document(self) -> documents.Shortage:
        """As it is in summary.json."""
        return {"unit": self.unit, "count": self.count, "least": self.least}
