"""All that is said of one metric of one point beyond its percentiles."""

from typing import Any

from matrix.statistics import steadiness
from matrix.statistics.carrying import JUDGED_LEVELS, at_least, is_carried
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.independence import LEAST_UNITS, independent_n
from matrix.statistics.intervals import Interval, mean_interval, percentile_interval
from matrix.statistics.outliers import outliers
from matrix.statistics.spread import spread


def describe(values: FleetValues, *, higher_is_better: bool) -> dict[str, Any]:
    """Return what each percentile is worth, how sure it is, where the values differ, and what is odd about them."""
    worth = independent_n(values)
    units = values.units
    carried = {level: len(units) >= LEAST_UNITS and is_carried(level, worth) for level in JUDGED_LEVELS}
    intervals = {f"p{level}": percentile_interval(units, level) for level in JUDGED_LEVELS if carried[level]}
    found = steadiness.findings(values, higher_is_better=higher_is_better, median_interval=intervals.get("p50"))
    return {
        "independent_n": worth,
        "resampled": values.unit_name,
        "carried": {f"p{level}": carried[level] for level in JUDGED_LEVELS},
        "at_least": {
            f"p{level}": at_least(values.pooled, level, worth) for level in JUDGED_LEVELS if not carried[level]
        },
        "intervals": _documents({**intervals, "mean": mean_interval(units)}),
        "no_interval": steadiness.too_few(values),
        "spread": spread(values),
        "outliers": outliers(values),
        "findings": [finding.to_document() for finding in found],
    }


def _documents(intervals: dict[str, Interval | None]) -> dict[str, Any]:
    return {name: interval.to_document() for name, interval in intervals.items() if interval}
