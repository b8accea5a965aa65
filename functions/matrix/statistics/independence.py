"""How many independent values a fleet's samples are worth.

Fifty instances with three repetitions each are not 150 independent values: an instance on a slow host is slow each
time, and a repetition on a busy file system is slow on each instance. As many independent values as would know the mean
just as well are

    n = variance of all values / variance of their mean

which of one kind of cluster alone is Kish's (1965, Survey Sampling, 8.2) n / (1 + (k - 1) ICC). Both variances come
from the components of `spread`: s_i^2 + s_r^2 + s_e^2 over s_i^2 / I + s_r^2 / R + s_e^2 / (I R). So n never exceeds
I R, and where repetitions make all the difference it is R, however many instances there are. Of several launches the
variance between launches is one more component, and the variance of the mean that of the launches' means over their
number. Eight and more repetitions, or launches, that resemble the ones before them are worth fewer: s_r^2 / R is as
many times as large as `autocorrelation` says.
"""

import math

import numpy as np

from matrix.statistics.autocorrelation import assumed
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.resampling import LEAST_UNITS
from matrix.statistics.sample_size import has_enough_samples
from matrix.statistics.spread import complete_rows, deviations, variance_of_mean


def independent_n(values: FleetValues) -> int:
    """Return the number of independent values that the samples are worth, 1 to the number of values.

    Of one repetition it is the number of instances, within that repetition. Fewer than six instances with several
    repetitions count once each at most, however alike they look: so few cannot tell how much instances differ. Several
    launches are never worth more than all of them by themselves.
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
    # All values are equal: nothing tells instances from repetitions.
    if whole <= np.finfo(float).eps * float(np.abs(table).max()) ** 2:
        return min(count, len(table))
    of_mean = by_instances / len(table) + by_repetitions * alike.factor / repetitions + residual / table.size
    worth = math.floor(whole / of_mean + 1e-9)
    return min(worth, count) if count < LEAST_UNITS else worth


def carries(values: FleetValues, level: float) -> bool:
    """Whether the values carry a percentile beside the median: from six units on, in each launch by itself."""
    return all(
        len(launch.units) >= LEAST_UNITS and has_enough_samples(level, independent_n(launch))
        for launch in values.launches
    )


def shows_interval(values: FleetValues, level: float) -> bool:
    """Whether an interval of a percentile beside the median is shown, where there is one.

    It depends on how many instances there are, never on how much their values vary: where P90 is shown only if the
    shared noise looks small, it was mostly taken for too small, and 71 % of the intervals held the truth.
    """
    return all(has_enough_samples(level, len(launch.units)) for launch in values.launches)


def _of_launches(values: FleetValues) -> int:
    each = sum(independent_n(launch) for launch in values.launches)
    whole = sum(float(component or 0.0) ** 2 for component in deviations(values).values())
    of_mean = variance_of_mean(values) * assumed(values.in_time()).factor
    if whole <= np.finfo(float).eps * float(np.abs(values.pooled).max()) ** 2 or of_mean == 0:
        return each
    return max(1, min(each, math.floor(whole / of_mean + 1e-9)))
