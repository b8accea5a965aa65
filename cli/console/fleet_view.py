"""A cell's fleet as its blackboard tells: what each instance does, and what it has measured. Pure.

Names and times of objects say most, so that a look at 200 instances takes three listings and no reading.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal

from cli.console.documents import Fleet, FleetStep, Square
from matrix.run.polling import SILENT_AFTER_S
from matrix.terms.documents.plan import PlanCell
from matrix.terms.figures import quantity
from matrix.terms.metrics import metrics_of
from matrix.terms.names import point_labels

State = Literal["booting", "preparing", "at the gate", "running", "done", "failed", "silent", "gone"]
STATES: tuple[State, ...] = ("booting", "preparing", "at the gate", "running", "done", "failed", "silent", "gone")
# An instance may have written any number.
MOST_STEPS = 10_000
MARKS = ("done.json", "failed.json", "log.gz", "samples.json", "heartbeat")


@dataclass
class Board:
    """What lies on the blackboard of a cell."""

    instances: Sequence[str] = ()
    """Those that were launched, by fleet.json."""
    launched_at: float | None = None
    objects: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By instance: the names of its objects, and their times."""
    gates: Mapping[int, float] = field(default_factory=dict)
    """Times of the steps' gates."""
    ready: Mapping[str, float] = field(default_factory=dict)
    """By instance: when it was ready for the step whose gate comes next."""
    samples: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """By instance: its finished steps, as far as they were read."""
    unread: int = 0
    """Samples that were not read yet."""


def objects_of(listing: Sequence[tuple[str, float]]) -> dict[str, dict[str, float]]:
    """Sort a listing of `instances/` by instance; a folder is named `<role id>:<instance id>`."""
    objects: dict[str, dict[str, float]] = {}
    for name, at in listing:
        userid, _, rest = name.partition("/")
        objects.setdefault(userid.rpartition(":")[2], {})[rest] = at
    return objects


def fleet(cell: PlanCell, board: Board, now: float, *, has_ended: bool) -> Fleet:
    """Return the fleet of a cell; `has_ended`: nothing of it goes on, whatever its heartbeats were."""
    metrics = metrics_of(cell["workload"])
    metric = _metric(cell, board, metrics)
    known = metrics.get(metric)
    instances = [
        _square(instance, board, now, metric=metric, has_ended=has_ended)
        for instance in board.instances or sorted(board.objects)
    ]
    last_gate = max(board.gates, default=None)
    return {
        "cell": cell["id"],
        "expected": cell["fleet"]["count"],
        "launched_at": board.launched_at,
        "counts": {state: count for state in STATES if (count := sum(each["state"] == state for each in instances))},
        "instances": instances,
        "step": last_gate,
        "steps": _steps(cell, instances, known.unit if known else ""),
        "metric": known.meaning if known else "",
        "unit": known.unit if known else "",
        "higher_is_better": bool(known and known.higher_is_better),
        "note": f"samples of {board.unread} instances are still being read" if board.unread else "",
        "is_final": has_ended,
    }


def _steps(cell: PlanCell, instances: Sequence[Square], unit: str) -> list[FleetStep]:
    """Return what the fleet measured in each step."""
    labels = point_labels(cell["points"])
    steps: list[FleetStep] = []
    for number, step in enumerate(cell["steps"]):
        done = [each["values"] for each in instances if len(each["values"]) > number]
        values = [value for each in done if (value := each[number]) is not None]
        middle = median(values) if values else None
        steps.append(
            {
                "label": f"{labels.get(step['point'], step['point'])}, repetition {step['repetition']}",
                "done": len(done),
                "least": min(values, default=None),
                "median": middle,
                "most": max(values, default=None),
                "words": quantity(middle, unit),
            }
        )
    return steps


def _square(instance: str, board: Board, now: float, *, metric: str, has_ended: bool) -> Square:
    objects = board.objects.get(instance, {})
    samples = board.samples.get(instance, ())
    last_at = max((at for name, at in objects.items() if name in MARKS), default=None)
    state = _state(instance, objects, board)
    if has_ended and state not in ("done", "failed"):
        state = "gone"
    elif state not in ("done", "failed") and last_at is not None and now - last_at > SILENT_AFTER_S:
        state = "silent"
    return {
        "id": instance,
        "state": state,
        "since_s": None if last_at is None else round(max(0.0, now - last_at), 1),
        "skew_s": samples[-1].get("start_skew_s") if samples else None,
        "has_log": "log.gz" in objects,
        "values": _values(samples, metric),
    }


def _state(instance: str, objects: Mapping[str, float], board: Board) -> State:
    if "failed.json" in objects:
        return "failed"
    if "done.json" in objects:
        return "done"
    if instance in board.ready:
        return "at the gate"
    if board.gates:
        return "running"
    # An instance alone has no gates: it runs from its first sample on, and nobody sees when it began that.
    if "samples.json" in objects:
        return "running"
    return "preparing" if "heartbeat" in objects else "booting"


def _values(samples: Sequence[Mapping[str, Any]], metric: str) -> list[float | None]:
    """Return what was measured in each step, to six digits: a picture shows no more."""
    by_step = {int(entry["step"]): (entry.get("metrics") or {}).get(metric) for entry in samples}
    known = {
        step: float(f"{value:.6g}") if isinstance(value, int | float) and not isinstance(value, bool) else None
        for step, value in by_step.items()
        if 0 <= step < MOST_STEPS
    }
    return [known.get(step) for step in range(max(known, default=-1) + 1)]


def _metric(cell: PlanCell, board: Board, metrics: Container[str]) -> str:
    """Return by which metric steps are shown: what a command is judged by, else the first that an agent wrote."""
    if primary := cell["workload"].get("primaryMetric"):
        return str(primary)
    names = (name for entries in board.samples.values() for entry in entries for name in entry.get("metrics") or {})
    return next((name for name in names if name in metrics), "")
