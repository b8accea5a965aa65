"""Uncertainty of an estimate: variances of its parts, and degrees of freedom for Student's t.

Instances and repetitions cross: each repetition runs on all instances. The effect of a slow host stays with the
instance, the effect of a busy file system stays with the repetition, so neither averages out over the other. The
variance of the mean of I x R values is therefore

    v = (MS_instances + MS_repetitions - MS_residual) / (I R)

because each of the first two mean squares holds the residual once, and it must count once (Searle, Casella & McCulloch
1992, Variance Components, 4.2). Its degrees of freedom are those of the sum of mean squares by Satterthwaite (1946,
Biometrics Bulletin 2, 110-114): df = v^2 / sum(v_k^2 / df_k); for differences of mean squares see Hudson & Krutchkoff
(1968, Biometrika 55, 431-433). Repetitions that resemble the ones before them count for less (`autocorrelation`).
"""

import math
from dataclasses import dataclass

from matrix.statistics.autocorrelation import Autocorrelation, assumed
from matrix.statistics.fleet_values import Floats
from matrix.statistics.sample_size import CONFIDENCE

INSTANCES = "instances"
REPETITIONS = "repetitions"
LAUNCHES = "launches"


@dataclass(frozen=True)
class Uncertainty:
    """Variance of an estimate, its degrees of freedom, and the kind of sample that would lower it most."""

    variance: float
    degrees_of_freedom: float
    limited_by: str

    def half_width(self, confidence: float = CONFIDENCE) -> float:
        """Half of the interval's width: its distance from the estimate to each end."""
        # scipy takes half a second to import, which `matrix --help` and a run of four instances need not wait for.
        from scipy import special

        return float(special.stdtrit(self.degrees_of_freedom, (1 + confidence) / 2)) * math.sqrt(self.variance)

    def p_value(self, distance: float) -> float:
        """Return the probability that an estimate is at least this far from the true value, on either side."""
        from scipy import special

        return float(2 * special.stdtr(self.degrees_of_freedom, -abs(distance) / math.sqrt(self.variance)))


def count_that_halves(count: int) -> int:
    """Return how many independent values instead of `count` halve the interval of their mean, Student's t considered.

    Of 3 values 5 do, since t falls from 4.3 to 2.8; of many values it takes four times as many.
    """
    from scipy import special

    def width(some: int) -> float:
        return float(special.stdtrit(max(some - 1, 1), (1 + CONFIDENCE) / 2)) / math.sqrt(some)

    return next(
        more for more in range(count + 1, 4 * count + 1) if more == 4 * count or width(more) <= width(count) / 2
    )


def of_independent(variance: float, count: int, name: str) -> Uncertainty:
    """Return the uncertainty of an estimate over `count` independent units."""
    return Uncertainty(variance, count - 1, name)


def of_successive(variance: float, alike: Autocorrelation, name: str) -> Uncertainty:
    """Return the uncertainty of an estimate over units that follow each other; `variance` takes them as independent."""
    return Uncertainty(variance * alike.factor, max(1.0, alike.degrees_of_freedom), name)


def of_crossed(
    by_instances: float, by_repetitions: float, residual: float, *, instances: int, alike: Autocorrelation
) -> Uncertainty:
    """Return the uncertainty of an estimate over instances x repetitions; `alike` is the repetitions' autocorrelation.

    Each argument is a mean square divided by I R: the variance of the estimate if only instances were drawn anew, if
    only repetitions were, and the part that both include. The result is never below either of the first two: by chance
    the difference of mean squares can be, even below 0.
    """
    residual = min(residual, by_instances, by_repetitions)
    by_repetitions *= alike.factor
    variance = by_instances + by_repetitions - residual
    limited_by = REPETITIONS if by_repetitions > by_instances else INSTANCES
    if variance == 0:
        return Uncertainty(0.0, 1.0, limited_by)
    spread = (
        by_instances**2 / (instances - 1)
        + by_repetitions**2 / alike.degrees_of_freedom
        + residual**2 / ((instances - 1) * alike.degrees_of_freedom)
    )
    return Uncertainty(variance, max(1.0, variance**2 / spread), limited_by)


def of_mean(table: Floats) -> Uncertainty | None:
    """Return the uncertainty of the mean of instances (rows) x repetitions (columns); None with one of either."""
    instances, repetitions = table.shape
    if instances < 2 or repetitions < 2:  # noqa: PLR2004 - no variance of one
        return None
    of_rows, of_columns = table.mean(axis=1), table.mean(axis=0)
    left = table - of_rows[:, None] - of_columns[None, :] + table.mean()
    residual = float((left**2).sum()) / ((instances - 1) * (repetitions - 1))
    return of_crossed(
        float(of_rows.var(ddof=1)) / instances,
        float(of_columns.var(ddof=1)) / repetitions,
        residual / table.size,
        instances=instances,
        alike=assumed(of_columns),
    )


def of_difference(first: Uncertainty, second: Uncertainty) -> Uncertainty:
    """Return the uncertainty of the difference of two independent estimates (Welch 1947, Biometrika 34, 28-35)."""
    variance = first.variance + second.variance
    larger = max(first, second, key=lambda uncertainty: uncertainty.variance)
    if variance == 0:
        return Uncertainty(0.0, 1.0, larger.limited_by)
    spread = sum(uncertainty.variance**2 / uncertainty.degrees_of_freedom for uncertainty in (first, second))
    return Uncertainty(variance, variance**2 / spread, larger.limited_by)
