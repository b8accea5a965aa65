"""How many independent values a fleet's samples are worth.

Fifty instances with three repetitions each are not 150 independent values: an instance on a slow host is slow each
time, and a repetition on a busy file system is slow on each instance. As many independent values as would know the mean
just as well are

    n = variance of all values / variance of their mean

which of one kind of cluster alone is Kish's (1965, Survey Sampling, 8.2) n / (1 + (k - 1) ICC). Both variances come
from the components of `spread`: s_i^2 + s_r^2 + s_e^2 over s_i^2 / I + s_r^2 / R + s_e^2 / (I R). So n never exceeds
I R, and where repetitions make all the difference it is R, however many instances there are.
"""

import math

import numpy as np

from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.resampling import LEAST_UNITS
from matrix.statistics.spread import complete_rows, deviations


def independent_n(values: FleetValues) -> int:
    """Return the number of independent values that the samples are worth, 1 to the number of values.

    Of one repetition it is the number of instances, within that repetition. Fewer than six instances with several
    repetitions count once each at most, however alike they look: so few cannot tell how much instances differ.
    """
    count, repetitions = len(values.instances), len(values.repetitions)
    if 1 in (count, repetitions):
        return len(values.pooled)
    table = complete_rows(values)
    if len(table) < 2:  # noqa: PLR2004 - no variance between fewer than two
        return min(count, repetitions)
    components = deviations(values)
    by_instances, by_repetitions, residual = (float(component or 0.0) ** 2 for component in components.values())
    whole = by_instances + by_repetitions + residual
    # All values are equal: nothing tells instances from repetitions.
    if whole <= np.finfo(float).eps * float(np.abs(table).max()) ** 2:
        return min(count, len(table))
    of_mean = by_instances / len(table) + by_repetitions / repetitions + residual / table.size
    worth = math.floor(whole / of_mean + 1e-9)
    return min(worth, count) if count < LEAST_UNITS else worth
