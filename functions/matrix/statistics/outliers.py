"""Values far from the others: marked, never dropped. A slow instance is a result, not an error.

Tukey's fences (1977, Exploratory Data Analysis, 2D): `outside` beyond 1.5 times the interquartile range from the
quartiles, `far out` beyond 3 times. Of normal values 0.7 % are outside and one in 400,000 is far out.
"""

from typing import Any

import numpy as np

from matrix.statistics.fleet_values import FleetValues

# With fewer values the quartiles are too uncertain to judge by.
LEAST_VALUES = 8
OUTSIDE = 1.5
FAR_OUT = 3.0
MOST_LISTED = 20


def outliers(values: FleetValues) -> dict[str, Any]:
    """Return the fences, the number of values beyond them, and the farthest twenty, farthest first.

    With fewer than eight values `fences` is None. So it is with equal quartiles, because every different value would
    be an outlier then.
    """
    pooled = values.pooled
    nothing: dict[str, Any] = {"fences": None, "count": 0, "listed": []}
    if len(pooled) < LEAST_VALUES:
        return nothing
    first, third = (float(quartile) for quartile in np.percentile(pooled, (25, 75)))
    width = third - first
    if width <= 0:
        return nothing
    strays = [
        _outlier(instance, repetition, float(value), first, third)
        for instance, row in zip(values.instances, values.table, strict=True)
        for repetition, value in zip(values.repetitions, row, strict=True)
        if value < first - OUTSIDE * width or value > third + OUTSIDE * width
    ]
    strays.sort(key=lambda stray: -abs(stray["value"] - (first + third) / 2))
    fences = {"low": first - OUTSIDE * width, "high": third + OUTSIDE * width}
    return {"fences": fences, "count": len(strays), "listed": strays[:MOST_LISTED]}


def _outlier(instance: str, repetition: int, value: float, first: float, third: float) -> dict[str, Any]:
    distance = max(first - value, value - third) / (third - first)
    return {
        "instance": instance,
        "repetition": repetition,
        "value": value,
        "side": "low" if value < first else "high",
        "kind": "far out" if distance > FAR_OUT else "outside",
    }
