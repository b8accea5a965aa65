"""Components of the variation: between instances, between repetitions, and the residual.

A cell with different instances needs more instances, one with different repetitions needs more repetitions. One pooled
standard deviation does not distinguish the two.

Variance components of the crossed design instance x repetition without interaction, by analysis of variance
(Searle, Casella & McCulloch 1992, Variance Components, 4.2), negative estimates set to 0. An instance that misses a
repetition is left out of the components (not of the medians).

For several launches the components within a launch are the means of the launches' own. The component between launches
is the variance of their means beyond the contribution of those (nested design, 3.6).

Fifty instances with three repetitions each are not 150 independent values: an instance on a slow host is slow each
time, and a repetition on a busy file system is slow on each instance. The effective sample size is the number of
independent values with the same variance of their mean,

    n = variance of all values / variance of their mean

which for one kind of cluster alone is Kish's (1965, Survey Sampling, 8.2) n / (1 + (k - 1) ICC). Both variances come
from the components: s_i^2 + s_r^2 + s_e^2 over s_i^2 / I + s_r^2 / R + s_e^2 / (I R). So n never exceeds I R. If only
repetitions differ, n is R for any number of instances. For several launches the variance between launches is one more
component, and the variance of the mean is that of the launches' means over their number. Eight or more repetitions, or
launches, that resemble the ones before them count for less: s_r^2 / R is multiplied by the factor of
`autocorrelation`.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from matrix.statistics.autocorrelation import assumed, measured
from matrix.statistics.fleet_values import FleetValues, Floats
from matrix.statistics.resampling import MIN_UNITS
from matrix.statistics.sample_size import has_enough_samples


def spread(values: FleetValues) -> dict[str, Any]:
    """Return ranges of the medians of instances and of repetitions, and standard deviations relative to the median."""
    median = float(np.median(values.pooled))
    document: dict[str, Any] = {
        "instances": len(values.instances),
        "repetitions": len(values.repetitions),
        "instance_medians": _range(values.instance_medians(), median),
        "repetition_medians": _range(values.repetition_medians(), median),
        "by_repetition": [
            {"repetition": repetition, "n": int(np.count_nonzero(~np.isnan(column))), "median": float(middle)}
            for repetition, column, middle in zip(
                values.repetitions, values.table.T, values.repetition_medians(), strict=True
            )
        ],
    }
    if values.is_relaunched:
        medians = values.unit_percentiles()
        document["launches"] = len(medians)
        document["launch_medians"] = _range(medians, median)
        document["by_launch"] = [
            {"launch": number, "n": len(launch.pooled), "median": float(middle)}
            for number, launch, middle in zip(sorted(set(values.launch_numbers)), values.launches, medians, strict=True)
        ]
    alike = measured(values.in_time())
    document["lag1"] = alike.lag1 if alike else None
    return document | {f"{name}_cv": _relative(deviation, median) for name, deviation in deviations(values).items()}


def deviations(values: FleetValues) -> dict[str, float | None]:
    """Return the standard deviations between instances, between repetitions, and of the residual.

    For several launches also the one between launches.
    """
    if values.is_relaunched:
        return _nested_deviations(values)
    table = complete_rows(values)
    rows, columns = table.shape
    none: dict[str, float | None] = {"between_instances": None, "between_repetitions": None, "residual": None}
    if rows > 1 and columns == 1:
        return {**none, "between_instances": float(table.std(ddof=1))}
    if rows == 1 and columns > 1:
        return {**none, "between_repetitions": float(table.std(ddof=1))}
    if rows < 2 or columns < 2:  # noqa: PLR2004 - no deviation of one value
        return none
    of_rows, of_columns = table.mean(axis=1), table.mean(axis=0)
    left = table - of_rows[:, None] - of_columns[None, :] + table.mean()
    residual = float((left**2).sum()) / ((rows - 1) * (columns - 1))
    return {
        "between_instances": _root((columns * of_rows.var(ddof=1) - residual) / columns),
        "between_repetitions": _root((rows * of_columns.var(ddof=1) - residual) / rows),
        "residual": _root(residual),
    }


def variance_of_mean(values: FleetValues) -> float:
    """Return the variance of the mean of several launches: that between their means, over their number.

    Never less than instances and repetitions within them explain.
    """
    return max(_between_means(values), _within_launches(values)) / len(values.launches)


def _nested_deviations(values: FleetValues) -> dict[str, float | None]:
    each = [deviations(launch) for launch in values.launches]
    between = _root(_between_means(values) - _within_launches(values)) if len(each) > 1 else None
    return {name: _root_mean_square([launch[name] for launch in each]) for name in each[0]} | {
        "between_launches": between
    }


def _between_means(values: FleetValues) -> float:
    """The variance of the launches' means; for one launch 0, which has no meaning."""
    means = [launch.pooled.mean() for launch in values.launches]
    return float(np.var(means, ddof=1)) if len(means) > 1 else 0.0


def _within_launches(values: FleetValues) -> float:
    """The variance of a launch's mean by its instances and repetitions, the mean over launches."""
    variances = []
    for launch in values.launches:
        instances, repetitions = launch.table.shape
        counts = {"between_instances": instances, "between_repetitions": repetitions, "residual": launch.table.size}
        components = deviations(launch)
        variances.append(sum(float(components[name] or 0.0) ** 2 / count for name, count in counts.items()))
    return float(np.mean(variances))


def _root_mean_square(deviations_of_launches: Sequence[float | None]) -> float | None:
    known = [deviation for deviation in deviations_of_launches if deviation is not None]
    return float(np.sqrt(np.mean(np.square(known)))) if known else None


def complete_rows(values: FleetValues) -> Floats:
    """The values of instances that miss no repetition."""
    return values.table[~np.isnan(values.table).any(axis=1)]


def _root(variance: float) -> float:
    return float(np.sqrt(max(0.0, variance)))


def _range(medians: Floats, median: float) -> dict[str, float | None]:
    low, high = float(medians.min()), float(medians.max())
    return {"low": low, "high": high, "relative": _relative(high - low, median)}


def _relative(deviation: float | None, median: float) -> float | None:
    return None if deviation is None or median == 0 else deviation / abs(median)


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
    return min(worth, count) if count < MIN_UNITS else worth


def carries(values: FleetValues, level: float) -> bool:
    """Whether there are enough samples for a percentile other than the median: from six units on, in each launch."""
    return all(
        len(launch.units) >= MIN_UNITS and has_enough_samples(level, independent_n(launch))
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
