"""One metric of one point as a table: a row for each instance, a column for each repetition."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FleetValues:
    """Values of instances (rows) in repetitions (columns); NaN where an instance has none."""

    instances: tuple[str, ...]
    repetitions: tuple[int, ...]
    table: Floats

    @classmethod
    def of(cls, rows: Iterable[tuple[str, int, float]]) -> "FleetValues":
        """Make the table from (instance, repetition, value) in any order."""
        cells = {(instance, repetition): value for instance, repetition, value in rows}
        instances = tuple(sorted({instance for instance, _ in cells}))
        repetitions = tuple(sorted({repetition for _, repetition in cells}))
        table = [[cells.get((one, two), np.nan) for two in repetitions] for one in instances]
        return cls(instances, repetitions, np.array(table, dtype=float).reshape(len(instances), len(repetitions)))

    @property
    def pooled(self) -> Floats:
        """All values, in no particular order."""
        return self.table[~np.isnan(self.table)]

    @property
    def units(self) -> Floats:
        """Rows that are independent of each other.

        Values of one instance in several repetitions share its volume, host and network path, so a row is an
        instance. One instance alone has nothing to share with: each of its repetitions is a row then.
        """
        return self.table.T if len(self.instances) == 1 else self.table

    @property
    def unit_name(self) -> str:
        """What a row of `units` is."""
        return "repetitions" if len(self.instances) == 1 else "instances"

    def unit_medians(self) -> Floats:
        """One value for each independent unit."""
        return np.array([np.median(row[~np.isnan(row)]) for row in self.units])

    def instance_medians(self) -> Floats:
        """The median over the repetitions of each instance."""
        return np.array([np.median(row[~np.isnan(row)]) for row in self.table])

    def repetition_medians(self) -> Floats:
        """The median over the instances of each repetition."""
        return np.array([np.median(column[~np.isnan(column)]) for column in self.table.T])


def from_columns(samples: dict[str, Any], metric: str) -> FleetValues:
    """Read the `samples` of a point in result.json."""
    columns: Sequence[Sequence[Any]] = (samples["instance"], samples["repetition"], samples["metrics"].get(metric, []))
    return FleetValues.of(
        (str(instance), int(repetition), float(value))
        for instance, repetition, value in zip(*columns, strict=False)
        if value is not None
    )
