"""Components of the variation: between instances, between repetitions, and the residual.

A cell with different instances needs more instances, one with different repetitions needs more repetitions. One pooled
standard deviation does not distinguish the two.

Variance components of the crossed design instance x repetition without interaction, by analysis of variance
(Searle, Casella & McCulloch 1992, Variance Components, 4.2), negative estimates set to 0. An instance that misses a
repetition is left out of the components (not of the medians).

For several launches the components within a launch are the means of the launches' own. The component between launches
is the variance of their means beyond the contribution of those (nested design, 3.6).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from matrix.statistics.autocorrelation import measured
from matrix.statistics.fleet_values import FleetValues, Floats


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
            for number, launch, middle in zip(sorted(set(values.launch_of)), values.launches, medians, strict=True)
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
