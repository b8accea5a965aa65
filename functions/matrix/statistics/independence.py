"""How many independent values a fleet's samples are worth.

Fifty instances with three repetitions each are not 150 independent values: an instance on a slow host is slow each
time. The intraclass correlation says how alike the values of one instance are; Kish's design effect turns it into the
number of independent values that would say as much.

- Intraclass correlation: one-way random effects by analysis of variance, n0 for unequal groups
  (Donner & Koval 1980, Biometrics 36, 19-25), never below 0.
- Design effect 1 + (k - 1) * ICC (Kish 1965, Survey Sampling, 8.2).
"""

import math

import numpy as np

from matrix.statistics.fleet_values import FleetValues, Floats

# With fewer clusters nothing can be resampled: the median of 5 independent values has no 95 % interval at all.
LEAST_UNITS = 6


def independent_n(values: FleetValues) -> int:
    """Return the number of independent values that the samples are worth, from the number of units to that of values.

    Fewer than six instances with several repetitions count once each, however alike their repetitions look: so few
    cannot tell how much instances differ.
    """
    units = values.units
    count, groups = len(values.pooled), len(units)
    if count == groups or groups < LEAST_UNITS:
        return groups
    design_effect = 1 + (count / groups - 1) * intraclass_correlation(units)
    return max(groups, math.floor(count / design_effect + 1e-9))


def intraclass_correlation(units: Floats) -> float:
    """Return the share of the variance that lies between units, 0 to 1; 1 where there is nothing to tell it from."""
    rows = [row[~np.isnan(row)] for row in units]
    sizes = np.array([len(row) for row in rows])
    count, groups = sizes.sum(), len(rows)
    if groups < 2 or count <= groups:  # noqa: PLR2004 - no variance between fewer than two
        return 1.0
    means = np.array([row.mean() for row in rows])
    grand = float(np.concatenate(rows).mean())
    between = float((sizes * (means - grand) ** 2).sum()) / (groups - 1)
    within = sum(float(((row - row.mean()) ** 2).sum()) for row in rows) / (count - groups)
    size = (count - (sizes**2).sum() / count) / (groups - 1)
    if between + (size - 1) * within <= 0:
        return 0.0
    return float(min(1.0, max(0.0, (between - within) / (between + (size - 1) * within))))
