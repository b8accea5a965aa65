"""A cell's fleet, from its blackboard: state and results of each instance. Pure.

Names and times of objects suffice for most of it: three listings for 200 instances, without reading objects.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, get_args

from cli.console.documents import Fleet, FleetStep, InstanceState, InstanceTile
from cli.follow.heartbeats import Heartbeats, judged_by
from matrix.run.heartbeats import MAX_STEPS
from matrix.run.polling import SILENT_AFTER_S
from matrix.terms.documents.plan import PlanCell
from matrix.terms.metrics import metrics_of
from matrix.terms.names import point_labels
from matrix.terms.quantities import quantity

STATES: tuple[InstanceState, ...] = get_args(InstanceState)
MARKS = ("done.json", "failed.json", "log.gz", "samples.json", "heartbeat")


@dataclass
class Board:
    """Content of a cell's blackboard."""

    instances: Sequence[str] = ()
    """Ids of the launched instances, from fleet.json."""
    objects: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By instance: the names of its objects, and their times."""
    gates: Mapping[int, float] = field(default_factory=dict)
    """Times of the steps' gates."""
    ready: Mapping[str, float] = field(default_factory=dict)
    """By instance: when it was ready for the step of the next start barrier."""
    samples: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """By instance: its finished steps, as far as they have been read."""
    unread: int = 0
    """Number of samples not yet read."""
    heartbeats: Heartbeats = field(default_factory=Heartbeats)
    """Content of the heartbeats read."""

    def step(self) -> int | None:
        """Return the index of the current step: by the last gate, else by heartbeats and samples. None: not started."""
        if self.gates:
            return max(self.gates)
        steps = [self.heartbeats.step(), *(len(taken) - 1 for taken in self.samples.values())]
        return max((step for step in steps if step is not None and step >= 0), default=None)


def objects_of(listing: Sequence[tuple[str, float]]) -> dict[str, dict[str, float]]:
    """Sort a listing of `instances/` by instance; a folder is named `<role id>:<instance id>`."""
    objects: dict[str, dict[str, float]] = {}
    for name, at in listing:
        userid, _, rest = name.partition("/")
        objects.setdefault(userid.rpartition(":")[2], {})[rest] = at
    return objects


def fleet(cell: PlanCell, board: Board, now: float, *, has_ended: bool, was_stopped: bool = False) -> Fleet:
    """Return the fleet of a cell. `has_ended`: it has ended, even if its last heartbeats show activity.

    `was_stopped`: the run ended before the cell, so its agents were terminated and have not failed.
    """
    metrics = metrics_of(cell["workload"])
    metric = _metric(cell, board, metrics)
    known = metrics.get(metric)
    unit = known.unit if known else ""
    instances = [
        _square(instance, board, None if has_ended else now, metric=metric, was_stopped=was_stopped)
        for instance in board.instances or sorted(board.objects)
    ]
    at = board.step()
    steps = _steps(cell, instances, unit)
    labels = {number: step["label"] for number, step in enumerate(steps)}
    return {
        "cell": cell["id"],
        "expected": cell["fleet"]["count"],
        "counts": {state: count for state in STATES if (count := sum(each["state"] == state for each in instances))},
        "instances": instances,
        "step": None if at is None else min(at, len(steps) - 1),
        "steps": steps,
        "metric": known.meaning if known else "",
        "unit": unit,
        "higher_is_better": bool(known and known.higher_is_better),
        "share": 0.0 if at is None else board.heartbeats.share(at, cell["expected_s"] / len(cell["steps"]), now),
        "rates": board.heartbeats.rates(labels, now),
        "traffic": "" if has_ended else board.heartbeats.traffic(cell["fleet"]["count"], now),
        "note": f"samples of {board.unread} instances are still being read" if board.unread else "",
        "is_final": has_ended,
    }


def _steps(cell: PlanCell, instances: Sequence[InstanceTile], unit: str) -> list[FleetStep]:
    """Return the results of each step over the fleet."""
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


def _square(instance: str, board: Board, now: float | None, *, metric: str, was_stopped: bool) -> InstanceTile:
    """Return the state of an instance at `now`; None: the run has ended."""
    objects = board.objects.get(instance, {})
    samples = board.samples.get(instance, ())
    last_at = max((at for name, at in objects.items() if name in MARKS), default=None)
    state = _state(instance, objects, board)
    if now is None and (state not in ("done", "failed") or (was_stopped and state == "failed")):
        state = "gone"
    elif now is not None and state not in ("done", "failed") and last_at and now - last_at > SILENT_AFTER_S:
        state = "silent"
    return {
        "id": instance,
        "state": state,
        "since_s": None if last_at is None or now is None else round(max(0.0, now - last_at), 1),
        "skew_s": samples[-1].get("start_skew_s") if samples else None,
        "values": _values(samples, metric),
    }


def _state(instance: str, objects: Mapping[str, float], board: Board) -> InstanceState:
    if "failed.json" in objects:
        return "failed"
    if "done.json" in objects:
        return "done"
    if instance in board.ready:
        return "at the gate"
    if board.gates:
        return "running"
    # A single instance has no start barrier: its heartbeat or its first sample shows that it runs.
    heartbeat = board.heartbeats.last.get(instance)
    if "samples.json" in objects or (heartbeat and heartbeat.state == "running"):
        return "running"
    return "preparing" if "heartbeat" in objects else "booting"


def _values(samples: Sequence[Mapping[str, Any]], metric: str) -> list[float | None]:
    """Return the result of each step, rounded to six digits for the chart."""
    by_step = {int(entry["step"]): (entry.get("metrics") or {}).get(metric) for entry in samples}
    known = {
        step: float(f"{value:.6g}") if isinstance(value, int | float) and not isinstance(value, bool) else None
        for step, value in by_step.items()
        if 0 <= step < MAX_STEPS
    }
    return [known.get(step) for step in range(max(known, default=-1) + 1)]


def _metric(cell: PlanCell, board: Board, metrics: Container[str]) -> str:
    """Return the metric to show: the primary metric if all points share it, else the first that an agent wrote."""
    primary = judged_by(cell)
    if primary in metrics:
        return primary
    names = (name for entries in board.samples.values() for entry in entries for name in entry.get("metrics") or {})
    return next((name for name in names if name in metrics), "")
