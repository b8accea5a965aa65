"""Speeds that a storage has only as long as its credits last, and the one that it always has."""

from dataclasses import dataclass
from typing import Literal

Counted = Literal["IOPS", "bytes/s"]


@dataclass(frozen=True)
class Burst:
    """A limit that credits raise for a while: of the whole storage, in IOPS or bytes per second."""

    of: str
    counts: Counted
    sustained: float
    most: float
    # Operations or bytes beyond the sustained rate that a full balance pays; None where AWS does not say.
    credits: float | None

    def lasts_s(self, rate: float) -> float | None:
        """Return the seconds that a full balance lasts at a rate above the sustained one; None where it is not known.

        What is done at the sustained rate is earned in the same time, so only what is above it is paid.
        """
        return None if self.credits is None else self.credits / (rate - self.sustained)
