"""Findings about a point's samples.

Each finding needs both: evidence beyond chance, and a size that matters (5 % and more).
"""

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
    Unsteady,
    WideInterval,
)

Unit = Literal["instances", "repetitions", "launches"]
# A difference below 5 % changes no choice of storage, so it is not reported.
WORTH_SAYING = 0.05
# Repetitions of one point that differ by more were not measured under the same conditions.
UNSTEADY = 0.10
SIGNIFICANT = 0.05
# With 4 values the smallest p of Mann and Kendall's test is 8 %.
MIN_FOR_DRIFT = 5
MIN_FOR_FIRST_RUN = 3
# An interval that is a fifth wider.
WORTH_WIDENING = 1.44


def findings(values: FleetValues, *, higher_is_better: bool, median_interval: Interval | None) -> list[CellWarning]:
    """Return the findings that a reader of the percentiles must know."""
    if len(values.pooled) == 0 or float(np.median(values.pooled)) == 0:
        return []
    # Report each cause once: a slow first run would also pass as drift and as unsteady.
    over_time = slow_first_run(values, higher_is_better=higher_is_better) or drift(
        values, higher_is_better=higher_is_better
    )
    between = launches_differ(values)
    jumps = None if over_time else unsteady(values)
    # If a finding above explains why repetitions or launches differ, the wide interval is not a second finding.
    explanations = {REPETITIONS: over_time or jumps, LAUNCHES: between}
    is_explained = median_interval is not None and explanations.get(median_interval.limited_by)
    wide = None if is_explained else wide_interval(values, median_interval)
    in_a_row = None if over_time else autocorrelated(values)
    candidates: list[CellWarning | None] = [over_time, between, jumps, in_a_row, wide]
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
