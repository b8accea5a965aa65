"""One metric of one point as a table: a row for each instance, a column for each repetition."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FleetValues:
    """Values of instances (rows) in repetitions (columns); NaN where an instance has none.

    `is_shared` says whether all instances use one file system. What it does in a repetition (a busy server, a burst
    that ends) then reaches all of them, so fifty instances in one repetition are fifty looks at one event.
    """

    instances: tuple[str, ...]
    repetitions: tuple[int, ...]
    table: Floats
    is_shared: bool

    @classmethod
    def of(cls, rows: Iterable[tuple[str, int, float]], *, is_shared: bool) -> "FleetValues":
        """Make the table from (instance, repetition, value) in any order."""
        cells = {(instance, repetition): value for instance, repetition, value in rows}
        instances = tuple(sorted({instance for instance, _ in cells}))
        repetitions = tuple(sorted({repetition for _, repetition in cells}))
        table = [[cells.get((instance, repetition), np.nan) for repetition in repetitions] for instance in instances]
        shape = len(instances), len(repetitions)
        return cls(instances, repetitions, np.array(table, dtype=float).reshape(shape), is_shared)

    @property
    def pooled(self) -> Floats:
        """All values, in no particular order."""
        return self.table[~np.isnan(self.table)]

    @property
    def units(self) -> Floats:
        """Rows to compare by rank: an instance each, with all its repetitions.

        Values of one instance in several repetitions share its volume, host and network path. One instance alone has
        nothing to share with: each of its repetitions is a row then.
        """
        return self.table.T if len(self.instances) == 1 else self.table

    @property
    def unit_name(self) -> str:
        """What a row of `units` is."""
        return "repetitions" if len(self.instances) == 1 else "instances"

    def unit_percentiles(self, level: float = 50) -> Floats:
        """One value for each row of `units`, the median unless another percentile is asked for."""
        return _row_percentiles(self.units, level)

    def instance_medians(self) -> Floats:
        """The median over the repetitions of each instance."""
        return _row_percentiles(self.table, 50)

    def repetition_medians(self) -> Floats:
        """The median over the instances of each repetition."""
        return self.repetition_percentiles(50)

    def repetition_percentiles(self, level: float) -> Floats:
        """A percentile over the instances of each repetition."""
        return _row_percentiles(self.table.T, level)


def _row_percentiles(rows: Floats, level: float) -> Floats:
    figures = np.percentile(rows, level, axis=1)  # NaN where a row has one
    for row in np.flatnonzero(np.isnan(figures)):
        figures[row] = np.percentile(rows[row][~np.isnan(rows[row])], level)
    return figures


def from_columns(samples: dict[str, Any], metric: str, *, is_shared: bool) -> FleetValues:
    """Read the `samples` of a point in result.json."""
    columns: Sequence[Sequence[Any]] = (samples["instance"], samples["repetition"], samples["metrics"].get(metric, []))
    return FleetValues.of(
        (
            (str(instance), int(repetition), float(value))
            for instance, repetition, value in zip(*columns, strict=False)
            if value is not None
        ),
        is_shared=is_shared,
    )
