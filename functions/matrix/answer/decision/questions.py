"""From a run's summary to questions: storages are compared where everything else is the same."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from matrix.answer.costs import Bill
from matrix.answer.decision.candidates import Candidate, Question
from matrix.answer.decision.objective import Objective, SlowEnd
from matrix.statistics.carrying import is_carried, needed
from matrix.statistics.fleet_values import FleetValues, from_columns
from matrix.statistics.independence import LEAST_UNITS
from matrix.statistics.intervals import percentile_interval
from matrix.terms.names import fleet_label, placement_words, point_labels, primary_metric
from matrix.terms.sentences import error_text
from matrix.terms.storages import whole_names


def questions_of(
    summary: Mapping[str, Any], results: Mapping[str, Mapping[str, Any]], wanted: Objective, bill: Bill
) -> Iterator[Question]:
    """Yield one question for each workload, point and fleet, with each storage as a candidate."""
    found: dict[str, Question] = {}
    unmeasured: list[Mapping[str, Any]] = []
    storages = whole_names(storages_of(summary))
    for cell in summary.get("cells", []):
        points = cell.get("points") or []
        if cell.get("state") != "measured" or not points:
            unmeasured.append(cell)
            continue
        labels = point_labels(points)
        full = {one["id"]: one for one in (results.get(cell["id"]) or {}).get("points") or []}
        for point in points:
            metrics = point.get("metrics") or {}
            primary = primary_metric(point)
            name = wanted.metric if wanted.metric in metrics else primary[0] if primary and not wanted.limit else None
            if name is None:
                continue
            metric = metrics[name]
            fleet = {key: cell["fleet"].get(key) for key in ("instanceType", "count")}
            key = json.dumps([cell["workload"]["type"], point.get("params"), fleet, name], sort_keys=True, default=str)
            question = found.setdefault(
                key,
                Question(
                    workload=str(cell["workload"]["type"]),
                    label=labels[point["id"]],
                    fleet=fleet_label(cell["fleet"]),
                    instances=int(cell["fleet"].get("count") or 1),
                    metric=name,
                    unit=str(metric.get("unit", "")),
                    higher_is_better=bool(metric.get("higher_is_better")),
                    level=100 - wanted.percent if metric.get("higher_is_better") else wanted.percent,
                    candidates=[],
                ),
            )
            samples = (full.get(point["id"]) or point).get("samples")
            storage = _placed(storages[_system(cell)], cell)
            question.candidates.append(_candidate(cell, point, metric, name, samples, question.level, bill, storage))
    for question in found.values():
        question.candidates += [
            _absent(cell, _placed(storages[_system(cell)], cell)) for cell in unmeasured if _belongs(cell, question)
        ]
    yield from sorted(found.values(), key=lambda one: (one.workload, one.label, one.instances))


def storages_of(summary: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each file system of a run with its storage."""
    yield from ((_system(cell), cell["storage"]) for cell in summary.get("cells", []))


def _system(cell: Mapping[str, Any]) -> str:
    return str(cell.get("file_system") or cell["id"])


def _placed(storage: str, cell: Mapping[str, Any]) -> str:
    """A storage whose fleet was put elsewhere than it suits is a candidate of its own."""
    return ", ".join(filter(None, [storage, placement_words(dict(cell["fleet"]))]))


def _candidate(
    cell: Mapping[str, Any], point: Mapping[str, Any], metric: Mapping[str, Any], name: str,
    samples: dict[str, Any] | None, level: float, bill: Bill, storage: str,
) -> Candidate:  # fmt: skip
    values = from_columns(samples, name) if samples else None
    if values is not None and not len(values.pooled):
        values = None
    return Candidate(
        cell=str(cell["id"]),
        point=str(point["id"]),
        storage=storage,
        file_system=_system(cell),
        slow_end=_slow_end(metric, values, level),
        cost=bill.point_cost(cell, point),
        values=values,
        lost=f"left out: {cell['suspect']}" if cell.get("suspect") else None,
    )


def _absent(cell: Mapping[str, Any], storage: str) -> Candidate:
    why = error_text(cell.get("error")).replace(f"{cell['id']}: ", "") or str(cell.get("state"))
    return Candidate(
        cell=str(cell["id"]), point="", storage=storage, file_system=_system(cell), slow_end=None, cost=None,
        values=None, lost=f"not measured: {why}",
    )  # fmt: skip


def _belongs(cell: Mapping[str, Any], question: Question) -> bool:
    return cell["workload"]["type"] == question.workload and fleet_label(cell["fleet"]) == question.fleet


def _slow_end(metric: Mapping[str, Any], values: FleetValues | None, level: float) -> SlowEnd | None:
    """The percentile at `level`, from the single values if they are known, else from the summary."""
    worth = metric.get("independent_n")
    if values is not None:
        found = float(np.percentile(values.pooled, level))
        units = len(values.units)
        count = units if worth is None else int(worth)
        carries = units >= LEAST_UNITS and is_carried(level, count)
        interval = percentile_interval(values.units, level) if carries else None
        doubt = None if carries else f"P{level:g} needs {needed(level)} independent values, there are {count}"
        return SlowEnd(level, found, interval.low if interval else None, interval.high if interval else None, doubt)
    name = f"p{level:g}"
    stored = metric.get(name)
    if stored is not None:
        interval_ = (metric.get("intervals") or {}).get(name) or {}
        return SlowEnd(level, float(stored), interval_.get("low"), interval_.get("high"), _doubt(metric, level))
    # Of a rate only the slowest is known then: at least as bad as what is asked for, so it promises nothing wrong.
    worst = metric.get("p0") if metric.get("higher_is_better") else metric.get("p100")
    if worst is None:
        return None
    return SlowEnd(level, float(worst), None, None, f"P{level:g} is not known, this is the worst value")


def _doubt(metric: Mapping[str, Any], level: float) -> str | None:
    if (metric.get("carried") or {}).get(f"p{level:g}"):
        return None
    count = metric.get("independent_n") if metric.get("independent_n") is not None else metric.get("n")
    if count is None:
        return "over how many values this percentile was taken is not known"
    if is_carried(level, int(count)):
        return None if "carried" in metric else "no single values are known, so there is no interval"
    return f"P{level:g} needs {needed(level)} independent values, there are {count}"
