"""Whether a fleet is within a tolerance of another, whether its percentile keeps a limit, and how much data shows it.

- Non-inferiority: a slowdown is below the tolerance if the upper end of its 95 % interval is, and above it if the lower
  end is (ICH E9, 1998, 3.3.2; Piaggio et al. 2012, JAMA 308, 2594-2604). Between the two nothing is shown.
- A limit is kept if the upper bound of the percentile keeps it, with 97.5 % confidence: the end of its interval (in
  simulated fleets of 40 x 3 to 100 x 3 that held in 91 to 97 %, `intervals`); or the
  worst value, if there are enough samples for the percentile (`sample_size`); else the larger of the worst value and
  the tolerance limit of a log-normal distribution. That is the quantile of its generalized pivotal quantity
  mean + Z sqrt(variance of the mean) + z sqrt(s^2): s^2 is the sum of the components of instances, repetitions and the
  residual, each sum of squares divided by a drawn chi-square (Weerahandi 1993, JASA 88, 899-905; Krishnamoorthy &
  Mathew 2009, Statistical Tolerance Regions, chapters 4 and 5). It holds in 97 to 100 % of drawn fleets. A noncentral t
  with Satterthwaite's degrees of freedom held in 87 to 96 % where three repetitions vary more than instances.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from matrix.statistics import sample_size
from matrix.statistics.autocorrelation import Autocorrelation
from matrix.statistics.differing import POWER, SIGNIFICANT, Difference
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.intervals import percentile_interval
from matrix.statistics.resampling import MIN_UNITS, lacks_replication, uncertainties
from matrix.statistics.spread import carries, complete_rows, deviations, shows_interval
from matrix.statistics.uncertainty import LAUNCHES, Uncertainty, of_crossed, of_difference, of_successive
from matrix.terms.findings.replication import NeededReplication

# More than these, nobody buys for a difference of a few per cent.
MAX_INSTANCES, MAX_LAUNCHES = 1_000, 100
BEFORE_REPETITIONS = 5
REPETITIONS_TRIED = (3, 5, 10, 20, 30, 50, 100)
# Of a tolerance limit: the same for the same values.
_DRAWS, _SEED = 10_000, 0


@dataclass(frozen=True)
class Slowdown:
    """How many times as slow a fleet is as another, with the ends of its 95 % interval."""

    ratio: float
    low: float
    high: float

    @classmethod
    def of(cls, between: Difference, *, higher_is_better: bool) -> "Slowdown | None":
        """Return that of the run as the base; None if it was not replicated."""
        if not between.is_replicated:
            return None
        ends = between.interval
        low, high = (ends.low, ends.high) if ends else (between.ratio, between.ratio)
        return cls(1 / between.ratio, 1 / high, 1 / low) if higher_is_better else cls(between.ratio, low, high)


def bound(values: FleetValues, level: float, *, is_upper: bool) -> float | None:
    """Return the bound above (or below) which a percentile does not lie, with 97.5 % confidence; None if unknown.

    That of P0 or P100 is unknown: however many instances were seen, the next may be worse.
    """
    if level in (0, 100):
        return None
    worst, edge = (float(values.pooled.max()), 100.0) if is_upper else (float(values.pooled.min()), 0.0)
    if shows_interval(values, level) and (interval := percentile_interval(values, level)):
        end = interval.high if is_upper else interval.low
        if values.is_relaunched or min(complete_rows(values).shape) < 2:  # noqa: PLR2004 - no variance of one
            return end
    elif lacks_replication(values):
        return None
    elif carries(values, level):
        return worst
    elif values.is_relaunched:
        half = uncertainties(values, [edge])[edge].half_width()
        return _beyond(values, values.percentile(edge), half if is_upper else -half)
    else:
        end = worst
    # Few repetitions hardly show what they share: an interval alone held in 86 to 90 % (40 x 3, 2 to 5 %).
    limit = _tolerance_limit(values, level, is_upper=is_upper)
    return max(end, limit) if is_upper else min(end, limit)


def _beyond(values: FleetValues, figure: float, distance: float) -> float:
    return figure * math.exp(min(distance, 300.0)) if values.has_logarithms else figure + distance


def _tolerance_limit(values: FleetValues, level: float, *, is_upper: bool) -> float:
    from scipy import special

    table = complete_rows(values)
    if values.has_logarithms:
        table = np.log(table)
    rows, columns = table.shape
    if rows < 2 or columns < 2:  # noqa: PLR2004 - no variance of one
        return math.inf if is_upper else -math.inf
    if not np.ptp(table):
        return float(values.pooled[0])
    of_rows, of_columns, middle = table.mean(axis=1), table.mean(axis=0), float(table.mean())
    rng = np.random.default_rng(_SEED)
    squares = (
        ((table - of_rows[:, None] - of_columns[None, :] + middle) ** 2).sum(),
        columns * ((of_rows - middle) ** 2).sum(),
        rows * ((of_columns - middle) ** 2).sum(),
    )
    freedoms = (rows - 1) * (columns - 1), rows - 1, columns - 1
    residual, by_rows, by_columns = (
        square / rng.chisquare(freedom, _DRAWS) for square, freedom in zip(squares, freedoms, strict=True)
    )
    # A component is not negative.
    of_instances = np.maximum(by_rows - residual, 0) / columns
    of_repetitions = np.maximum(by_columns - residual, 0) / rows
    of_mean = of_instances / rows + of_repetitions / columns + residual / rows / columns
    whole = of_instances + of_repetitions + residual
    drawn = middle + rng.normal(size=_DRAWS) * np.sqrt(of_mean) + special.ndtri(level / 100) * np.sqrt(whole)
    end = float(np.quantile(drawn, 1 - SIGNIFICANT / 2 if is_upper else SIGNIFICANT / 2))
    return math.exp(min(end, 300.0)) if values.has_logarithms else end


def needed(
    sides: Sequence[FleetValues], known: Uncertainty | None, distance: float, level: float, *, tail: float | None = None
) -> NeededReplication | None:
    """Return the data with which a ratio that stays as it is would be told from the tolerance in 80 % of the runs.

    `known` is the uncertainty of the ratio's logarithm, `distance` that between the logarithms of ratio and tolerance,
    `level` the percentile that ranks, and `tail` that which ranks larger fleets instead. None if no fleet of reasonable
    size shows it.
    """
    if known is None or distance <= 0:
        return None
    if any(values.is_relaunched for values in sides):
        return more_launches(min(len(values.launches) for values in sides), known, distance)
    instances, repetitions = (min(values.table.shape[axis] for values in sides) for axis in (0, 1))
    tail_from = MAX_INSTANCES if tail is None else sample_size.needed(tail)
    parts = [_relative_variances(values) for values in sides]

    def of_size(count: int, times: int) -> Uncertainty:
        if count < MIN_UNITS:
            spread = 1.0  # means are compared
        else:
            spread = _variance_of_percentile(level if tail is None or count < tail_from else tail)
        alike = Autocorrelation.none(times) if times == repetitions else Autocorrelation.planned(times)
        return _of_size(parts, count, times, alike, spread)

    scale = known.variance / max(of_size(instances, repetitions).variance, 1e-300)

    def is_enough(count: int, times: int) -> bool:
        return detected(of_size(count, times), known.degrees_of_freedom) * math.sqrt(scale) <= distance

    # Where another percentile begins to rank, a larger fleet shows less than a smaller one.
    limits = sorted({limit for limit in (MIN_UNITS, tail_from) if instances < limit < MAX_INSTANCES})
    ranges = list(zip([instances, *limits], [*(limit - 1 for limit in limits), MAX_INSTANCES], strict=True))
    tried = [repetitions, *(times for times in REPETITIONS_TRIED if times > repetitions)]
    found = [
        (_least(low, high, is_enough, times), times)
        for times in tried
        for low, high in ranges
        if is_enough(high, times)
    ]
    if not found:
        return None
    # An instance costs as much before its first repetition as in some of them.
    count, times = min(found, key=lambda size: size[0] * (size[1] + BEFORE_REPETITIONS))
    return {"instances": count, "repetitions": times}


def more_launches(count: int, known: Uncertainty, distance: float) -> NeededReplication | None:
    """Return how many launches instead of `count` would do; None if too many."""
    for launches in range(count + 1, MAX_LAUNCHES + 1):
        more = of_successive(known.variance * count / launches, Autocorrelation.planned(launches), LAUNCHES)
        if detected(more, known.degrees_of_freedom) <= distance:
            return {"launches": launches}
    return None


def detected(planned: Uncertainty, degrees_of_freedom: float) -> float:
    """Return how far from 0 the true value is that a planned test detects with POWER.

    Its variance is itself an estimate with so many degrees of freedom: with 4 of them, of three repetitions, plans that
    take it as known decide in two of three runs. By noncentral t (Julious & Owen 2006, Pharm. Stat. 5, 29-37).
    """
    from scipy import special

    reach = special.stdtrit(planned.degrees_of_freedom, 1 - SIGNIFICANT / 2)
    return float(special.nctdtrit(degrees_of_freedom, reach, POWER)) * math.sqrt(planned.variance)


def _least(low: int, high: int, is_enough: Callable[[int, int], bool], times: int) -> int:
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle, times) else (middle + 1, high)
    return low


def _variance_of_percentile(level: float) -> float:
    """Return the variance of a percentile over that of the mean, of normal values: 1.57 of the median, 2.9 of P90."""
    from scipy import special

    share = level / 100
    density = math.exp(-(special.ndtri(share) ** 2) / 2) / math.sqrt(2 * math.pi)
    return float(share * (1 - share) / density**2)


def _relative_variances(values: FleetValues) -> tuple[float, ...]:
    """Return the variance of instances, of repetitions and the residual one, over the square of the median."""
    middle = float(np.median(values.pooled))
    return tuple((float(deviation or 0.0) / middle) ** 2 for deviation in deviations(values).values())


def _of_size(
    parts: Iterable[tuple[float, ...]], instances: int, repetitions: int, alike: Autocorrelation, spread: float
) -> Uncertainty:
    """Return the uncertainty of the ratio of two figures with so many instances and repetitions, which are `alike`.

    `spread` is the variance of such a figure over that of a mean. What a repetition shares moves both as much.
    """
    each = []
    for of_instances, of_repetitions, of_rest in parts:
        residual = spread * of_rest / (instances * repetitions)
        each.append(
            of_crossed(
                spread * of_instances / instances + residual, of_repetitions / repetitions + residual, residual,
                instances=instances, alike=alike,
            )
        )  # fmt: skip
    return of_difference(*each)
