"""Two storages of one question beside each other: how many times as slow and as dear one is as the other."""

import math
from dataclasses import dataclass, field, replace

from matrix.answer.costs import PointCost
from matrix.answer.decision.candidates import Candidate, Question
from matrix.answer.decision.objective import Percentile
from matrix.statistics.deciding import Slowdown
from matrix.statistics.differing import Difference, difference
from matrix.statistics.fleet_costs import CostRatio, FleetTime, cost_ratio, needed_to_tell
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.resampling import uncertainties
from matrix.statistics.uncertainty import Uncertainty
from matrix.terms.findings.replication import NeededReplication
from matrix.terms.findings.risks import MEDIAN


@dataclass
class Pairs:
    """The pairs of a question. What is known of a storage is resampled once."""

    question: Question
    _known: dict[int, Uncertainty | None] = field(default_factory=dict)

    def between(self, base: Candidate, other: Candidate) -> Difference | None:
        """Return the difference at the percentile that ranks them; None without single values.

        A fleet that met no stall looks as certain as one that never has any. So tails of both count with the larger
        variance, as costs do.
        """
        if base.values is None or other.values is None:
            return None
        known = self._of(base.values), self._of(other.values)
        if self.question.ranked_level != MEDIAN:
            larger = max((each for each in known if each), key=lambda each: each.variance, default=None)
            known = larger, larger
        return difference(base.values, other.values, self.question.ranked_level, known=known, is_one_run=True)

    def slowdown(self, base: Candidate, other: Candidate) -> Slowdown | None:
        """Return how many times as slow `other` is as `base`; None if one was not replicated, or has no interval.

        Without single values the intervals of both figures bound the ratio.
        """
        higher = self.question.higher_is_better
        if base.values is not None and other.values is not None:
            between = self.between(base, other)
            return Slowdown.of(between, higher_is_better=higher) if between else None
        first, second = (_ends(each.ranked) for each in ((other, base) if higher else (base, other)))
        ratio = times_as_slow(base, other, higher_is_better=higher)
        if first is None or second is None or ratio is None:
            return None
        return Slowdown(ratio, second[0] / first[1], second[1] / first[0])

    def cost(self, base: Candidate, other: Candidate) -> CostRatio | None:
        """Return how many times as dear `other` is as `base`, with what may be metered of both; None: not known.

        Without single values the hours of both are as uncertain as the slowdown of a duration or rate.
        """
        if not base.usd or other.usd is None:
            return None
        ratio = other.usd / base.usd
        mine, theirs = self._time(base), self._time(other)
        if mine is not None and theirs is not None:
            drawn = cost_ratio(theirs, mine, ratio, by_hour=(other.by_hour, base.by_hour))
            return drawn and _metered(drawn, base, other)
        is_of_work = self.question.metric == "duration_s" or self.question.higher_is_better
        slowdown = self.slowdown(base, other)
        if not is_of_work or slowdown is None or not slowdown.ratio:
            return None
        low, high = (1 + other.by_hour * (end / slowdown.ratio - 1) for end in (slowdown.low, slowdown.high))
        return _metered(CostRatio(ratio, ratio * low, ratio * high, None), base, other)

    def needed_for_cost(self, base: Candidate, other: Candidate) -> NeededReplication | None:
        """Return the data that would show which of the two is cheaper; None if that is not known."""
        cost, mine, theirs = self.cost(base, other), self._time(base), self._time(other)
        if cost is None or mine is None or theirs is None:
            return None
        return needed_to_tell(theirs, mine, cost, by_hour=(other.by_hour, base.by_hour))

    def bounded_cost(self, candidate: Candidate) -> PointCost | None:
        """Return the cost of a candidate with the ends of its 95 % interval and of what may be metered, if known."""
        cost, time = candidate.cost, self._time(candidate)
        uncertainty = time.uncertainty if time else None
        if cost is None or uncertainty is None:
            return cost
        half = min(uncertainty.half_width(), 300.0) if uncertainty.variance > 0 else 0.0
        used, by_hour_usd = cost.by_use, cost.usd - cost.by_use.expected
        low, high = used.low + by_hour_usd * math.exp(-half), used.high + by_hour_usd * math.exp(half)
        return replace(cost, low_usd=low, high_usd=high)

    def _of(self, values: FleetValues) -> Uncertainty | None:
        if id(values) not in self._known:
            level = self.question.ranked_level
            self._known[id(values)] = uncertainties(values, [level]).get(level)
        return self._known[id(values)]

    def _time(self, candidate: Candidate) -> FleetTime | None:
        if candidate.time is None and candidate.values is not None and self.question.metric == "duration_s":
            return FleetTime.of_equal_work(candidate.values)
        return candidate.time


def _metered(cost: CostRatio, base: Candidate, other: Candidate) -> CostRatio:
    """Return the ratio with the ends of what may be metered. Further measurements would not narrow these."""
    (base_low, base_high), (other_low, other_high) = base.usd_ends, other.usd_ends
    if base_low == base_high and other_low == other_high:
        return cost
    return CostRatio(cost.ratio, cost.low * other_low / base_high, cost.high * other_high / base_low, None)


def times_as_slow(base: Candidate, other: Candidate, *, higher_is_better: bool) -> float | None:
    """Return how many times as slow `other` is by its figure; None where one of both is 0."""
    best, mine = base.value, other.value
    if not best or not mine:
        return None
    return best / mine if higher_is_better else mine / best


def by_figures(base: Candidate, other: Candidate, *, higher_is_better: bool) -> Slowdown:
    """Return the slowdown as if figures had no uncertainty."""
    ratio = times_as_slow(base, other, higher_is_better=higher_is_better)
    # A figure of 0 has no ratio; equal ones are as fast.
    ratio = ratio or (1.0 if other.value == base.value else math.inf)
    return Slowdown(ratio, ratio, math.nextafter(ratio, 0.0))


def _ends(percentile: Percentile | None) -> tuple[float, float] | None:
    if percentile is None or percentile.low is None or percentile.high is None or percentile.low <= 0:
        return None
    return percentile.low, percentile.high
