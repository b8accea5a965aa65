"""Sweeps of open loops: which points fell behind their rate, and the highest rate up to which a limit is kept."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from matrix.statistics.describing import describe, figures
from matrix.statistics.fleet_values import FleetValues
from matrix.storages.models import is_shared
from matrix.terms.documents.plan import PlanCell
from matrix.terms.documents.result import HighestRate, MetricResult, PointResult, SampleColumns
from matrix.terms.findings.warnings import Behind, CellWarning
from matrix.terms.metrics import METRICS
from matrix.terms.names import primary_metric
from matrix.terms.open_loop import DONE_PER_S, HIGHEST_RATE, RATE, done_per_s, has_kept_up, offered_per_s

Key = tuple[str, int]


def behind_warnings(points: Sequence[PointResult]) -> list[CellWarning]:
    """Return a warning for each open loop with fewer completed operations than due ones."""
    warnings: list[CellWarning] = []
    for point in points:
        offered, done = offered_per_s(point["params"]), done_per_s(point["metrics"])
        if offered is not None and done is not None and not has_kept_up(done, offered):
            named = primary_metric(point)
            warnings.append(
                Behind(
                    points=[point["id"]],
                    metric=named[0] if named else "",
                    share=1 - done / offered,
                    done_per_s=done,
                    offered_per_s=offered,
                )
            )
    return warnings


def highest_rates(cell: PlanCell, points: Sequence[PointResult]) -> list[HighestRate]:
    """Return the highest rate within the latency limit, for each open-loop sweep of a cell whose workload has a limit.

    For one instance in one repetition it is the last rate before the first rate that failed: P99 above the limit, or
    the instance fell behind. 0 if the lowest rate failed. Rates above a failed one do not count, even if they passed.
    """
    limit_ms = cell["workload"].get("p99AtMostMs")
    if limit_ms is None:
        return []
    sweeps: dict[str, list[PointResult]] = {}
    for point in points:
        if RATE in point["params"]:
            rest = {name: value for name, value in point["params"].items() if name != RATE}
            sweeps.setdefault(json.dumps(rest, sort_keys=True), []).append(point)
    sought = (_highest(cell, sorted(sweep, key=_rate), float(limit_ms)) for sweep in sweeps.values())
    return [highest for highest in sought if highest is not None]


def _rate(point: PointResult) -> float:
    return float(point["params"][RATE])


def _highest(cell: PlanCell, sweep: Sequence[PointResult], limit_ms: float) -> HighestRate | None:
    kept_at = [(_rate(point), dict(_kept(point, limit_ms))) for point in sweep]
    # An instance that lacks a rate has no highest one.
    keys = sorted(set.intersection(*(set(kept) for _, kept in kept_at)))
    if not keys:
        return None
    values = [_last_kept([(rate, kept[key]) for rate, kept in kept_at]) for key in keys]
    metric = METRICS[HIGHEST_RATE]
    rows = [(instance, repetition, value) for (instance, repetition), value in zip(keys, values, strict=True)]
    repetitions = {step["repetition"] for step in cell["steps"]}
    counted = {
        "unit": metric.unit,
        "higher_is_better": metric.higher_is_better,
        "primary": True,
        "n": len(rows),
        "expected_n": cell["fleet"]["count"] * len(repetitions),
    }
    launch_of = _launches(sweep)
    of_fleet = FleetValues.of(rows, is_shared=is_shared(cell["storage"]), launch_of=launch_of)
    described = describe(of_fleet, higher_is_better=True)
    # The values are steps of the sweep, and the true highest rate lies somewhere between two of them: an interval of
    # equal steps would have no width, and a difference of one step is not a finding.
    unsure = {"intervals": {}, "no_interval": "rates between those of the sweep were not tried", "findings": []}
    result = cast("MetricResult", counted | figures(of_fleet) | described | unsure)
    kept = [point for point in sweep if _rate(point) <= result["p50"]]
    beyond = [_rate(point) for point in sweep if _rate(point) > result["p50"]]
    return {
        "params": {name: value for name, value in sweep[0]["params"].items() if name != RATE},
        "p99_at_most_ms": limit_ms,
        "points": [point["id"] for point in sweep],
        "held": kept[-1]["id"] if kept else None,
        "beyond_per_s": beyond[0] if beyond else None,
        "metric": result,
        "samples": _columns(keys, values, launch_of),
    }


def _kept(point: PointResult, limit_ms: float) -> Iterator[tuple[Key, bool]]:
    """Yield for each instance and repetition whether its P99 was within the limit and it kept up."""
    samples, named = point.get("samples"), primary_metric(point)
    if not samples or named is None:
        return
    done_name = next((name for name in DONE_PER_S if name in samples["metrics"]), None)
    if done_name is None:
        return
    columns = (samples["instance"], samples["repetition"], samples["metrics"][named[0]], samples["metrics"][done_name])
    for instance, repetition, p99_us, done in zip(*columns, strict=True):
        if p99_us is not None:
            is_within = p99_us <= limit_ms * 1000 and has_kept_up(done, _rate(point))
            yield (str(instance), int(repetition)), is_within


def _last_kept(kept: Sequence[tuple[float, bool]]) -> float:
    """Return the last rate before the first that was not kept, of rates that rise."""
    last = 0.0
    for rate, is_kept in kept:
        if not is_kept:
            break
        last = rate
    return last


def _launches(sweep: Sequence[PointResult]) -> dict[str, int]:
    """The launch of each instance; empty if there was only one."""
    return {
        instance: launch
        for point in sweep
        if (samples := point.get("samples"))
        for instance, launch in zip(samples["instance"], samples.get("launch", []), strict=False)
    }


def _columns(keys: Sequence[Key], values: Sequence[float], launch_of: Mapping[str, int]) -> SampleColumns:
    columns: SampleColumns = {
        "instance": [instance for instance, _ in keys],
        "repetition": [repetition for _, repetition in keys],
        "started_at": [],
        "ended_at": [],
        "start_skew_s": [],
        "metrics": {HIGHEST_RATE: list(values)},
    }
    if launch_of:
        columns["launch"] = [launch_of[instance] for instance, _ in keys]
    return columns
