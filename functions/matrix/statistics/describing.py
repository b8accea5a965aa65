"""The statistics of one metric of one point, apart from its percentiles."""

from dataclasses import asdict
from typing import Any

from matrix.statistics import steadiness
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.independence import carries, independent_n, shows_interval
from matrix.statistics.intervals import intervals
from matrix.statistics.outliers import outliers
from matrix.statistics.percentiles import JUDGED_LEVELS, SLOW_LEVELS_OF_RATES, at_least, at_most, percentiles
from matrix.statistics.resampling import MEAN, NOT_REPLICATED, lacks_replication, resampled, why_none
from matrix.statistics.spread import spread


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
        "scope": NOT_REPLICATED if lacks_replication(values) else None,
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
        "findings": findings,
    }
