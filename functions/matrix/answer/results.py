"""From samples to the result of a cell, and from cells to the summary of a run."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, compress
from statistics import median
from typing import Any, cast

from matrix.answer.open_loops import behind_warnings, highest_rates
from matrix.answer.page_cache import read_bytes
from matrix.answer.steady_state import steadiness_of, steadiness_warnings
from matrix.answer.tool_bound import tool_ceiling, tool_warnings
from matrix.input.workloads import MODELS
from matrix.samples.cloudwatch import without_series
from matrix.samples.file import FileSample, Sample, SampleFile, by_point
from matrix.samples.histograms import Histogram, latency
from matrix.samples.moved import moved_bytes, of_work, worked_bytes
from matrix.samples.provenance import provenance
from matrix.samples.usage import fleet_use_of, use_of, used
from matrix.statistics.describing import describe
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.percentiles import percentiles
from matrix.storages.models import is_shared
from matrix.terms.documents.parts import Failure, Point
from matrix.terms.documents.plan import PlanCell, PlanDocument
from matrix.terms.documents.result import (
    FleetRate,
    MetricResult,
    OverTime,
    PointResult,
    ResultDocument,
    SampleColumns,
)
from matrix.terms.documents.summary import LeftBehind, SummaryDocument
from matrix.terms.findings.warnings import CellWarning, FewerInstances, OfSamples, Overhead, WarningDocument
from matrix.terms.metrics import Metric, measured_names, metrics_of
from matrix.terms.sentences import of_fleet

SCHEMA = 1
# Share of a sample's time; above it the counters around the programs do not describe the work.
MAX_OVERHEAD = 0.05

# Point id -> latency name (`read_lat`) -> one histogram of each instance and repetition.
Histograms = Mapping[str, Mapping[str, Sequence[Histogram]]]


def cell_result(
    cell: PlanCell,
    files: Sequence[SampleFile],
    *,
    error: Failure | None,
    actual_s: float | None,
    histograms: Histograms | None = None,
    over_time: Mapping[str, Sequence[OverTime]] | None = None,
    launched: int | None = None,
    shortfall: str = "",
    storage_zone: str | None = None,
) -> ResultDocument:
    """Return the result of a cell: percentiles of each point and metric over all samples of all instances.

    - `error` (name and message) makes it a failed cell. It keeps its samples so far, with `n` below `expected_n`.
    - `actual_s`: seconds of wall time from launch to end.
    - `launched`: number of launched instances, if known.
    - `shortfall`: reason why they are fewer than the fleet's count. If they reach the quorum, the cell is measured
      with `n` below `expected_n` and the shortfall as its first warning.
    - `storage_zone`: Availability Zone of a storage that is in one, if known.
    - `over_time`: the fleet's traffic over time (matrix.samples.over_time).
    """
    count = cell["fleet"]["count"]
    ran = count if launched is None else launched
    file_samples = by_point(files)
    points = [
        _point_result(
            cell, point, file_samples.get(point["id"], []), (histograms or {}).get(point["id"], {}), ran, storage_zone
        )
        for point in cell["points"]
    ]
    for point in points:
        if over_time and (of_fleet := over_time.get(point["id"])):
            point["over_time"] = list(of_fleet)
    short: list[WarningDocument] = []
    if 0 < ran < count:
        short = [FewerInstances(share=1 - ran / count, ran=ran, count=count, reason=shortfall).document]
    result: ResultDocument = {
        "id": cell["id"],
        "file_system": cell["file_system"],
        "storage": cell["storage"],
        "workload": cell["workload"],
        "fleet": cell["fleet"],
        "state": "failed" if error else "measured",
        "error": error,
        "expected_s": cell["expected_s"],
        "actual_s": actual_s,
        "points": points,
        "provenance": provenance(files),
        "instances": {"expected": count, "launched": launched},
        "warnings": short + _warnings(files) + point_warnings(points),
    }
    if took_s := sorted(file.mount.took_s for file in files if file.mount.took_s is not None):
        result["mounted_s"] = took_s
    if highest := highest_rates(cell, points):
        result["highest_rates"] = highest
    if cell.get("emulation"):
        result["emulation"] = cell["emulation"]
    if cell.get("attempts"):
        result["attempts"] = cell["attempts"]
    return result


def point_warnings(points: Sequence[PointResult]) -> list[WarningDocument]:
    """Return the warnings about the figures of a cell's points."""
    found = [
        *_overhead_warnings(points),
        *tool_warnings(points),
        *behind_warnings(points),
        *steadiness_warnings(points),
    ]
    return [*(warning.document for warning in found), *_findings(points)]


def skipped_result(cell: PlanCell, skip: Failure) -> ResultDocument:
    """Return the result of a cell that was not started; `skip` has the reason as its name, and details."""
    return {**cell_result(cell, [], error=skip, actual_s=None), "state": "skipped"}


def unreadable_result(cell: PlanCell) -> ResultDocument:
    """Return a substitute for the result of a cell that exists and cannot be read."""
    damage: Failure = {"name": "UnreadableRun", "message": "its result cannot be read"}
    return cell_result(cell, [], error=damage, actual_s=None)


def missing_samples(cell: PlanCell, files: Sequence[SampleFile], launched: int | None = None) -> list[str]:
    """Return a sentence on missing instances and one on instances that miss steps; none means complete.

    `launched` is the number of running instances, if a quorum allowed a smaller fleet than its count.
    """
    expected = {(step["point"], step["repetition"]) for step in cell["steps"]}
    sentences = []
    ran = cell["fleet"]["count"] if launched is None else launched
    absent = ran - len(files)
    if absent:
        sentences.append(f"{absent} of {ran} instances uploaded no samples")
    lacking = {file.instance.id: len(expected - {(s.point, s.repetition) for s in file.samples}) for file in files}
    incomplete = [instance for instance, steps in lacking.items() if steps]
    if incomplete:
        worst = max(lacking.values())
        sentences.append(of_fleet(incomplete, ran, f"lack up to {worst} of {len(expected)} steps"))
    return sentences


def without_samples(point: PointResult) -> PointResult:
    """Return a point's result without single values, curves and histograms, which only result.json keeps."""
    latencies = {
        name: {key: value for key, value in histogram.items() if key != "bins_ns"}
        for name, histogram in (point.get("latency") or {}).items()
    }
    slim = {name: value for name, value in point.items() if name not in ("samples", "over_time")}
    return cast("PointResult", slim | {"latency": latencies})


def _point_result(
    cell: PlanCell,
    point: Point,
    file_samples: Sequence[FileSample],
    histograms: Mapping[str, Sequence[Histogram]],
    ran: int,
    storage_zone: str | None,
) -> PointResult:
    samples = [sample for _, sample in file_samples]
    used_by_each = used(file_samples)
    repetitions = sorted({step["repetition"] for step in cell["steps"] if step["point"] == point["id"]})
    names = measured_names([sample.metrics for sample in samples])
    expected_n = (1 if cell["workload"].get("on") == "leader" else cell["fleet"]["count"]) * len(repetitions)
    primary = MODELS[cell["workload"]["type"]].judged_by(point["params"], cell["workload"])
    known = metrics_of(cell["workload"])
    result: PointResult = {
        "id": point["id"],
        "params": point["params"],
        "metrics": {
            name: _metric_result(
                name,
                known[name],
                file_samples,
                expected_n,
                is_primary=name == primary,
                is_shared=is_shared(cell["storage"]),
            )
            for name in names
        },
        "fleet": _fleet_rates(file_samples, repetitions, ran, storage_zone),
        "overhead_share": median([sample.overhead_share for sample in samples]) if samples else 0.0,
        "use": use_of(used_by_each),
        "fleet_use": fleet_use_of(used_by_each),
        "latency": {
            name: latency(of_samples)
            for name, of_samples in sorted(histograms.items())
            if any(any(histogram.bins.values()) for histogram in of_samples)
        },
        "samples": _columns(file_samples, names),
    }
    if label := point.get("label"):
        result["label"] = label
    if caches := {sample.caches for sample in samples if sample.caches}:
        # The reason of a cache that was not dropped follows a colon; it is in the provenance.
        result["caches"] = " and ".join(sorted({words.partition(":")[0] for words in caches}))
    if cell.get("emulation"):
        result["emulated"] = True
    elif read := read_bytes(point["params"], file_samples):
        result["read_bytes"] = read
    if steadiness := steadiness_of(samples):
        result["steadiness"] = steadiness
    if ceiling := tool_ceiling(point["id"], file_samples):
        result["tool_ceiling"] = ceiling
    return result


def _metric_result(
    name: str, metric: Metric, file_samples: Sequence[FileSample], expected_n: int, *, is_primary: bool, is_shared: bool
) -> MetricResult:
    rows = [(file.instance.id, s.repetition, s.metrics[name]) for file, s in file_samples if name in s.metrics]
    counted = {
        "unit": metric.unit,
        "higher_is_better": metric.higher_is_better,
        "primary": is_primary,
        "n": len(rows),
        "expected_n": expected_n,
    }
    values = FleetValues.of(rows, is_shared=is_shared)
    described = describe(values, higher_is_better=metric.higher_is_better, is_primary=is_primary)
    return cast("MetricResult", counted | percentiles([value for _, _, value in rows]) | described)


def _columns(file_samples: Sequence[FileSample], names: Sequence[str]) -> SampleColumns:
    """Return all values of a point in columns, for comparisons and the charts of a report."""
    return {
        "instance": [file.instance.id for file, _ in file_samples],
        "repetition": [sample.repetition for _, sample in file_samples],
        "started_at": [sample.work_span[0] for _, sample in file_samples],
        "ended_at": [sample.work_span[1] for _, sample in file_samples],
        "start_skew_s": [sample.start_skew_s for _, sample in file_samples],
        "metrics": {name: [sample.metrics.get(name) for _, sample in file_samples] for name in names},
    }


def _fleet_rates(
    file_samples: Sequence[FileSample], repetitions: Iterable[int], count: int, storage_zone: str | None
) -> list[FleetRate]:
    """Return the fleet's rates for each repetition that all launched instances finished.

    - `span_s`: seconds from the first start to the last end of the work itself, by the instances' own wall clocks.
      The start of programs, a ramp and a report are not in it; an instance that starts late is, as it should be.
    - `<unit>_per_s`: all work over `span_s`, stragglers included
    - `best_s`, `<unit>_per_s_best`: the work of the first k instances to end, over the time until the k-th had ended,
      for the k with the highest rate. The fleet reached at least this. What the others had done by then is not known:
      they are quicker when they no longer share the storage
    - `counted`: what the mounts of all instances counted, if each has the same counters
    - `crossed_bytes`: bytes of instances outside of `storage_zone`: counted, else as the workload reports them
    - `start_spread_s`: seconds between the earliest and the latest start
    """
    rates: list[FleetRate] = []
    for repetition in repetitions:
        of_fleet = [(file, sample) for file, sample in file_samples if sample.repetition == repetition]
        together = [sample for _, sample in of_fleet]
        if len(together) < count:
            continue
        spans = [sample.work_span for sample in together]
        first_start = min(start for start, _ in spans)
        span_s = max(end for _, end in spans) - first_start
        skews = [s.start_skew_s for s in together if s.start_skew_s is not None]
        rate: dict[str, Any] = {
            "repetition": repetition,
            "span_s": span_s,
            "start_spread_s": max(skews) - min(skews) if skews else None,
        }
        if span_s > 0:
            totals = {
                unit: sum(s.work.get(unit, 0.0) for s in together) for unit in {u for s in together for u in s.work}
            }
            rate |= {f"{unit}_per_s": total / span_s for unit, total in totals.items()}
            rate |= _best_rates(together, totals, first_start)
        counted = [of_work(sample) for sample in together]
        if counted[0] and all(each.keys() == counted[0].keys() for each in counted):
            rate["counted"] = {name: sum(each[name] for each in counted) for name in counted[0]}
        zones = [file.instance.availability_zone for file, _ in of_fleet]
        moved = [moved_bytes(each) for each in counted] if "counted" in rate else [*map(worked_bytes, together)]
        if storage_zone and all(zones) and sum(moved):
            rate["crossed_bytes"] = sum(compress(moved, [zone != storage_zone for zone in zones]))
        rates.append(cast("FleetRate", rate))
    return rates


def _best_rates(together: Sequence[Sample], totals: Mapping[str, float], first_start: float) -> dict[str, float]:
    in_order = sorted(together, key=lambda sample: sample.work_span[1])
    ends_s = [sample.work_span[1] - first_start for sample in in_order]
    done = {
        unit: list(accumulate(sample.work.get(unit, 0.0) for sample in in_order)) for unit in totals if totals[unit]
    }
    # One k for all units, so that bytes read and written in the same time may be added.
    shares = [sum(done[unit][k] / totals[unit] for unit in done) for k in range(len(in_order))]
    best = max((k for k, end_s in enumerate(ends_s) if end_s > 0), key=lambda k: shares[k] / ends_s[k])
    return {"best_s": ends_s[best]} | {f"{unit}_per_s_best": each[best] / ends_s[best] for unit, each in done.items()}


def _overhead_warnings(points: Sequence[PointResult]) -> list[CellWarning]:
    """Return a warning on the points whose samples spent more than MAX_OVERHEAD of their time outside the work."""
    shares = {point["id"]: point["overhead_share"] for point in points if point["overhead_share"] > MAX_OVERHEAD}
    if not shares:
        return []
    return [Overhead(points=list(shares), share=max(shares.values()))]


def _warnings(files: Sequence[SampleFile]) -> list[WarningDocument]:
    """Each distinct warning once, with the number of samples that have it."""
    counts: dict[str, int] = {}
    for warning in (warning for file in files for sample in file.samples for warning in sample.warnings):
        counts[warning] = counts.get(warning, 0) + 1
    return [OfSamples(samples=n, text=warning).document for warning, n in counts.items()]


def _findings(points: Sequence[PointResult]) -> list[WarningDocument]:
    """Return statistical findings about the primary metric, for the warnings. Other metrics keep theirs."""
    return [
        {**finding, "points": [point["id"]], "metric": name}
        for point in points
        for name, metric in point["metrics"].items()
        if metric["primary"]
        for finding in metric["findings"]
    ]


def run_summary(
    *, run: str, plan: PlanDocument, environment: str, started_at: float | None, finished_at: float | None,
    results: Mapping[str, ResultDocument], left_behind: Sequence[LeftBehind],
) -> SummaryDocument:  # fmt: skip
    """Return summary.json, the source of all outputs. A planned cell without a result counts as failed.

    For a cell with several launches `results` has the joined result of `launches.join`; the totals count each launch.
    """
    planned = {cell["id"]: cell for cell in plan["cells"]}
    names = dict.fromkeys(cell.get("joined", cell["id"]) for cell in plan["cells"])
    cells = [_slim(results.get(name) or never_measured(planned[name])) for name in names]
    launches = [[outcome["state"] for outcome in cell.get("launches", [])] for cell in cells]
    states = [state for cell, of_cell in zip(cells, launches, strict=True) for state in of_cell or [cell["state"]]]
    measured, skipped = states.count("measured"), states.count("skipped")
    return {
        "schema": SCHEMA,
        "run": run,
        "name": plan["name"],
        "environment": environment,
        "started_at": started_at,
        "finished_at": finished_at,
        "status": "measured" if measured == len(states) else "partly failed" if measured else "failed",
        "cells": cells,
        "totals": {
            "cells": len(states),
            "measured": measured,
            "failed": len(states) - measured - skipped,
            "skipped": skipped,
        },
        "cost_usd": plan["totals"]["cost_usd"],
        "left_behind": list(left_behind),
        "warnings": [f"{warning['path']}: {warning['message']}" for warning in plan["warnings"]],
    }


def interrupted_summary(
    *, run: str, plan: PlanDocument, environment: str, started_at: float | None, finished_at: float | None,
    results: Mapping[str, ResultDocument],
) -> SummaryDocument:  # fmt: skip
    """Return the summary of a run that ended before Analyse run: cells without a result were skipped, none failed."""
    whole = {cell["id"]: never_begun(cell) for cell in plan["cells"] if cell["id"] not in results} | {**results}
    summary = run_summary(
        run=run, plan=plan, environment=environment, started_at=started_at, finished_at=finished_at, results=whole,
        left_behind=[],
    )  # fmt: skip
    return {**summary, "status": "interrupted"}


def never_begun(cell: PlanCell) -> ResultDocument:
    """Return the result of a cell that the end of its run came before."""
    return skipped_result(cell, {"name": "RunEnded", "message": "the run ended before this cell was measured"})


def never_measured(cell: PlanCell) -> ResultDocument:
    """Return the result of a cell that left none, though its run went to its end."""
    error: Failure = {"name": "NotMeasured", "message": "no result was recorded; see the execution's history"}
    return cell_result(cell, [], error=error, actual_s=None)


def _slim(result: ResultDocument) -> ResultDocument:
    slim: ResultDocument = {**result, "points": [without_samples(point) for point in result["points"]]}
    if "highest_rates" in slim:
        slim["highest_rates"] = [{**highest, "samples": None} for highest in slim["highest_rates"]]
    if slim.get("cloudwatch"):
        slim["cloudwatch"] = without_series(slim["cloudwatch"])
    return slim
