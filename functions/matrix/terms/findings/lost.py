"""Why a storage was not measured, or is not ranked."""

from typing import Annotated, Any, ClassVar

from matrix.terms.findings.finding import DocumentOf, Finding


class Lost(Finding):
    """Why a storage was not measured, or is not ranked."""

    was_measured: ClassVar[bool] = False
    """Whether it has figures that are not ranked."""


class LeftOut(Lost):
    """A figure that is wrong by its source."""

    reason: str
    """The source's words."""
    words = "left out: {reason}"


class Quorum(Lost):
    """Fewer instances ran than the cell asks for."""

    was_measured = True
    ran: int
    count: int
    words = "not ranked: {ran} of {count} instances ran, which is another load"


class TooFewOperations(Lost):
    """A step had too few operations for the tail percentile of the objective."""

    was_measured = True
    words = "not ranked: a step had too few operations for this percentile, so it takes longer steps"


class Failed(Lost):
    """A cell that failed, or has no published figure."""

    reason: str
    """The error, or the source's words."""

    @property
    def sentence(self) -> str:
        return f"not measured: {self.reason.removeprefix('not published: ')}"


class NoCell(Lost):
    """A storage that was measured with other numbers of instances only."""

    of_source: bool = False
    """Whether the figures are published: the source has no such row."""

    @property
    def sentence(self) -> str:
        return f"not measured: {'the source has no such row' if self.of_source else 'the run has no such cell'}"


LostDocument = Annotated[dict[str, Any], DocumentOf(Lost)]
