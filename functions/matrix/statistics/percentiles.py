"""Percentiles of a fleet's samples."""

from collections.abc import Sequence

import numpy as np

# The six that the published Yocto comparison shows: best, median, three steps towards the slow end, worst.
LEVELS = (0, 50, 75, 90, 98, 100)


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return P0 P50 P75 P90 P98 P100 of the values, in their unit, keyed `p0` … `p100`, and their mean.

    Linear interpolation between closest ranks: numpy's default, type 7 of Hyndman & Fan (1996), which is also what
    the published tables use. Raises ValueError for no values and for values that are not finite numbers.
    """
    if len(values) == 0:
        raise ValueError("percentiles need at least one value")
    array = np.asarray(values, dtype=float)
    if not np.isfinite(array).all():
        raise ValueError("percentiles need finite values")
    figures = np.percentile(array, LEVELS, method="linear")
    return {f"p{level}": float(value) for level, value in zip(LEVELS, figures, strict=True)} | {
        "mean": float(array.mean())
    }
