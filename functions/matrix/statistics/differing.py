"""The difference of two cells at a percentile: its size, significance, interval, and the detectable difference.

- From six instances each on: the ratio of the percentiles, its interval and its p value by Student's t on logarithms,
  with the uncertainty of each side by two-way bootstrap (`resampling`) and Welch's degrees of freedom. The test is of
  the percentile that ranks two storages: two with the same median may have tails that differ by a factor.
- With three to five instances: the ratio of the geometric means, by the crossed mean squares of instances and
  repetitions (`uncertainty.of_mean`), also with Student's t and Welch. Interval and p value are one calculation, so
  they never contradict each other. Of simulated fleets of 3 to 5 instances such intervals hold the truth in 96 to 98 %.
- Cells that were launched three times and more: the ratio of the launches' figures, by Student's t on logarithms.
  Cells of one run are pairs: a launch measures all of them before the next one begins, so it is a block of a randomised
  complete block design, and the effect of its hour on all of them cancels in their ratio. The mean of k such ratios has
  k - 1 degrees of freedom (Montgomery 2017, Design and Analysis of Experiments, 2.5 and 4.1).
- A run beside five or more earlier ones: the ratio to what they let expect, by their scatter (`series`), which holds
  all that instances, repetitions and another night change. It needs no replication within a run. Beside that, the
  trend of all of them, which no single night shows.
- All other cells were not replicated (`resampling.lacks_replication`): no p value, no interval.
- Effect: P(run < base) + P(equal) / 2; Cliff's delta (1993, Psychological Bulletin 114, 494-509) is twice that less 1.
- Many cells: Holm (1979, Scand. J. Statist. 6, 65-70) bounds the chance of a single false alarm, Benjamini & Hochberg
  (1995, J. R. Stat. Soc. B 57, 289-300) the share of false alarms among all listed differences.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from matrix.statistics.autocorrelation import assumed
from matrix.statistics.fleet_values import FleetValues, Floats
from matrix.statistics.intervals import Interval, method_of
from matrix.statistics.resampling import MIN_UNITS, lacks_replication, uncertainties
from matrix.statistics.series import expected, trend
from matrix.statistics.spread import complete_rows
from matrix.statistics.uncertainty import LAUNCHES, Uncertainty, of_difference, of_mean, of_successive
from matrix.terms.findings.replication import MIN_LAUNCHES

SIGNIFICANT = 0.05
POWER = 0.8
CROSSED_MEANS = "crossed means, Student's t"
PAIRED_LAUNCHES = "launches in pairs, Student's t"
BESIDE_RUNS = "earlier runs, Student's t"
TREND = "trend of all runs, Student's t"
ALL_EQUAL = "all values are equal"
NOT_TESTED = "not tested"

# A wider interval has no information, and overflows.
MAX_HALF_WIDTH = 300.0

# Of base and run; None if it has to be resampled.
Sides = tuple[Uncertainty | None, Uncertainty | None]


@dataclass(frozen=True)
class Difference:
    """The difference of two samples: the ratio of run over base, and the chance that a value of `run` is the lower one.

    `p_value`, `interval` and `uncertainty` (of the ratio's logarithm) are None if one side was not replicated, the last
    two also if no value varies.
    """

    level: float
    ratio: float
    interval: Interval | None
    uncertainty: Uncertainty | None
    p_lower: float
    p_value: float | None
    test: str
    units: tuple[int, int]

    @property
    def cliffs_delta(self) -> float:
        """-1: all of the run's values are lower, 1: all are higher."""
        return 1 - 2 * self.p_lower

    @property
    def is_lower(self) -> bool:
        """Whether the run's figure is the lower one."""
        return self.ratio < 1

    @property
    def is_replicated(self) -> bool:
        """Whether both sides were measured often enough for a verdict."""
        return self.p_value is not None

    def is_shown(self, p_value: float | None) -> bool:
        """Whether the two differ by more than chance, at a p value corrected for the number of comparisons."""
        return self.is_replicated and p_value is not None and p_value < SIGNIFICANT

    def detectable_ratio(self, tests: int = 1, power: float = POWER) -> float | None:
        """Return the true ratio above 1 that a test of such values detects with this power, among `tests` comparisons.

        None if the uncertainty is not known, or if no ratio below a factor of e^700 would be found.
        """
        if self.uncertainty is None:
            return None
        distance = detectable_distance(self.uncertainty, tests, power)
        return math.exp(distance) if distance < 700 else None  # noqa: PLR2004 - beyond it exp overflows


def detectable_distance(uncertainty: Uncertainty, tests: int = 1, power: float = POWER) -> float:
    """Return how far from 0 the true value is that a test detects with this power, among `tests` comparisons.

    By Student's t at SIGNIFICANT / tests, two-sided (Cohen 1988, Statistical Power Analysis, 2.4, with t for z).
    """
    from scipy import special

    degrees = uncertainty.degrees_of_freedom
    reach = special.stdtrit(degrees, 1 - SIGNIFICANT / tests / 2) + special.stdtrit(degrees, power)
    return float(reach) * math.sqrt(uncertainty.variance)


def difference(
    base: FleetValues,
    run: FleetValues,
    level: float = 50,
    *,
    known: Sides = (None, None),
    is_one_run: bool = False,
) -> Difference | None:
    """Compare a percentile of two samples of one metric; None if a ratio has no meaning (values not above 0).

    `known` has the uncertainty of that percentile of base and run, if they have been resampled already. Within one run
    (`is_one_run`) launches of the same number are pairs; the ratio then is over the launches that both have.
    """
    if min(base.pooled.min(), run.pooled.min()) <= 0:
        return None
    ratio = run.percentile(level) / base.percentile(level)
    uncertainty, test = None, NOT_TESTED
    if not (lacks_replication(base) or lacks_replication(run)):
        pairs = _pairs(base, run, level) if is_one_run else None
        if pairs is not None:
            ratio, test = float(np.exp(pairs.mean())), PAIRED_LAUNCHES
            uncertainty = of_successive(float(pairs.var(ddof=1)) / len(pairs), assumed(pairs), LAUNCHES)
        elif any(len(values.instances) < MIN_UNITS and not values.is_relaunched for values in (base, run)):
            uncertainty, test = _of_means(base, run), CROSSED_MEANS
            ratio = float(np.exp(np.nanmean(np.log(run.table)) - np.nanmean(np.log(base.table))))
        else:
            uncertainty, test = _of_percentiles(base, run, level, known), max(method_of(base), method_of(run), key=len)
    p_value, interval = None, None
    if uncertainty is not None and uncertainty.variance > 0:
        half = min(uncertainty.half_width(), MAX_HALF_WIDTH)
        interval = Interval(ratio / math.exp(half), ratio * math.exp(half), test)
        p_value = uncertainty.p_value(math.log(ratio))
    elif uncertainty is not None:
        p_value, uncertainty, test = (1.0 if ratio == 1 else 0.0), None, ALL_EQUAL
    of_base, of_run = base.unit_percentiles(level), run.unit_percentiles(level)
    lower = np.count_nonzero(of_run < of_base[:, None]) + np.count_nonzero(of_run == of_base[:, None]) / 2
    return Difference(
        level=level,
        ratio=ratio,
        interval=interval,
        uncertainty=uncertainty,
        p_lower=float(lower) / (len(of_base) * len(of_run)),
        p_value=p_value,
        test=test,
        units=(len(of_base), len(of_run)),
    )


def beside_runs(between: Difference, before: Sequence[float], base: int, figure: float) -> Difference:
    """Return the difference of a run's figure from what earlier runs let expect, of which one is the base.

    It is never better known than the difference of the two runs alone: a run may have fewer values than those before.
    """
    usual, uncertainty = expected(before, base)
    if between.uncertainty is not None and between.uncertainty.half_width() > uncertainty.half_width():
        uncertainty = between.uncertainty
    return _of_runs(between, len(before), figure / usual, uncertainty, BESIDE_RUNS)


def over_runs(between: Difference, figures: Sequence[float]) -> Difference:
    """Return the difference of the last of these figures of runs from the first, by their trend."""
    return _of_runs(between, len(figures) - 1, *trend(figures), TREND)


def _of_runs(between: Difference, before: int, ratio: float, uncertainty: Uncertainty, test: str) -> Difference:
    half = min(uncertainty.half_width(), MAX_HALF_WIDTH)
    return replace(
        between,
        ratio=ratio,
        interval=Interval(ratio / math.exp(half), ratio * math.exp(half), test),
        uncertainty=uncertainty,
        p_value=uncertainty.p_value(math.log(ratio)),
        test=test,
        units=(before, 1),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values corrected for their number: the smallest times n, the next times n - 1, never falling.

    Without any difference, at least one of them is below SIGNIFICANT in at most 5 % of all series.
    """
    corrected = [1.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return corrected


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return q values: among all differences with q below 5 %, at most 5 % are expected to be false alarms.

    Valid if the tests are independent or positively dependent (Benjamini & Yekutieli 2001, Ann. Stat. 29, 1165-1188),
    like points of one run.
    """
    corrected = [1.0] * len(p_values)
    lowest = 1.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: -p_values[i])):
        lowest = min(lowest, p_values[index] * len(p_values) / (len(p_values) - rank))
        corrected[index] = lowest
    return corrected


def _pairs(base: FleetValues, run: FleetValues, level: float) -> Floats | None:
    """The logarithm of the ratio of each launch that both have, in their order; None of fewer than three of them."""
    both = sorted(set(base.launch_numbers) & set(run.launch_numbers))
    if len(both) < MIN_LAUNCHES:
        return None
    of_base, of_run = (
        dict(zip(sorted(set(values.launch_numbers)), values.unit_percentiles(level), strict=True))
        for values in (base, run)
    )
    pairs: Floats = np.log(np.array([of_run[launch] / of_base[launch] for launch in both]))
    return pairs


def _of_percentiles(base: FleetValues, run: FleetValues, level: float, known: Sides) -> Uncertainty | None:
    """The uncertainty of the logarithm of the ratio of percentiles; None if one side has none."""
    sides = [side or uncertainties(values, [level]).get(level) for side, values in zip(known, (base, run), strict=True)]
    return of_difference(sides[0], sides[1]) if sides[0] is not None and sides[1] is not None else None


def _of_means(base: FleetValues, run: FleetValues) -> Uncertainty | None:
    """The uncertainty of the logarithm of the ratio of geometric means; None with fewer than two whole rows."""
    sides = [_of_mean(values) for values in (base, run)]
    return of_difference(sides[0], sides[1]) if sides[0] is not None and sides[1] is not None else None


def _of_mean(values: FleetValues) -> Uncertainty | None:
    if not values.is_relaunched:
        return of_mean(np.log(complete_rows(values)))
    return uncertainties(values, [50.0]).get("mean")
