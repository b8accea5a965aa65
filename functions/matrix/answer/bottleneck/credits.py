"""Whether an instance had used up its burst credits at a point, so that its baseline held it.

An instance starts with full credits (EC2 guide, network bandwidth; EBS guide, EBS optimization). While it has some, a
rate near its baseline is chance: about 5 % of all rates are.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from matrix.answer.bottleneck.evidence import Evidence
from matrix.terms.ceilings import REACHED
from matrix.terms.documents.result import Limit

# A rate above the baseline by more than this factor is paid from credits.
BASELINE_MARGIN = 1.03
# A credit balance of this many per cent or less counts as used up.
USED_UP_PERCENT = 1.0


@dataclass(frozen=True)
class Credits:
    """The credits for one of EC2's limits, or of a volume or file system, as far as the cell tells."""

    evidence: Evidence
    limit: Limit
    rates: Mapping[str, float | None]
    """By point, in the unit of the limit."""
    full_s: float
    """How long full credits last at the maximum, at least."""
    balance: str | None = None
    """The metric of their balance in per cent."""
    held: Collection[str] = ()
    """Points of which EC2 held back many packets."""

    def hold_to_baseline(self, point: str) -> bool:
        """Return whether the rate of a point is near the baseline, and no credits were left to exceed it.

        What CloudWatch says of the balance decides. Else the credits must have been used up by what the points moved;
        or, if EC2 held back many packets, by what they could have moved between them.
        """
        if not self.is_near_baseline(point):
            return False
        balances = self._balances(point)
        if balances:
            return min(balances) <= USED_UP_PERCENT
        if self.is_exceeded_later(point):
            return False
        return self._left_s(point, at_most=point in self.held) <= (1 - REACHED) * self.full_s

    def is_near_baseline(self, point: str) -> bool:
        """Return whether the rate of a point is what the baseline allows, although credits would allow more."""
        rate, baseline = self.rates[point], self.limit["baseline"]
        is_raised = baseline < self.limit["maximum"]
        return rate is not None and is_raised and REACHED * baseline <= rate <= baseline * BASELINE_MARGIN

    def _balances(self, point: str) -> list[float]:
        """The least balances of all periods in which the point was measured, if only for a part of them."""
        return [
            percent
            for series in (self.evidence.series(self.balance) if self.balance else ())
            for at, percent in series
            if point in self.evidence.points_at(at, at + series.period_s)
        ]

    def is_exceeded_later(self, point: str) -> bool:
        """Return whether credits were left later, so that they were not used up before."""
        begun = self._middle(point)
        above = self.limit["baseline"] * BASELINE_MARGIN
        return any((self.rates.get(other) or 0.0) > above and stop > begun for other, _, stop in self.evidence.spans)

    def _middle(self, point: str) -> float:
        starts = sorted(start for other, start, _ in self.evidence.spans if other == point)
        return starts[len(starts) // 2] if starts else 0.0

    def _left_s(self, point: str, *, at_most: bool) -> float:
        """For how many seconds the maximum could still be had when a point was measured.

        With `at_most`, as if instances had moved their maximum whenever no point was measured.
        """
        baseline, most = self.limit["baseline"], self.limit["maximum"]
        known = ((start, stop, self.rates.get(other)) for other, start, stop in self.evidence.spans)
        spans = sorted((start, stop, rate) for start, stop, rate in known if rate is not None)
        launched = max((stop for _, stop, _ in spans), default=0.0) - (self.evidence.result["actual_s"] or 0.0)
        at, left_s = min([launched, *(start for start, _, _ in spans)]), self.full_s
        for start, stop, rate in spans:
            if start > self._middle(point):
                break
            unseen_s = max(0.0, start - at) if at_most else 0.0
            used_s = (stop - start) * (rate - baseline) / (most - baseline)
            left_s = min(self.full_s, max(0.0, max(0.0, left_s - unseen_s) - used_s))
            at = max(at, stop)
        return left_s
