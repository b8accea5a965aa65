"""The heartbeats of a run's fleets, for people who watch: the step that runs, and the storage's traffic."""

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from statistics import median

from typing_extensions import TypedDict

from cli.target.service import Service
from contract.keys import HEARTBEAT, instance_of
from matrix.run import heartbeats
from matrix.run.heartbeats import Heartbeat, Rate
from matrix.terms.documents.plan import PlanCell
from matrix.terms.metrics import metrics_of
from matrix.terms.quantities import quantity, rough_duration

KEPT_S = 600
# A fleet's sum ends where its latest heartbeat ends; silent instances are ignored.
SILENT_S = 90.0
# Average the current traffic over these seconds. Older traffic has its age.
NOW_S, RECENT_S = 3.0, 10.0
# The number of operations says little about larger ones.
SMALL_OPERATION_BYTES = 65_536
# The rates come from the first instances of a fleet, because reading each heartbeat costs money.
MAX_HEARTBEATS = 50
CONNECTIONS = 8
# The remaining time of a step that takes longer than usual is unknown.
MAX_SHARE = 0.95


class StepMark(TypedDict):
    """The start of a step in a curve."""

    at: float
    """Epoch seconds."""
    label: str


class Rates(TypedDict):
    """Storage traffic per second, summed over the instances whose heartbeats were read."""

    of: str
    """Place of the counter: disk or network."""
    first: int
    """The first second (epoch)."""
    read: list[float]
    """Bytes per second."""
    written: list[float]
    operations: list[float]
    """Per second."""
    steps: list[StepMark]
    instances: int
    """Number of instances in the sum."""


@dataclass
class Curve:
    """Traffic of an instance by epoch second (bytes read, bytes written, operations), from its heartbeats."""

    until: float = 0.0
    seconds: dict[int, list[float]] = field(default_factory=dict)

    def add(self, rates: Iterable[Rate]) -> None:
        """Add rates that are newer than the known ones. Heartbeats overlap."""
        for rate in rates:
            if rate.ended_at <= self.until + 0.05:
                continue
            self.until = rate.ended_at
            self._spread(rate)
        for second in [second for second in self.seconds if second < self.until - KEPT_S]:
            del self.seconds[second]

    def _spread(self, rate: Rate) -> None:
        """Distribute a rate over its seconds. It may start and end within a second."""
        begun_at = rate.ended_at - rate.lasted_s
        for second in range(math.floor(begun_at), math.ceil(rate.ended_at)):
            share = min(rate.ended_at, second + 1) - max(begun_at, second)
            bins = self.seconds.setdefault(second, [0.0, 0.0, 0.0])
            for place, value in enumerate(rate.moved):
                bins[place] += share * value


@dataclass
class Heartbeats:
    """The heartbeats of a cell's fleet."""

    last: dict[str, Heartbeat] = field(default_factory=dict)
    """By instance."""
    curves: dict[str, Curve] = field(default_factory=dict)
    """By counter: instances of one machine count the same traffic, which is summed once."""
    begun: dict[int, float] = field(default_factory=dict)
    """When the first instance began each step (epoch s)."""

    def add(self, instance: str, heartbeat: Heartbeat) -> None:
        """Add the newest heartbeat of an instance."""
        self.last[instance] = heartbeat
        self.curves.setdefault(heartbeat.counter or instance, Curve()).add(heartbeat.rates)
        if heartbeat.step is not None and heartbeat.since is not None and heartbeat.state == "running":
            self.begun[heartbeat.step] = min(heartbeat.since, self.begun.get(heartbeat.step, heartbeat.since))

    def step(self) -> int | None:
        """Return the step that most of the fleet has reached: the median; None before any instance reports one."""
        steps = sorted(heartbeat.step for heartbeat in self.last.values() if heartbeat.step is not None)
        return steps[len(steps) // 2] if steps else None

    def share(self, step: int, usual_s: float, now: float) -> float:
        """Return the completed share of a running step, by the time of earlier steps, or else by its usual time."""
        if step not in self.begun:
            return 0.0
        took = [self.begun[at + 1] - self.begun[at] for at in range(step) if at in self.begun and at + 1 in self.begun]
        usual_s = median(took) if took else usual_s
        return min(MAX_SHARE, max(0.0, now - self.begun[step]) / usual_s) if usual_s > 0 else 0.0

    def traffic(self, expected: int, now: float) -> str:
        """Write what the fleet's `expected` instances move, such as `210 MB/s now`.

        It is the sum over the instances that are in a step and have reported traffic of it, and says so if these are
        not all. Empty if there are none, or if their heartbeats are too old.
        """
        latest: dict[str, Rate] = {}
        instances = 0
        for name, heartbeat in self.last.items():
            rate = _latest(heartbeat)
            if rate is None or rate.ended_at < now - SILENT_S:
                continue
            instances += 1
            known = latest.setdefault(heartbeat.counter or name, rate)
            latest[heartbeat.counter or name] = max(known, rate, key=lambda each: each.ended_at)
        if not latest:
            return ""
        read, written, operations = (sum(rate.moved[place] for rate in latest.values()) for place in range(3))
        words = quantity((read + written) / 1e6, "MB/s")
        if operations and (read + written) / operations < SMALL_OPERATION_BYTES:
            words += f", {quantity(operations, 'operations/s')}"
        age_s = now - min(rate.ended_at for rate in latest.values())
        part = f" ({instances} of {expected} instances)" if instances < expected else ""
        return f"{words} {'now' if age_s < RECENT_S else f'{rough_duration(age_s)} ago'}{part}"

    def last_result(self, cell: PlanCell) -> str:
        """Write the median of the instances' last results: `last 16.4 MB/s`; empty before the first one."""
        name = judged_by(cell)
        values = [heartbeat.last[name] for heartbeat in self.last.values() if name in heartbeat.last]
        metric = metrics_of(cell["workload"]).get(name)
        return f"last {quantity(median(values), metric.unit).strip()}" if values and metric else ""

    def rates(self, labels: Mapping[int, str], now: float) -> Rates | None:
        """Return the fleet's sum for each second; None if no traffic is counted."""
        curves = {name: curve for name, curve in self.curves.items() if curve.seconds}
        if not curves:
            return None
        ends = [curve.until for curve in curves.values()]
        heard = [end for end in ends if end > now - SILENT_S]
        # The last second may not be over.
        last = math.floor(min(heard) if heard else max(ends)) - 1
        first = max(last - KEPT_S, min(min(curve.seconds) for curve in curves.values()))
        if last < first:
            return None
        seconds = range(first, last + 1)
        still = (0.0, 0.0, 0.0)

        def sums(place: int) -> list[float]:
            each = (sum(curve.seconds.get(at, still)[place] for curve in curves.values()) for at in seconds)
            return [float(f"{value:.4g}") for value in each]

        return {
            "of": next((heartbeat.of for heartbeat in self.last.values() if heartbeat.of), ""),
            "first": first,
            "read": sums(0),
            "written": sums(1),
            "operations": sums(2),
            "steps": [
                {"at": at, "label": labels.get(step, f"step {step + 1}")}
                for step, at in sorted(self.begun.items())
                if first <= at <= last
            ],
            "instances": len(curves),
        }


def _latest(heartbeat: Heartbeat) -> Rate | None:
    """Return the mean of an instance's last seconds in its running step; None if it is in none, or has no rates of it.

    The rates of a step follow those of the steps before it.
    """
    own = [rate for rate in heartbeat.rates if heartbeat.since is not None and rate.ended_at > heartbeat.since]
    if heartbeat.state != "running" or not own:
        return None
    ended_at = own[-1].ended_at
    last = [rate for rate in own if rate.ended_at > ended_at - NOW_S]
    lasted_s = sum(rate.lasted_s for rate in last)
    read, written, operations = (sum(rate.moved[at] * rate.lasted_s for rate in last) / lasted_s for at in range(3))
    return Rate(ended_at, lasted_s, (read, written, operations))


def judged_by(cell: PlanCell) -> str:
    """Return the primary metric of a cell's points; empty if they have different ones."""
    # It needs pydantic, which commands that follow no run need not wait for.
    from matrix.input.workloads import MODELS

    model = MODELS[cell["workload"]["type"]]
    judged = {model.judged_by(point["params"], cell["workload"]) for point in cell["points"]}
    return judged.pop() if len(judged) == 1 else ""


@dataclass
class HeartbeatReader:
    """The heartbeats of a run's cells, each read once."""

    cells: dict[str, Heartbeats] = field(default_factory=dict)
    _read_at: dict[str, float] = field(default_factory=dict)
    """Time of each object that was read last."""

    def read(
        self, service: Service, run: str, cell: str, listing: Sequence[tuple[str, float]], steps: int, now: float
    ) -> Heartbeats:
        """Read the new heartbeats of the fleet's first instances. `listing`: names below `instances/`, and times."""
        into = self.cells.setdefault(cell, Heartbeats())
        below = f"cells/{cell}/instances/"
        names = [(f"{below}{name}", at) for name, at in listing if name.partition("/")[2] == HEARTBEAT][:MAX_HEARTBEATS]
        fresh = [(name, at) for name, at in names if self._read_at.get(name, 0.0) < at]
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            texts = pool.map(lambda each: service.content(run, each[0], heartbeats.MAX_BYTES), fresh)
            for (name, at), text in zip(fresh, texts, strict=True):
                self._read_at[name] = at
                heartbeat = heartbeats.parse(text or b"", now, steps)
                if heartbeat is not None:
                    into.add(instance_of(name.split("/")[-2]), heartbeat)
        return into
