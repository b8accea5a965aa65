"""How a candidate came out of its question: why it is not ranked, its difference to the fastest one, its verdict."""

from typing import Annotated, Any, ClassVar

from matrix.terms.findings.finding import Finding
from matrix.terms.findings.replication import NOT_REPLICATED, Shortage, describe_not_replicated
from matrix.terms.quantities import times

# Figures that differ by less are called equal, and costs by twice as much: no plan is more exact.
SAME = 0.005
# The outcome of a storage that has figures which are not ranked.
NOT_RANKED = "not ranked"


# --- why it is not ranked ---------------------------------------------------------------------------------------------


class Lost(Finding):
    """Why a storage was not measured, or is not ranked."""

    outcome: ClassVar[str] = "not measured"
    """The sentence begins with it, and gives the reason."""

    @property
    def sentence(self) -> str:
        return f"{self.outcome}: {super().sentence}"


class LeftOut(Lost):
    """A figure that is wrong by its source."""

    reason: str
    """The source's words."""
    outcome = "left out"
    words = "{reason}"


class Quorum(Lost):
    """Fewer instances ran than the cell asks for."""

    outcome = NOT_RANKED
    ran: int
    count: int
    words = "{ran} of {count} instances ran, which is another load"


class TooFewOperations(Lost):
    """A step had too few operations for the tail percentile of the objective."""

    outcome = NOT_RANKED
    words = "a step had too few operations for this percentile, so it takes longer steps"


class Failed(Lost):
    """A cell that failed, or has no published figure."""

    reason: str
    """The error, or the source's words."""

    words = "{reason}"


class NoCell(Lost):
    """A storage that was measured with other numbers of instances only."""

    of_source: bool = False
    """Whether the figures are published: the source has no such row."""

    @property
    def sentence(self) -> str:
        return f"{self.outcome}: {'the source has no such row' if self.of_source else 'the run has no such cell'}"


LostDocument = Annotated[dict[str, Any], Lost]


# --- beside the fastest one -------------------------------------------------------------------------------------------


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


class ShownSlower(Tested, code="slower"):
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
        return describe_not_replicated(self.shortages)


class NotTested(Difference):
    """There are neither single values nor intervals."""

    words = ""


DifferenceDocument = Annotated[dict[str, Any], Difference]


# --- the verdict ------------------------------------------------------------------------------------------------------


class Verdict(Finding):
    """How a candidate came out of its question. `describe_verdict` adds what its costs and its comparison say."""


class NotRanked(Verdict, code="lost"):
    """A candidate that was not measured, or is not ranked."""


class NoFigure(Verdict):
    """A candidate without this metric."""

    words = "no figure of this metric"


class OnlyOne(Verdict):
    """Without an objective: nothing to compare it with."""

    words = "the only one measured"


class Fastest(Verdict):
    """Without an objective: the best value at the percentile that ranks."""

    is_cheapest: bool

    @property
    def sentence(self) -> str:
        return self.at("fastest")

    def at(self, place: str) -> str:
        """Write it with its place: fastest, or ahead of the others where none is shown to be faster."""
        return f"{place} and cheapest" if self.is_cheapest else place


class Slower(Verdict):
    """Without an objective: not the best value."""

    is_cheapest: bool
    times_as_slow: float | None
    """As the fastest, 1 or more; None where one of both values is 0."""
    difference: DifferenceDocument

    @property
    def sentence(self) -> str:
        ratio = self.times_as_slow
        return self.at("slower" if ratio is None else describe_distance(ratio, "slow"))

    def at(self, distance: str, *, is_brief: bool = False) -> str:
        """Write it with its distance from the fastest one; `is_brief` leaves out what would decide it."""
        cheapest, difference = "cheapest" if self.is_cheapest else "", Difference.read(self.difference)
        about = NOT_REPLICATED if is_brief and isinstance(difference, TooFew) else difference.sentence
        return "; ".join(filter(None, [cheapest, distance, about]))


class OfObjective(Verdict, code=""):
    """How a candidate stands beside the limit of the objective."""

    margin: float
    """Distance of its value from the limit as a share of the limit, 0 or more on both sides of it."""
    bound: float | None
    """How bad the true value may be (97.5 % confidence), in the metric's unit; None if that is not known."""


class CheapestThatMeets(OfObjective):
    """The cheapest that is shown to meet the objective."""

    words = "cheapest that meets the objective"


class Meets(OfObjective):
    """Shown to meet the objective, and not the cheapest."""

    words = "meets the objective"


class MeetsByValue(OfObjective):
    """Its value meets the objective, but it is not shown that the true one does."""

    words = "meets the objective by its value only"


class Misses(OfObjective):
    """Its value does not meet the objective."""

    @property
    def sentence(self) -> str:
        return f"misses the limit by {100 * self.margin:.0f} %"


VerdictDocument = Annotated[dict[str, Any], Verdict]


def describe_distance(ratio: float, direction: str) -> str:
    """Write how far a storage is from another: `1.26 times as slow`; `direction` is slow or fast."""
    return "equal" if ratio < 1 + SAME else f"{times(ratio)} as {direction}"
