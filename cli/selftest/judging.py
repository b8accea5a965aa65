"""A row of the self-proof: a truth, the reported figure, and whether it is right.

Rates over trials have a binomial interval (Clopper & Pearson 1934, Biometrika 26, 404-413). A claim is called wrong
only if the 99.9 % interval of the observed rate excludes it, so a true claim fails in one self-proof of a thousand. A
claim of 92 % coverage then fails below 88 % of 450 intervals, or below 90 % of 2,300.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

HOLDS, WRONG, LIMIT = "holds", "WRONG", "a limit"
SHOWN, SURE = 0.95, 0.999


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    layer: str
    subject: str
    truth: str
    reported: str
    is_right: bool
    is_promised: bool = True  # False: a known limit of the product

    @property
    def verdict(self) -> str:
        """`holds`; `a limit` if nothing was promised; `WRONG`, also for a limit that is worse than documented."""
        return WRONG if not self.is_right else HOLDS if self.is_promised else LIMIT

    def to_document(self) -> dict[str, Any]:
        """As `matrix selftest --json` prints it."""
        return asdict(self) | {"verdict": self.verdict}


@dataclass(frozen=True)
class Tally:
    """Number of trials with an outcome, and number of all trials."""

    count: int
    trials: int

    @classmethod
    def of(cls, outcomes: Sequence[bool]) -> "Tally":
        """Count outcomes."""
        return cls(sum(outcomes), len(outcomes))

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.count / self.trials

    def interval(self, confidence: float = SHOWN) -> tuple[float, float]:
        """Return the ends of Clopper and Pearson's interval of the true share."""
        from scipy import special

        tail, missed = (1 - confidence) / 2, self.trials - self.count
        low = float(special.betaincinv(self.count, missed + 1, tail)) if self.count else 0.0
        high = float(special.betaincinv(self.count + 1, missed, 1 - tail)) if missed else 1.0
        return low, high

    def may_be_at_most(self, share: float) -> bool:
        """Return whether the tally is consistent with a true share of at most `share`."""
        return self.interval(SURE)[0] <= share

    def may_be_at_least(self, share: float) -> bool:
        """Return whether the tally is consistent with a true share of at least `share`."""
        return self.interval(SURE)[1] >= share

    def words(self) -> str:
        """Write `3.5 % of 200 (95 %: 1.4 to 7.1 %)`."""
        low, high = self.interval()
        return f"{100 * self.share:.1f} % of {self.trials:,} (95 %: {100 * low:.1f} to {100 * high:.1f} %)"
