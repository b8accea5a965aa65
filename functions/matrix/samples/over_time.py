"""Traffic and operations of a fleet in each second of its steps, added up from each instance's counters.

They are only for charts: a result is complete without them.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat, StringConstraints, model_validator

from matrix.samples.file import SampleFile
from matrix.samples.raw_file import Claims
from matrix.terms.documents.result import OverTime

# An agent keeps 480 readings of a step.
MAX_READINGS = 2_000
# A chart cannot show more of a curve. STRETCHES_OF_A_CELL limits all steps of a cell together, so that its result stays
# small: 0.2 MB for a cell with six counters.
MAX_STRETCHES, MIN_STRETCHES, STRETCHES_OF_A_CELL = 200, 20, 3_000
# Name of a counter's rate; the dictionary's name is its unit.
MB_PER_S = {
    "network_received_bytes": "received over the network",
    "network_sent_bytes": "sent over the network",
    "disk_read_bytes": "read from the disk",
    "disk_write_bytes": "written to the disk",
}
OPERATIONS_PER_S = {
    "disk_read_operations": "reads of the disk",
    "disk_write_operations": "writes of the disk",
    "nfs_read_operations": "requests to the server",
    "nfs_write_operations": "requests to the server",
    "nfs_other_operations": "requests to the server",
    "lustre_read_operations": "requests to the server",
    "lustre_write_operations": "requests to the server",
    "lustre_creates": "files opened and removed",
    "lustre_unlinks": "files opened and removed",
}
BY_ENGINE = "operations"

Reading = Annotated[FiniteFloat, Field(ge=0, le=1e15)]
Counted = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}$")]
Readings = Annotated[list[Reading], Field(min_length=2, max_length=MAX_READINGS)]
Step = tuple[str, int]
Array = NDArray[np.float64]


class Operations(Claims):
    """Number of operations completed by each second after the first reading."""

    seconds: Readings
    done: Readings

    @model_validator(mode="after")
    def _is_a_curve(self) -> Self:
        _check(self.seconds, self.done)
        return self


class StepCurve(Claims):
    """Counters of one instance since `begun_at` (epoch seconds), at these seconds of one step."""

    begun_at: Annotated[FiniteFloat, Field(ge=0, le=1e11)]
    seconds: Readings
    counted: Annotated[dict[Counted, Readings], Field(max_length=20)]
    operations: Operations | None = None

    @model_validator(mode="after")
    def _is_a_curve(self) -> Self:
        for values in self.counted.values():
            _check(self.seconds, values)
        return self


def _check(seconds: Sequence[float], counted: Sequence[float]) -> None:
    if len(counted) != len(seconds):
        raise ValueError("a counter has not one reading for each second")
    if any(after < before for before, after in pairwise(seconds)):
        raise ValueError("the seconds go back")


@dataclass
class _Sum:
    """One step of the fleet: the ends of its stretches (epoch seconds), and the amount in each of them."""

    edges: Array
    moved: dict[str, Array] = field(default_factory=dict)
    instances: int = 0

    def add(self, name: str, at: Array, counted: Sequence[float], weight: float) -> None:
        in_each = np.maximum(0.0, np.diff(np.interp(self.edges, at, counted))) * weight
        self.moved[name] = self.moved[name] + in_each if name in self.moved else in_each


class Sums:
    """The steps of a cell, to which instances are added one by one: 1,000 at once would not fit in memory."""

    def __init__(self, files: Sequence[SampleFile]) -> None:
        """Lay each step from its first start to its last end into stretches of a second, or of more in a long one."""
        spans: dict[Step, tuple[float, float]] = {}
        self._left: dict[str, dict[str, Step]] = {}
        for file, sample in ((each, sample) for each in files for sample in each.samples):
            step = sample.point, sample.repetition
            start, end = spans.get(step, (sample.started_at, sample.ended_at))
            spans[step] = min(start, sample.started_at), max(end, sample.ended_at)
            self._left.setdefault(file.instance.id, {})[f"{sample.point}-r{sample.repetition}"] = step
        most = min(MAX_STRETCHES, max(MIN_STRETCHES, STRETCHES_OF_A_CELL // max(1, len(spans))))
        self._steps = {step: _Sum(_edges(*span, most)) for step, span in spans.items()}
        # Processes of one machine all count the same: each has its share of it.
        kernels = Counter(file.host.boot_id for file in files)
        self._weights = {
            file.instance.id: 1 / kernels[file.host.boot_id] if file.host.boot_id else 1.0 for file in files
        }

    def add(self, instance: str, curves: Mapping[str, StepCurve]) -> None:
        """Add an instance's curves by step (`p01-r1`), once each; skip steps without a sample of the instance."""
        for stem, curve in curves.items():
            if step := self._left.get(instance, {}).pop(stem, None):
                self._add(instance, self._steps[step], curve)

    def _add(self, instance: str, total: _Sum, curve: StepCurve) -> None:
        total.instances += 1
        at = curve.begun_at + np.array(curve.seconds)
        for name, counted in curve.counted.items():
            if words := MB_PER_S.get(name):
                total.add(words, at, counted, self._weights[instance] / 1e6)
            elif words := OPERATIONS_PER_S.get(name):
                total.add(words, at, counted, self._weights[instance])
        if done := curve.operations:
            total.add(BY_ENGINE, curve.begun_at + np.array(done.seconds), done.done, 1.0)

    def of_points(self) -> dict[str, list[OverTime]]:
        """Return the rates of each step with counts, by point, in the order of repetitions."""
        points: dict[str, list[OverTime]] = {}
        for (point, repetition), total in sorted(self._steps.items(), key=lambda step: step[0]):
            lengths = np.diff(total.edges)
            rates = {name: [float(f"{rate:.4g}") for rate in moved / lengths] for name, moved in total.moved.items()}
            if not any(map(any, rates.values())):
                continue
            points.setdefault(point, []).append(
                {
                    "repetition": repetition,
                    "instances": total.instances,
                    "seconds": [round(float(end - total.edges[0]), 2) for end in total.edges[1:]],
                    "mb_per_s": {name: rates[name] for name in MB_PER_S.values() if any(rates.get(name, []))},
                    "operations_per_s": {
                        name: rates[name]
                        for name in dict.fromkeys([BY_ENGINE, *OPERATIONS_PER_S.values()])
                        if any(rates.get(name, []))
                    },
                }
            )
        return points


def _edges(start: float, end: float, most: int) -> Array:
    """Return the ends of stretches of a second each; longer ones if there would be more than `most`."""
    length_s = max(1.0, (end - start) / most)
    # The rest of a second that is left belongs to the last stretch: too short a one shows only noise.
    count = max(1, math.floor((end - start) / length_s + 1e-6))
    return np.append(start + length_s * np.arange(count), max(end, start + 1e-3))
