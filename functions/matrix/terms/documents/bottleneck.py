"""The bottleneck of a cell: the limit that held it back, the evidence, and limits without data."""

from typing import NotRequired

from typing_extensions import TypedDict

from matrix.terms.findings.bottlenecks import LimitUseDocument, NextStepDocument, UnseenDocument
from matrix.terms.findings.credits import OnCredits


class OtherLimit(TypedDict):
    """A limit that is not the bottleneck, with the reason."""

    name: str
    share: float
    """The most that a point used of it: 1 is all."""
    use: LimitUseDocument


class Waiting(TypedDict):
    """Little's law: so many workers, waiting so long for each operation, explain the rate of a point."""

    workers: float
    latency_s: float
    point: str


class OfLaunches(TypedDict):
    """In how many launches of a cell the same limit was reached."""

    same: int
    launches: int


class Bottleneck(TypedDict):
    """Which limit held a cell back."""

    name: str
    """One limit, "not saturated" or "not known"."""
    uses: list[LimitUseDocument]
    """How the limit of this name was seen to be reached."""
    share: float | None
    """The most that a point used of the limit of this name: 1 is all; None where no limit was reached."""
    waiting: NotRequired[Waiting]
    """Where no limit was reached."""
    next: NextStepDocument
    others: list[OtherLimit]
    """The limits that were not it, the most used first."""
    unseen: list[UnseenDocument]
    points: dict[str, str]
    """By point: its own limit."""
    of_launches: NotRequired[OfLaunches]
    is_provisional: bool
    """Whether metrics may still arrive."""
    on_credits: NotRequired[dict[str, list[OnCredits]]]
    """Rates above sustained limits, by point."""
    server_cache: NotRequired[dict[str, float]]
    """By point: per cent of its reads that the server's cache answered (FSx)."""
