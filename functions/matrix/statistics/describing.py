"""All that is said of one metric of one point beyond its percentiles."""

from dataclasses import asdict
from typing import Any

from matrix.statistics import steadiness
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.independence import carries, independent_n, shows_interval
from matrix.statistics.intervals import intervals
from matrix.statistics.outliers import outliers
from matrix.statistics.percentiles import JUDGED_LEVELS, at_least, percentiles
from matrix.statistics.resampling import MEAN, NOT_REPLICATED, lacks_replication, resampled, why_none
from matrix.statistics.spread import spread


def figures(values: FleetValues) -> dict[str, float]:
    """Return P0 to P100 and the mean, in the values' unit; of several launches P50 to P98 of a typical one."""
    return percentiles(values.pooled.tolist()) | {f"p{level}": values.percentile(level) for level in JUDGED_LEVELS}


def describe(values: FleetValues, *, higher_is_better: bool, is_primary: bool = False) -> dict[str, Any]:
    """Return what each percentile is worth, how sure it is, where the values differ, and what is odd about them.

    Of the metric that a workload is judged by also what a comparison of two runs takes: how uncertain its median is.
    """
    worth = independent_n(values)
    known = intervals(values, JUDGED_LEVELS)
    # Three repetitions are enough for an interval of the median. Tails need enough independent values.
    carried = {
        level: carries(values, level) or (level == 50 and level in known)  # noqa: PLR2004
        for level in JUDGED_LEVELS
    }
    shown = {
        f"p{level}": known[level]
        for level in JUDGED_LEVELS
        if level in known and (level == 50 or shows_interval(values, level))  # noqa: PLR2004
    }
    median = known.get(50)
    uncertainty = median.uncertainty if median and is_primary else None
    findings = steadiness.findings(values, higher_is_better=higher_is_better, median_interval=shown.get("p50"))
    return {
        "independent_n": worth,
        "resampled": resampled(values),
        "scope": NOT_REPLICATED if lacks_replication(values) else None,
        "carried": {f"p{level}": carried[level] for level in JUDGED_LEVELS},
        "at_least": {
            f"p{level}": at_least(values.pooled, level, worth) for level in JUDGED_LEVELS if not carried[level]
        },
        "intervals": {
            name: interval.to_document() for name, interval in {**shown, "mean": known.get(MEAN)}.items() if interval
        },
        **({"median_uncertainty": asdict(uncertainty)} if uncertainty else {}),
        "no_interval": why_none(values),
        "spread": spread(values),
        "outliers": outliers(values),
        "findings": findings,
    }
