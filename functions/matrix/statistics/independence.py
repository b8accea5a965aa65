"""Effective sample size of a fleet's samples.

Fifty instances with three repetitions each are not 150 independent values: an instance on a slow host is slow each
time, and a repetition on a busy file system is slow on each instance. The number of independent values with the same
variance of their mean is

    n = variance of all values / variance of their mean

which for one kind of cluster alone is Kish's (1965, Survey Sampling, 8.2) n / (1 + (k - 1) ICC). Both variances come
from the components of `spread`: s_i^2 + s_r^2 + s_e^2 over s_i^2 / I + s_r^2 / R + s_e^2 / (I R). So n never exceeds
I R. If only repetitions differ, n is R for any number of instances. For several launches the variance between launches
is one more component, and the variance of the mean is that of the launches' means over their number. Eight or more
repetitions, or launches, that resemble the ones before them count for less: s_r^2 / R is multiplied by the factor of
`autocorrelation`.
"""

import math

import numpy as np

from matrix.statistics.autocorrelation import assumed
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.resampling import LEAST_UNITS
from matrix.statistics.sample_size import has_enough_samples
from matrix.statistics.spread import complete_rows, deviations, variance_of_mean


def independent_n(values: FleetValues) -> int:
    """Return the effective sample size, from 1 to the number of values.

    For one repetition it is the number of instances, within that repetition. Fewer than six instances with several
    repetitions count once each at most, even if they are similar: so few do not show how much instances differ. The
    effective sample size of several launches is at most the sum of their own.
    """
    if values.is_relaunched:
        return _of_launches(values)
    count, repetitions = len(values.instances), len(values.repetitions)
    if repetitions == 1:
        return len(values.pooled)
    alike = assumed(values.in_time())
    if count == 1:
        return max(1, math.floor(len(values.pooled) / alike.factor))
    table = complete_rows(values)
    if len(table) < 2:  # noqa: PLR2004 - no variance between fewer than two
        return min(count, repetitions)
    components = deviations(values)
    by_instances, by_repetitions, residual = (float(component or 0.0) ** 2 for component in components.values())
    whole = by_instances + by_repetitions + residual
    # All values are equal, so instances and repetitions cannot be separated.
    if whole <= np.finfo(float).eps * float(np.abs(table).max()) ** 2:
        return min(count, len(table))
    of_mean = by_instances / len(table) + by_repetitions * alike.factor / repetitions + residual / table.size
    worth = math.floor(whole / of_mean + 1e-9)
    return min(worth, count) if count < LEAST_UNITS else worth


def carries(values: FleetValues, level: float) -> bool:
    """Whether there are enough samples for a percentile other than the median: from six units on, in each launch."""
    return all(
        len(launch.units) >= LEAST_UNITS and has_enough_samples(level, independent_n(launch))
        for launch in values.launches
    )


def shows_interval(values: FleetValues, level: float) -> bool:
    """Whether an existing interval of a percentile other than the median is shown.

    It depends on the number of instances, never on the variance of their values: an interval that is shown only if the
    estimate of the shared noise is small has mostly too small an estimate, and only 71 % covered the true value (P90).
    """
    return all(has_enough_samples(level, len(launch.units)) for launch in values.launches)


def _of_launches(values: FleetValues) -> int:
    each = sum(independent_n(launch) for launch in values.launches)
    whole = sum(float(component or 0.0) ** 2 for component in deviations(values).values())
    of_mean = variance_of_mean(values) * assumed(values.in_time()).factor
    if whole <= np.finfo(float).eps * float(np.abs(values.pooled).max()) ** 2 or of_mean == 0:
        return each
    return max(1, min(each, math.floor(whole / of_mean + 1e-9)))
