"""Where the differences lie: between instances, between repetitions, or in neither.

A cell whose instances differ needs more instances, one whose repetitions differ needs more repetitions: pooled into one
standard deviation the two cannot be told apart.

Variance components of the crossed design instance x repetition without interaction, by analysis of variance
(Searle, Casella & McCulloch 1992, Variance Components, 4.2), negative estimates set to 0. An instance that misses a
repetition is left out of the components (not of the medians).
"""

from typing import Any

import numpy as np

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
    return document | {f"{name}_cv": _relative(deviation, median) for name, deviation in deviations(values).items()}


def deviations(values: FleetValues) -> dict[str, float | None]:
    """Return the standard deviations between instances, between repetitions, and what neither explains."""
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
