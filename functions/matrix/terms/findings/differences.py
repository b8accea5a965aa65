"""How a candidate stands beside the fastest one, at the percentile that ranks them."""

from typing import Annotated, Any

from matrix.terms.findings.finding import DocumentOf, Finding
from matrix.terms.findings.replication import Shortage, describe_shortage


class Difference(Finding):
    """How a candidate stands beside the fastest one, at the percentile that ranks them."""


class Tested(Difference, code=""):
    """A difference with the interval of its ratio."""

    ratio: float
    """How many times as slow it is as the fastest; below 1 it is faster."""
    low: float
    high: float
    """The ends of the ratio's 95 % interval."""


class AsFast(Tested):
    """Shown to be less than 5 % slower."""

    words = "shown to be within 5 %"


class Slower(Tested):
    """Shown to be at least 5 % slower."""

    words = ""


class Open(Tested):
    """Neither is shown."""

    words = "may be within 5 % or not"


class TooFew(Difference):
    """One of the two was not replicated."""

    shortages: list[Shortage]
    """Data that they lack for a test."""

    @property
    def sentence(self) -> str:
        return f"not replicated ({describe_shortage(self.shortages)})"


class NotTested(Difference):
    """There are neither single values nor intervals."""

    words = ""


DifferenceDocument = Annotated[dict[str, Any], DocumentOf(Difference)]
