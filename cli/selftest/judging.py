"""A row of the self-proof: a truth, what the report says of it, and whether that is right.

Rates over trials come with their own binomial interval (Clopper & Pearson 1934, Biometrika 26, 404-413). A claim is
called wrong where even the end of a 99.9 % interval does not reach it, so what keeps its claim fails one self-proof in
a thousand. Of 450 intervals that must hold the truth in 92 % it takes fewer than 88 % then, of 2,300 fewer than 90 %.
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
    is_promised: bool = True  # False: shown so that one knows how far the product reaches

    @property
    def verdict(self) -> str:
        """`holds`, `a limit` of what is promised, or `WRONG`: also where a limit is worse than it is known to be."""
        return WRONG if not self.is_right else HOLDS if self.is_promised else LIMIT

    def to_document(self) -> dict[str, Any]:
        """As `matrix selftest --json` prints it."""
        return asdict(self) | {"verdict": self.verdict}


@dataclass(frozen=True)
class Tally:
    """How often something was so, of so many trials."""

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
        """Whether chance explains so many, if the true share were no larger than this."""
        return self.interval(SURE)[0] <= share

    def may_be_at_least(self, share: float) -> bool:
        """Whether chance explains so few, if the true share were no smaller than this."""
        return self.interval(SURE)[1] >= share

    def words(self) -> str:
        """Write `3.5 % of 200 (95 %: 1.4 to 7.1 %)`."""
        low, high = self.interval()
        return f"{100 * self.share:.1f} % of {self.trials:,} (95 %: {100 * low:.1f} to {100 * high:.1f} %)"
