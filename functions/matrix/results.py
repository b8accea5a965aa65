"""From samples to the result of a cell, and from cells to the summary of a run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matrix.metrics import METRICS, PRIMARY
from matrix.percentiles import percentiles
from matrix.polling import named
from matrix.samples import Sample, SampleFile

SCHEMA = 1


def cell_result(
    cell: Mapping[str, Any], files: Sequence[SampleFile], *, error: Mapping[str, str] | None, actual_s: float | None
) -> dict[str, Any]:
    """Return what came out of a cell: for each point and metric the percentiles over all samples of all instances.

    `error` (name and message) makes it a failed cell; whatever was measured until then is in it all the same, with
    `n` below `expected_n`. `actual_s` is the wall time from launch to the end.
    """
    return {
        "id": cell["id"],
        "file_system": cell["file_system"],
        "storage": cell["storage"],
        "workload": cell["workload"],
        "fleet": cell["fleet"],
        "state": "failed" if error else "measured",
        "error": dict(error) if error else None,
        "expected_s": cell["expected_s"],
        "actual_s": actual_s,
        "points": [_point_result(cell, point, files) for point in cell["points"]],
        "warnings": _warnings(files),
    }


def missing_samples(cell: Mapping[str, Any], files: Sequence[SampleFile]) -> list[str]:
    """Return a sentence on missing instances and one on instances that miss steps; none means complete."""
    expected = {(step["point"], step["repetition"]) for step in cell["steps"]}
    sentences = []
    absent = cell["fleet"]["count"] - len(files)
    if absent:
        sentences.append(f"{absent} of {cell['fleet']['count']} instances uploaded no samples")
    lacking = {file.instance.id: len(expected - {(s.point, s.repetition) for s in file.samples}) for file in files}
    incomplete = [instance for instance, steps in lacking.items() if steps]
    if incomplete:
        worst = max(lacking.values())
        sentences.append(f"{named(incomplete)} instances lack up to {worst} of {len(expected)} steps")
    return sentences


def _point_result(cell: Mapping[str, Any], point: Mapping[str, Any], files: Sequence[SampleFile]) -> dict[str, Any]:
    samples = [sample for file in files for sample in file.samples if sample.point == point["id"]]
    repetitions = sorted({step["repetition"] for step in cell["steps"] if step["point"] == point["id"]})
    names = sorted({name for sample in samples for name in sample.metrics})
    expected_n = cell["fleet"]["count"] * len(repetitions)
    primary = PRIMARY[cell["workload"]["type"]]
    return {
        "id": point["id"],
        "params": point["params"],
        "metrics": {
            name: _metric_result(name, [s.metrics[name] for s in samples if name in s.metrics], expected_n, primary)
            for name in names
        },
        "fleet": _fleet_rates(samples, repetitions, cell["fleet"]["count"]),
    }


def _metric_result(name: str, values: Sequence[float], expected_n: int, primary: str) -> dict[str, Any]:
    metric = METRICS[name]
    return {
        "unit": metric.unit,
        "higher_is_better": metric.higher_is_better,
        "primary": name == primary,
        "n": len(values),
        "expected_n": expected_n,
        **percentiles(values),
    }


def _fleet_rates(samples: Sequence[Sample], repetitions: Iterable[int], count: int) -> list[dict[str, Any]]:
    """Return, for each repetition that the whole fleet finished, its total work over (last end − first start).

    From the instances' own wall clocks, so an instance that starts late counts against the fleet, as it should.
    """
    rates = []
    for repetition in repetitions:
        together = [sample for sample in samples if sample.repetition == repetition]
        if len(together) < count:
            continue
        span_s = max(s.ended_at for s in together) - min(s.started_at for s in together)
        skews = [s.start_skew_s for s in together if s.start_skew_s is not None]
        rate: dict[str, Any] = {
            "repetition": repetition,
            "span_s": span_s,
            "start_spread_s": max(skews) - min(skews) if skews else None,
        }
        for unit in {unit for s in together for unit in s.work}:
            if span_s > 0:
                rate[f"{unit}_per_s"] = sum(s.work.get(unit, 0.0) for s in together) / span_s
        rates.append(rate)
    return rates


def _warnings(files: Sequence[SampleFile]) -> list[str]:
    """Each distinct warning once, with the number of samples that carry it."""
    counts: dict[str, int] = {}
    for warning in (warning for file in files for sample in file.samples for warning in sample.warnings):
        counts[warning] = counts.get(warning, 0) + 1
    return [f"{warning} ({n} samples)" for warning, n in counts.items()]


def run_summary(
    *, run: str, plan: Mapping[str, Any], environment: str, started_at: float, finished_at: float,
    results: Mapping[str, Mapping[str, Any]], left_behind: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:  # fmt: skip
    """Return the document that every output is made from. A planned cell without a result is a failed cell."""
    cells = [results.get(cell["id"]) or _never_measured(cell) for cell in plan["cells"]]
    measured = sum(cell["state"] == "measured" for cell in cells)
    return {
        "schema": SCHEMA,
        "run": run,
        "name": plan["name"],
        "environment": environment,
        "started_at": started_at,
        "finished_at": finished_at,
        "status": "measured" if measured == len(cells) else "partly failed" if measured else "failed",
        "cells": cells,
        "totals": {"cells": len(cells), "measured": measured, "failed": len(cells) - measured},
        "cost_usd": plan["totals"]["cost_usd"],
        "left_behind": list(left_behind),
        "warnings": [warning["message"] for warning in plan["warnings"]],
    }


def _never_measured(cell: Mapping[str, Any]) -> dict[str, Any]:
    error = {"name": "NotMeasured", "message": f"{cell['id']}: no result was recorded; see the execution's history"}
    return cell_result(cell, [], error=error, actual_s=None)
