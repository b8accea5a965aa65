"""Findings about a point's samples.

Each finding needs both: evidence beyond chance, and a size that matters (5 % and more).
"""

import math
from typing import Literal, cast

import numpy as np

from matrix.statistics.autocorrelation import is_beyond_chance, measured
from matrix.statistics.fleet_values import FleetValues, Floats
from matrix.statistics.intervals import Interval
from matrix.statistics.resampling import MIN_UNITS
from matrix.statistics.uncertainty import LAUNCHES, REPETITIONS, count_that_halves
from matrix.terms.findings.warnings import (
    Autocorrelated,
    CellWarning,
    Drift,
    LaunchesDiffer,
    SlowFirstRun,
    TwoGroups,
    TwoGroupsOfInstances,
    TwoGroupsOfRepetitions,
    Unsteady,
    WideInterval,
)

# 95th percentiles of sqrt(n) * dip of n uniform values, from 10,000 simulated samples each. A test recomputes one.
CRITICAL = {10: 0.443, 15: 0.461, 20: 0.475, 30: 0.485, 50: 0.497, 100: 0.509, 200: 0.518, 500: 0.530}
MIN_VALUES = min(CRITICAL)


def is_bimodal(values: Floats) -> bool:
    """Whether one mode cannot explain the values (5 % level); never of fewer than ten.

    The dip then exceeds the 95 % quantile of the dips of uniform samples, the least favourable unimodal distribution.
    """
    count = len(values)
    if count < MIN_VALUES:
        return False
    critical = float(np.interp(math.log(count), np.log(list(CRITICAL)), list(CRITICAL.values())))
    return math.sqrt(count) * dip(values) > critical


def dip(values: Floats) -> float:
    """Return Hartigan's dip, between 1 / (2 n) and 1 / 4: the distance from the nearest unimodal distribution.

    That one is found with the greatest convex minorant and the least concave majorant (Hartigan & Hartigan 1985, Ann.
    Statist. 13, 70-84; Hartigan 1985, Applied Statistics AS 217). The dip does not depend on the shape: skewed and
    heavy-tailed samples have small dips too. The package diptest does the same, but has no wheel for Linux on arm64
    (version 0.12, November 2026), on which the functions can run.
    """
    points, counts = np.unique(values, return_counts=True)
    above = np.cumsum(counts) / counts.sum()
    below = above - counts / counts.sum()
    # The modal interval shrinks until the two hulls differ there by no more than the sample differs from them outside.
    largest = 1 / len(values)
    first, last = 0, len(points) - 1
    while first < last:
        part = slice(first, last + 1)
        minorant = _hull(points[part], below[part])
        majorant = -_hull(points[part], -above[part])
        at_minorant = np.flatnonzero(np.isclose(minorant, below[part], atol=1e-12, rtol=0))
        at_majorant = np.flatnonzero(np.isclose(majorant, above[part], atol=1e-12, rtol=0))
        gap_left = majorant[at_minorant] - minorant[at_minorant]
        gap_right = majorant[at_majorant] - minorant[at_majorant]
        if gap_left.max() > gap_right.max():
            start = int(at_minorant[gap_left.argmax()])
            end = int(at_majorant[at_majorant >= start][0])
        else:
            end = int(at_majorant[len(gap_right) - 1 - gap_right[::-1].argmax()])
            start = int(at_minorant[at_minorant <= end][-1])
        if max(gap_left.max(), gap_right.max()) <= largest:
            break
        left = float((above[part] - minorant)[: start + 1].max()) if start else 0.0
        right = float((majorant - below[part])[end:].max()) if end < last - first else 0.0
        largest = max(largest, left, right)
        if start == 0 and end == last - first:
            break
        first, last = first + start, first + end
    return largest / 2


def _hull(points: Floats, heights: Floats) -> Floats:
    """Return the greatest convex function below the heights, at the points."""
    # Python's numbers: a loop over numpy's takes five times as long.
    across, up = points.tolist(), heights.tolist()
    kept: list[int] = []
    for index, (x, y) in enumerate(zip(across, up, strict=True)):
        while len(kept) > 1:
            first, second = kept[-2], kept[-1]
            before = (up[second] - up[first]) * (x - across[second])
            if before < (y - up[second]) * (across[second] - across[first]):
                break
            kept.pop()
        kept.append(index)
    return np.interp(points, points[kept], heights[kept])


Unit = Literal["instances", "repetitions", "launches"]
# A difference below 5 % changes no choice of storage, so it is not reported.
WORTH_SAYING = 0.05
# Repetitions of one point that differ by more were not measured under the same conditions.
UNSTEADY = 0.10
SIGNIFICANT = 0.05
# With 4 values the smallest p of Mann and Kendall's test is 8 %.
MIN_FOR_DRIFT = 5
MIN_FOR_FIRST_RUN = 3
# Fewer than a tenth of all values are outliers, not a group.
MIN_GROUP = 0.10
# An interval that is a fifth wider.
WORTH_WIDENING = 1.44


def findings(values: FleetValues, *, higher_is_better: bool, median_interval: Interval | None) -> list[CellWarning]:
    """Return the findings that a reader of the percentiles must know."""
    if len(values.pooled) == 0 or float(np.median(values.pooled)) == 0:
        return []
    # Report each cause once: a slow first run would also pass as drift, as two groups and as unsteady.
    over_time = slow_first_run(values, higher_is_better=higher_is_better) or drift(
        values, higher_is_better=higher_is_better
    )
    groups = two_groups(values)
    if over_time and groups and not isinstance(groups, TwoGroupsOfInstances):
        groups = None
    between = launches_differ(values)
    jumps = None if over_time or groups else unsteady(values)
    # If a finding above explains why repetitions or launches differ, the wide interval is not a second finding.
    explanations = {REPETITIONS: over_time or jumps, LAUNCHES: between}
    is_explained = median_interval is not None and explanations.get(median_interval.limited_by)
    wide = None if is_explained else wide_interval(values, median_interval)
    in_a_row = None if over_time or groups else autocorrelated(values)
    candidates: list[CellWarning | None] = [over_time, groups, between, jumps, in_a_row, wide]
    return [finding for finding in candidates if finding]


def slow_first_run(values: FleetValues, *, higher_is_better: bool) -> SlowFirstRun | None:
    """Find a first repetition that is slower than all later ones, by more than the later ones differ."""
    medians = _slowness(values.repetition_medians(), higher_is_better)
    if len(medians) < MIN_FOR_FIRST_RUN:
        return None
    first, later = medians[0], medians[1:]
    usual = np.median(later)
    if usual <= 0:  # all too fast for the clock: there is nothing to be a share of
        return None
    excess = first / usual - 1
    if excess <= WORTH_SAYING or first <= later.max() + (later.max() - later.min()):
        return None
    return SlowFirstRun(share=float(excess), repetition=values.repetitions[0])


def drift(values: FleetValues, *, higher_is_better: bool) -> Drift | None:
    """Find a steady change over the repetitions: Mann-Kendall's test, size by the Theil-Sen slope.

    (Mann 1945, Econometrica 13, 245-259; Kendall 1975, Rank Correlation Methods; Sen 1968, J. Am. Stat. Assoc. 63,
    1379-1389.)
    """
    medians = values.repetition_medians()
    if len(medians) < MIN_FOR_DRIFT or np.ptp(medians) == 0:
        return None
    from scipy import stats

    order = np.arange(len(medians))
    if not stats.kendalltau(order, medians).pvalue < SIGNIFICANT:
        return None
    change = float(stats.theilslopes(medians, order).slope) * (len(medians) - 1) / abs(float(np.median(medians)))
    if abs(change) <= WORTH_SAYING:
        return None
    way: Literal["slower", "faster"] = "slower" if (change < 0) == higher_is_better else "faster"
    return Drift(share=abs(change), way=way, repetitions=len(medians))


def two_groups(values: FleetValues) -> TwoGroups | None:
    """Find values with two modes (Hartigan's dip), with the place of both groups and whether instances make them."""
    pooled = np.sort(values.pooled)
    if not is_bimodal(pooled):
        return None
    cut = _best_cut(pooled)
    low, high = pooled[:cut], pooled[cut:]
    middles = float(np.median(low)), float(np.median(high))
    if min(len(low), len(high)) < MIN_GROUP * len(pooled):
        return None
    # A few different launches are groups already; `launches_differ` reports them.
    if len(values.launches) > 1 and all(len({*(launch.pooled >= high[0])}) == 1 for launch in values.launches):
        return None
    if abs(middles[1] - middles[0]) <= WORTH_SAYING * abs(float(np.median(pooled))):
        return None
    return _who_makes_them(values, float(high[0]))(
        share=abs(middles[1] - middles[0]) / abs(float(np.median(pooled))),
        lower={"values": len(low), "median": middles[0]},
        upper={"values": len(high), "median": middles[1]},
    )


def unsteady(values: FleetValues) -> Unsteady | None:
    """Find repetitions of the whole fleet that differ widely without a trend.

    Of six instances and more chance must not explain it: Kruskal & Wallis (1952, J. Am. Stat. Assoc. 47, 583-621), each
    instance's values as shares of its own median. Fewer can show nothing, and are taken as they are.
    """
    medians = values.repetition_medians()
    relative = float(np.ptp(medians)) / abs(float(np.median(values.pooled)))
    if len(medians) < 2 or relative <= UNSTEADY:  # noqa: PLR2004 - one repetition differs from nothing
        return None
    if len(values.instances) >= MIN_UNITS and _is_chance(values):
        return None
    return Unsteady(share=relative, repetitions=len(medians))


def autocorrelated(values: FleetValues) -> Autocorrelated | None:
    """Find significantly autocorrelated repetitions or launches, if that widens intervals by more than a fifth.

    Like all findings only if the medians differ by a relevant amount.
    """
    medians = values.in_time()
    alike = measured(medians)
    spread = float(np.ptp(medians)) if values.has_logarithms else 0.0
    if alike is None or spread <= WORTH_SAYING or alike.factor < WORTH_WIDENING or not is_beyond_chance(medians):
        return None
    return Autocorrelated(
        share=alike.lag1,
        unit="launches" if values.is_relaunched else "repetitions",
        count=len(medians),
        counts_as=max(1, round(len(medians) / alike.factor)),
    )


def launches_differ(values: FleetValues) -> LaunchesDiffer | None:
    """Find launches whose medians differ by a relevant amount: significantly, if each has six instances.

    Kruskal & Wallis's test as in `unsteady`, of the instances' medians. Fewer instances are too few for a test, so
    their difference counts without one.
    """
    if len(values.launches) == 1:
        return None
    medians = values.unit_percentiles()
    relative = float(np.ptp(medians)) / abs(float(np.median(values.pooled)))
    if relative <= UNSTEADY:
        return None
    if all(len(launch.instances) >= MIN_UNITS for launch in values.launches):
        from scipy import stats

        if not stats.kruskal(*(launch.instance_medians() for launch in values.launches)).pvalue < SIGNIFICANT:
            return None
    return LaunchesDiffer(share=relative, count=len(medians))


def _is_chance(values: FleetValues) -> bool:
    from scipy import stats

    with np.errstate(divide="ignore", invalid="ignore"):  # an instance may have been too fast for the clock
        shares = values.table / values.instance_medians()[:, None]
    return not stats.kruskal(*shares.T, nan_policy="omit").pvalue < SIGNIFICANT


def wide_interval(values: FleetValues, interval: Interval | None) -> WideInterval | None:
    """Find a median that is known to no better than 10 %, with the number of values that would halve its interval."""
    if interval is None:
        return None
    median = values.percentile(50)
    half = (interval.high - interval.low) / 2 / abs(median)
    if half <= UNSTEADY:
        return None
    units = {LAUNCHES: values.launches, REPETITIONS: values.repetitions}.get(interval.limited_by, values.instances)
    return WideInterval(share=half, unit=cast("Unit", interval.limited_by), needed=count_that_halves(len(units)))


def _slowness(medians: Floats, higher_is_better: bool) -> Floats:
    """Values for which a larger one is worse."""
    return 1 / medians if higher_is_better and bool((medians > 0).all()) else medians


def _best_cut(ordered: Floats) -> int:
    """The split into two groups with the least sum of squares around their means (Fisher 1958, Otsu 1979)."""
    count = np.arange(1, len(ordered))
    total = np.cumsum(ordered)
    below = total[:-1] / count
    above = (total[-1] - total[:-1]) / (len(ordered) - count)
    between = count * (len(ordered) - count) * (above - below) ** 2
    return int(between.argmax()) + 1


def _who_makes_them(values: FleetValues, border: float) -> type[TwoGroups]:
    """Return whether the groups are always the same instances, always the same repetitions, or neither."""
    is_high = np.where(np.isnan(values.table), np.nan, values.table >= border)
    if len(values.instances) > 1 and len(values.repetitions) > 1:
        if np.nanmax(np.nanmax(is_high, axis=1) - np.nanmin(is_high, axis=1)) == 0:
            return TwoGroupsOfInstances
        if np.nanmax(np.nanmax(is_high, axis=0) - np.nanmin(is_high, axis=0)) == 0:
            return TwoGroupsOfRepetitions
    return TwoGroups
