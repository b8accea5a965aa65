"""Burst limits, which hold while credits last, and sustained limits."""

from dataclasses import dataclass
from typing import Literal

Counted = Literal["IOPS", "bytes/s"]


@dataclass(frozen=True)
class Burst:
    """A limit of the whole storage that credits raise for some time, in IOPS or bytes per second."""

    of: str
    counts: Counted
    sustained: float
    most: float
    # Operations or bytes above the sustained rate that a full balance allows; None if AWS does not publish it.
    credits: float | None

    def lasts_s(self, rate: float) -> float | None:
        """Return how many seconds a full balance lasts at a rate above the sustained one. None: unknown.

        Credits are earned at the sustained rate, so only the rate above it uses up the balance.
        """
        return None if self.credits is None else self.credits / (rate - self.sustained)
