"""The statistics of one metric of one point, apart from its percentiles."""

from dataclasses import asdict
from typing import Any

import numpy as np

from matrix.statistics import steadiness
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.intervals import intervals
from matrix.statistics.percentiles import JUDGED_LEVELS, SLOW_LEVELS_OF_RATES, at_least, at_most, percentiles
from matrix.statistics.resampling import MEAN, lacks_replication, resampled, why_none
from matrix.statistics.spread import carries, independent_n, shows_interval, spread

# With fewer values the quartiles are too uncertain to judge by.
MIN_VALUES = 8
OUTSIDE = 1.5
FAR_OUT = 3.0
MAX_LISTED = 20


def outliers(values: FleetValues) -> dict[str, Any]:
    """Return the fences, the number of values beyond them, and the farthest twenty, farthest first.

    They are marked, never dropped: a slow instance is a result, not an error. Tukey's fences (1977, Exploratory Data
    Analysis, 2D): `outside` beyond 1.5 times the interquartile range from the quartiles, `far out` beyond 3 times. Of
    normal values 0.7 % are outside and one in 400,000 is far out.

    With fewer than eight values `fences` is None. So it is with equal quartiles, because every different value would
    be an outlier then.
    """
    pooled = values.pooled
    nothing: dict[str, Any] = {"fences": None, "count": 0, "listed": []}
    if len(pooled) < MIN_VALUES:
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
    return {"fences": fences, "count": len(strays), "listed": strays[:MAX_LISTED]}


def _outlier(instance: str, repetition: int, value: float, first: float, third: float) -> dict[str, Any]:
    distance = max(first - value, value - third) / (third - first)
    return {
        "instance": instance,
        "repetition": repetition,
        "value": value,
        "side": "low" if value < first else "high",
        "kind": "far out" if distance > FAR_OUT else "outside",
    }


def figures(values: FleetValues) -> dict[str, float]:
    """Return P0 to P100 and the mean, in the values' unit; of several launches P50 to P98 of a typical one."""
    return percentiles(values.pooled.tolist()) | {f"p{level}": values.percentile(level) for level in JUDGED_LEVELS}


def describe(values: FleetValues, *, higher_is_better: bool, is_primary: bool = False) -> dict[str, Any]:
    """Return the sample size and interval of each percentile, the components of the variation, and findings.

    Rates also have P25, P10 and P2, their slow tail. The primary metric also has the uncertainty of its median, which a
    comparison of two runs needs.
    """
    worth = independent_n(values)
    slow_levels = SLOW_LEVELS_OF_RATES if higher_is_better else ()
    levels = (*slow_levels, *JUDGED_LEVELS)
    known = intervals(values, levels)
    # Three repetitions are enough for an interval of the median. Tails need enough independent values.
    carried = {
        level: carries(values, level) or (level == 50 and level in known)  # noqa: PLR2004
        for level in levels
    }
    shown = {
        f"p{level}": known[level]
        for level in levels
        if level in known and (level == 50 or shows_interval(values, level))  # noqa: PLR2004
    }
    median = known.get(50)
    uncertainty = median.uncertainty if median and is_primary else None
    findings = steadiness.findings(values, higher_is_better=higher_is_better, median_interval=shown.get("p50"))
    return {
        **{f"p{level}": values.percentile(level) for level in slow_levels},
        "independent_n": worth,
        "resampled": resampled(values),
        "scope": "not replicated" if lacks_replication(values) else None,
        "carried": {f"p{level}": carried[level] for level in levels},
        "at_least": {
            f"p{level}": at_least(values.pooled, level, worth) for level in JUDGED_LEVELS if not carried[level]
        },
        **(
            {
                "at_most": {
                    f"p{level}": at_most(values.pooled, level, worth) for level in slow_levels if not carried[level]
                }
            }
            if slow_levels
            else {}
        ),
        "intervals": {
            name: interval.to_document() for name, interval in {**shown, "mean": known.get(MEAN)}.items() if interval
        },
        **({"median_uncertainty": asdict(uncertainty)} if uncertainty else {}),
        "no_interval": why_none(values),
        "spread": spread(values),
        "outliers": outliers(values),
        "findings": [finding.document for finding in findings],
    }
