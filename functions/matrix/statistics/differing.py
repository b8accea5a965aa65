"""Whether two cells differ, by how much, and how sure that is.

Compared are independent units: the median of each instance over its repetitions (of one instance alone, its
repetitions). Fifty instances against fifty are fifty against fifty, however often each repeated.

- Test from ten units each on: Brunner & Munzel (2000, Biometrical Journal 42, 17-25), which does not suppose that the
  two spread alike. Below, and where the two do not overlap at all: Mann & Whitney (1947), exact; where values are
  equal, by permutations, or from ten units each on by the normal approximation with its correction for ties.
- Effect: P(run < base) + P(equal) / 2; Cliff's delta (1993, Psychological Bulletin 114, 494-509) is twice that less 1.
- Ratio of medians with an interval by BCa bootstrap over units; with fewer than six units the interval of
  Hodges & Lehmann's (1963) ratio, from all pairwise ratios (Hollander & Wolfe 1999, 4.3), where one exists.
- What all instances of a repetition share (a busy disk, a burst that has ended) no number of instances averages out:
  where medians of repetitions of one run reach into those of the other, instances alone prove nothing.
- Many cells: Holm (1979, Scand. J. Statist. 6, 65-70).
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matrix.statistics.carrying import CONFIDENCE
from matrix.statistics.fleet_values import FleetValues, Floats
from matrix.statistics.independence import LEAST_UNITS
from matrix.statistics.intervals import Interval, ratio_interval

SIGNIFICANT = 0.05
# Brunner and Munzel's t approximation holds its level from here on.
LEAST_FOR_BRUNNER_MUNZEL = 10
PERMUTATIONS = 20_000


@dataclass(frozen=True)
class Difference:
    """How `run` differs from `base`: ratio of medians, and the chance that a value of `run` is the lower one."""

    ratio: float
    interval: Interval | None
    hodges_lehmann_ratio: float
    p_lower: float
    p_value: float
    test: str
    least_p: float
    units: tuple[int, int]
    repetitions_overlap: bool

    @property
    def cliffs_delta(self) -> float:
        """-1: all of the run's values are lower, 1: all are higher."""
        return 1 - 2 * self.p_lower


def difference(base: FleetValues, run: FleetValues) -> Difference | None:
    """Compare two samples of one metric; None where a ratio has no meaning (values that are not above 0)."""
    if min(base.pooled.min(), run.pooled.min()) <= 0:
        return None
    of_base, of_run = base.unit_medians(), run.unit_medians()
    ratios = np.sort((of_run[:, None] / of_base[None, :]).ravel())
    p_lower = float(np.mean(ratios < 1) + np.mean(ratios == 1) / 2)
    p_value, test = _test(of_base, of_run, p_lower)
    is_large = min(len(of_base), len(of_run)) >= LEAST_UNITS
    return Difference(
        ratio=float(np.median(run.pooled) / np.median(base.pooled)),
        interval=ratio_interval(base.units, run.units)
        if is_large
        else _hodges_lehmann_interval(ratios, len(of_base), len(of_run)),
        hodges_lehmann_ratio=float(np.median(ratios)),
        p_lower=p_lower,
        p_value=p_value,
        test=test,
        least_p=2 / math.comb(len(of_base) + len(of_run), len(of_run)),
        units=(len(of_base), len(of_run)),
        repetitions_overlap=_overlap(base, run),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values corrected for their number: the smallest times n, the next times n - 1, never falling."""
    corrected = [1.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return corrected


def _overlap(base: FleetValues, run: FleetValues) -> bool:
    """Whether medians of whole repetitions overlap; with one instance or one repetition each it is unknown."""
    if 1 in (len(base.instances), len(run.instances)) or len(base.repetitions) + len(run.repetitions) == 2:  # noqa: PLR2004
        return False
    of_base, of_run = base.repetition_medians(), run.repetition_medians()
    return bool(of_base.min() <= of_run.max() and of_run.min() <= of_base.max())


def _test(base: Floats, run: Floats, p_lower: float) -> tuple[float, str]:
    from scipy import stats

    if np.ptp(np.concatenate([base, run])) == 0:
        return 1.0, "all values are equal"
    is_large = min(len(base), len(run)) >= LEAST_FOR_BRUNNER_MUNZEL
    # Where the two do not overlap at all its variance is 0.
    if is_large and 0 < p_lower < 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            p_value = float(stats.brunnermunzel(base, run).pvalue)
        if math.isfinite(p_value):
            return p_value, "Brunner-Munzel"
    if len(np.unique(np.concatenate([base, run]))) == len(base) + len(run):
        return float(stats.mannwhitneyu(base, run, method="exact").pvalue), "Mann-Whitney, exact"
    if is_large:
        return float(stats.mannwhitneyu(base, run, method="asymptotic").pvalue), "Mann-Whitney, normal approximation"
    # A thousand orders at once: all of them, of a large fleet against a small one, would not fit into a function.
    method = stats.PermutationMethod(n_resamples=PERMUTATIONS, batch=1_000, rng=np.random.default_rng(1))
    return float(stats.mannwhitneyu(base, run, method=method).pvalue), "Mann-Whitney, permutations"


def _hodges_lehmann_interval(ratios: Floats, base: int, run: int) -> Interval | None:
    """The pairwise ratios between which the true one lies; None where even the outermost are not sure enough."""
    tail = (1 - CONFIDENCE) / 2
    below = np.cumsum(_mann_whitney_chances(base, run))
    depth = int(np.count_nonzero(below <= tail + 1e-12))
    if depth == 0:
        return None
    return Interval(float(ratios[depth - 1]), float(ratios[-depth]), "Hodges-Lehmann")


def _mann_whitney_chances(one: int, other: int) -> Floats:
    """P(U = 0), P(U = 1), … when both come from the same distribution: coefficients of the Gaussian binomial."""
    ways = np.zeros(one * other + 1)
    ways[0] = 1
    for k in range(1, one + 1):
        # times (1 - q^(other + k)) / (1 - q^k)
        for u in range(len(ways) - 1, other + k - 1, -1):
            ways[u] -= ways[u - other - k]
        for u in range(k, len(ways)):
            ways[u] += ways[u - k]
    return ways / math.comb(one + other, one)
