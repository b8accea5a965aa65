"""Whether two cells differ at a percentile, by how much, and how sure that is.

- From six instances each on, and three repetitions where they share a storage: the ratio of the percentiles, its
  interval and its p value by Student's t on logarithms, with the uncertainty of each side by two-way bootstrap
  (`resampling`) and Welch's degrees of freedom. The percentile that ranks two storages is the one that is tested: two
  with the same median may have slow ends that differ by a factor.
- With fewer units: the medians of units by Mann & Whitney (1947), exact, or by permutations where values are equal, and
  the geometric means by crossed mean squares (`uncertainty`), whichever p is larger. The interval is that of Hodges &
  Lehmann's (1963) ratio, from all pairwise ratios (Hollander & Wolfe 1999, 4.3), where one exists.
- Cells that were launched three times and more: the ratio of what their launches show, by Student's t on the launches'
  logarithms. With two launches nothing is known of how much they differ, so no difference is shown.
- Effect: P(run < base) + P(equal) / 2; Cliff's delta (1993, Psychological Bulletin 114, 494-509) is twice that less 1.
- What all instances of a repetition share (a busy disk, a burst that has ended) no number of instances averages out:
  where too few units or repetitions tell how much that is, and figures of repetitions of one run reach into those of
  the other, a difference is not shown.
- Many cells: Holm (1979, Scand. J. Statist. 6, 65-70).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matrix.statistics.carrying import CONFIDENCE
from matrix.statistics.fleet_values import FleetValues, Floats
from matrix.statistics.intervals import Interval, method_of
from matrix.statistics.resampling import LEAST_LAUNCHES, LEAST_UNITS, is_one_event, is_two_way, uncertainties
from matrix.statistics.spread import complete_rows
from matrix.statistics.uncertainty import Uncertainty, of_difference, of_mean

SIGNIFICANT = 0.05
RANKS = "Mann-Whitney"
# From this many units on the exact distribution of ranks is slow, and the normal approximation is as good.
MOST_EXACT = 10
PERMUTATIONS = 20_000

# Of base and run; None where it has to be resampled.
Sides = tuple[Uncertainty | None, Uncertainty | None]


@dataclass(frozen=True)
class Difference:
    """How `run` differs from `base`: ratio of a percentile, and the chance that a value of `run` is the lower one."""

    level: float
    ratio: float
    interval: Interval | None
    hodges_lehmann_ratio: float
    p_lower: float
    p_value: float
    test: str
    least_p: float
    units: tuple[int, int]
    repetitions_overlap: bool
    is_within_runs: bool

    @property
    def cliffs_delta(self) -> float:
        """-1: all of the run's values are lower, 1: all are higher."""
        return 1 - 2 * self.p_lower

    @property
    def is_lower(self) -> bool:
        """Whether the run's values are the lower ones, by what was tested."""
        return self.p_lower > 1 / 2 if self.test.startswith(RANKS) else self.ratio < 1

    def is_shown(self, p_value: float) -> bool:
        """Whether the two differ by more than chance and by more than their repetitions do, at a corrected p value."""
        return p_value < SIGNIFICANT and not self.repetitions_overlap and not self.is_within_runs


def difference(
    base: FleetValues, run: FleetValues, level: float = 50, *, known: Sides = (None, None)
) -> Difference | None:
    """Compare a percentile of two samples of one metric; None where a ratio has no meaning (values not above 0).

    `known` is how uncertain that percentile is of base and run, where somebody has resampled them already.
    """
    if min(base.pooled.min(), run.pooled.min()) <= 0:
        return None
    of_base, of_run = base.unit_percentiles(level), run.unit_percentiles(level)
    pairs = np.sort((of_run[:, None] / of_base[None, :]).ravel())
    below, up_to = np.searchsorted(pairs, 1.0, "left"), np.searchsorted(pairs, 1.0, "right")
    p_lower = float(below / len(pairs) + (up_to - below) / len(pairs) / 2)
    ratio = run.percentile(level) / base.percentile(level)
    uncertainty = _of_ratio(base, run, level, known)
    if uncertainty is not None:
        half, method = uncertainty.half_width(), max(method_of(base), method_of(run), key=len)
        interval: Interval | None = Interval(ratio / math.exp(half), ratio * math.exp(half), method)
        p_value, test, least_p = uncertainty.p_value(math.log(ratio)), method, 0.0
    else:
        is_small = min(len(of_base), len(of_run)) < LEAST_UNITS
        interval = _hodges_lehmann_interval(pairs, len(of_base), len(of_run)) if is_small else None
        p_value, test = _rank_test(of_base, of_run)
        p_value = max(p_value, _p_of_crossed_means(base, run))
        least_p = 2 / math.comb(len(of_base) + len(of_run), len(of_run))
    return Difference(
        level=level,
        ratio=ratio,
        interval=interval,
        # The median of what is sorted; numpy's own would sort again.
        hodges_lehmann_ratio=float((pairs[(len(pairs) - 1) // 2] + pairs[len(pairs) // 2]) / 2),
        p_lower=p_lower,
        p_value=p_value,
        test=test,
        least_p=least_p,
        units=(len(of_base), len(of_run)),
        repetitions_overlap=_repetitions_overlap(base, run, level),
        is_within_runs=is_one_event(base) or is_one_event(run),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values corrected for their number: the smallest times n, the next times n - 1, never falling."""
    corrected = [1.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return corrected


def _of_ratio(base: FleetValues, run: FleetValues, level: float, known: Sides) -> Uncertainty | None:
    """The uncertainty of the ratio's logarithm; None with too few units, and where nothing varies."""
    sides = [side or uncertainties(values, [level]).get(level) for side, values in zip(known, (base, run), strict=True)]
    if sides[0] is None or sides[1] is None:
        return None
    uncertainty = of_difference(sides[0], sides[1])
    return uncertainty if uncertainty.variance > 0 else None


def _p_of_crossed_means(base: FleetValues, run: FleetValues) -> float:
    """Return p of the ratio of geometric means by mean squares; 0, which says nothing, where there are none.

    Ranks of four instances do not see that all four shared each of three repetitions; mean squares do.
    """
    if base.is_relaunched or run.is_relaunched:
        return 0.0
    sides = [of_mean(np.log(complete_rows(values))) for values in (base, run)]
    if sides[0] is None or sides[1] is None:
        return 0.0
    uncertainty = of_difference(sides[0], sides[1])
    distance = float(np.nanmean(np.log(run.table)) - np.nanmean(np.log(base.table)))
    return uncertainty.p_value(distance) if uncertainty.variance > 0 else 0.0


def _repetitions_overlap(base: FleetValues, run: FleetValues, level: float) -> bool:
    """Whether figures of whole repetitions overlap; with one instance or one repetition each it is unknown.

    False where both sides are drawn two-way, or launched often enough: the test counts what repetitions differ by then,
    and the more of them there are, the likelier two overlap by chance. Of 10 x 5 that differ by 20 % with 5 % of shared
    noise 11 % were missed with this guard, 3 % without it, and equal ones called different in 3 %.
    """
    if all(is_two_way(values) or len(values.launches) >= LEAST_LAUNCHES for values in (base, run)):
        return False
    if 1 in (len(base.instances), len(run.instances)) or len(base.repetitions) + len(run.repetitions) == 2:  # noqa: PLR2004
        return False
    of_base, of_run = base.repetition_percentiles(level), run.repetition_percentiles(level)
    return bool(of_base.min() <= of_run.max() and of_run.min() <= of_base.max())


def _rank_test(base: Floats, run: Floats) -> tuple[float, str]:
    """Return p and the name of the test that ranks the units of both."""
    together = np.concatenate([base, run])
    if np.ptp(together) == 0:
        return 1.0, "all values are equal"
    is_large = min(len(base), len(run)) >= MOST_EXACT
    if not is_large and len(np.unique(together)) == len(together):
        # scipy gives the same (tests/matrix/statistics), but takes a second to import, half of what `compare` takes.
        return _exact_p(base, run), f"{RANKS}, exact"
    from scipy import stats

    if is_large:
        return float(stats.mannwhitneyu(base, run, method="asymptotic").pvalue), f"{RANKS}, normal approximation"
    # Draw 1,000 permutations at a time: all at once, for a large fleet, would not fit into the memory of a function.
    method = stats.PermutationMethod(n_resamples=PERMUTATIONS, batch=1_000, rng=np.random.default_rng(1))
    return float(stats.mannwhitneyu(base, run, method=method).pvalue), f"{RANKS}, permutations"


def _exact_p(base: Floats, run: Floats) -> float:
    """Return the two-sided p of the Mann-Whitney test where no two values are equal."""
    above = int(np.count_nonzero(base[:, None] > run[None, :]))
    fewer = min(above, len(base) * len(run) - above)
    return min(1.0, 2 * float(_mann_whitney_chances(len(base), len(run))[: fewer + 1].sum()))


def _hodges_lehmann_interval(ratios: Floats, base: int, run: int) -> Interval | None:
    """The pairwise ratios between which the true one lies; None where even the outermost are not sure enough."""
    tail = (1 - CONFIDENCE) / 2
    below = np.cumsum(_mann_whitney_chances(base, run))
    depth = int(np.count_nonzero(below <= tail + 1e-12))
    if depth == 0:
        return None
    return Interval(float(ratios[depth - 1]), float(ratios[-depth]), "Hodges-Lehmann")


def _mann_whitney_chances(first: int, second: int) -> Floats:
    """P(U = 0), P(U = 1), … when both come from the same distribution: coefficients of the Gaussian binomial."""
    first, second = sorted((first, second))  # both ways round it is the same, and the loops are shorter
    ways = np.zeros(first * second + 1)
    ways[0] = 1
    for k in range(1, first + 1):
        # times (1 - q^(second + k)) / (1 - q^k)
        for u in range(len(ways) - 1, second + k - 1, -1):
            ways[u] -= ways[u - second - k]
        for u in range(k, len(ways)):
            ways[u] += ways[u - k]
    return ways / math.comb(first + second, first)
