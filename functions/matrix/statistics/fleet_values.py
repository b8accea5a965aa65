"""One metric of one point as a table: a row for each instance, a column for each repetition.

A cell with several launches has other instances each time, on another file system. Instances and repetitions do not
average out the effects that a launch shares (its hosts, its place, the hour). So the launches are the units, and a
percentile is that of a typical launch: the geometric mean of the launches' own. The pooled P90 of three launches would
be mostly that of the slowest, and its 95 % interval covered the true value in 86 to 92 % of simulated cells; this one's
in 93 to 97 % (launches as units: Abedi & Brecht, ICPE 2017; Kalibera & Jones, ISMM 2013, section 4).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matrix.terms.documents.result import SampleColumns

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FleetValues:
    """Values of instances (rows) in repetitions (columns); NaN if an instance has none.

    `is_shared`: all instances use one file system. An event in a repetition (a busy server, the end of a burst) then
    affects all of them, so fifty instances in one repetition are fifty observations of one event.

    `launch_numbers` has the number of each instance's launch, if several launches were planned; else it is empty.
    """

    instances: tuple[str, ...]
    repetitions: tuple[int, ...]
    table: Floats
    is_shared: bool
    launch_numbers: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        rows: Iterable[tuple[str, int, float]],
        *,
        is_shared: bool,
        launch_of: Mapping[str, int] | None = None,
    ) -> "FleetValues":
        """Make the table from (instance, repetition, value) in any order; `launch_of` has each instance's launch."""
        cells = {(instance, repetition): value for instance, repetition, value in rows}
        instances = tuple(sorted({instance for instance, _ in cells}))
        repetitions = tuple(sorted({repetition for _, repetition in cells}))
        table = [[cells.get((instance, repetition), np.nan) for repetition in repetitions] for instance in instances]
        shape = len(instances), len(repetitions)
        numbers = tuple(launch_of[instance] for instance in instances) if launch_of else ()
        return cls(instances, repetitions, np.array(table, dtype=float).reshape(shape), is_shared, numbers)

    @classmethod
    def of_rows(
        cls,
        instances: Sequence[str],
        repetitions: Sequence[int],
        rows: Sequence[Sequence[float | None]],
        *,
        is_shared: bool,
        launch_numbers: Sequence[int] = (),
    ) -> "FleetValues":
        """Make the table from rows of values, None for a missing one; rows and columns without values are left out."""
        table = np.array(rows, dtype=float).reshape(len(instances), len(repetitions))
        is_there = ~np.isnan(table)
        if not is_there.all():
            which, columns = (np.flatnonzero(is_there.any(axis=axis)).tolist() for axis in (1, 0))
            table = table[np.ix_(which, columns)]
            instances, repetitions = [instances[row] for row in which], [repetitions[column] for column in columns]
            launch_numbers = [launch_numbers[row] for row in which] if launch_numbers else ()
        return cls(tuple(instances), tuple(repetitions), table, is_shared, tuple(launch_numbers))

    def rows(self, instances: Sequence[str], repetitions: Sequence[int]) -> list[list[float | None]]:
        """Return the table with a row for each of these instances and a column for each of these repetitions."""
        row_of = {instance: row for row, instance in enumerate(instances)}
        columns = [repetitions.index(repetition) for repetition in self.repetitions]
        whole = np.full((len(instances), len(repetitions)), None, dtype=object)
        whole[np.ix_([row_of[instance] for instance in self.instances], columns)] = np.where(
            np.isnan(self.table), np.array(None), self.table
        )
        rows: list[list[float | None]] = whole.tolist()
        return rows

    @cached_property
    def launches(self) -> tuple["FleetValues", ...]:
        """The table of each launch, in their order; only the whole table if one launch was planned."""
        return tuple(map(self._of_launch, sorted(set(self.launch_numbers)))) or (self,)

    @property
    def is_relaunched(self) -> bool:
        """Whether launches are the units, also if all but one have failed, because more were planned."""
        return bool(self.launch_numbers)

    def _of_launch(self, number: int) -> "FleetValues":
        rows = [row for row, launch in enumerate(self.launch_numbers) if launch == number]
        table = self.table[rows]
        columns = np.flatnonzero(~np.isnan(table).all(axis=0))
        instances, repetitions = [self.instances[row] for row in rows], [self.repetitions[i] for i in columns]
        return FleetValues(tuple(instances), tuple(repetitions), table[:, columns], self.is_shared)

    @property
    def pooled(self) -> Floats:
        """All values, in no particular order."""
        return self.table[~np.isnan(self.table)]

    @property
    def units(self) -> Floats:
        """Rows to compare by rank: an instance each, with all its repetitions.

        Values of one instance in several repetitions share its volume, host and network path. One instance alone has
        nothing to share with: each of its repetitions is a row then. Of several launches each is a row, with all values
        of its instances.
        """
        if self.is_relaunched:
            each = [launch.pooled for launch in self.launches]
            most = max(map(len, each))
            return np.array([np.pad(values, (0, most - len(values)), constant_values=np.nan) for values in each])
        return self.table.T if len(self.instances) == 1 else self.table

    @property
    def unit_name(self) -> str:
        """The name of a row of `units`."""
        if self.is_relaunched:
            return "launches"
        return "repetitions" if len(self.instances) == 1 else "instances"

    @property
    def has_logarithms(self) -> bool:
        """Whether figures are compared by their logarithms: if all are above 0, like durations and rates."""
        return bool(self.pooled.min() > 0)

    def percentile(self, level: float) -> float:
        """A percentile of all values; for several launches the mean of their own, geometric if `has_logarithms`."""
        if not self.is_relaunched:
            return float(_percentiles(self.pooled[np.newaxis], level)[0])
        figures = self.unit_percentiles(level)
        return float(np.exp(np.log(figures).mean()) if self.has_logarithms else figures.mean())

    def unit_percentiles(self, level: float = 50) -> Floats:
        """One value for each row of `units`: the median or another percentile."""
        return _row_percentiles(self.units, level)

    def instance_medians(self) -> Floats:
        """The median over the repetitions of each instance."""
        return _row_percentiles(self.table, 50)

    def repetition_medians(self) -> Floats:
        """The median over the instances of each repetition."""
        return self.repetition_percentiles(50)

    def in_time(self) -> Floats:
        """The medians of repetitions, or of several launches, in the order of time.

        As logarithms if `has_logarithms`.
        """
        medians = self.unit_percentiles() if self.is_relaunched else self.repetition_medians()
        return np.log(medians) if self.has_logarithms else medians

    def repetition_percentiles(self, level: float) -> Floats:
        """A percentile over the instances of each repetition."""
        return _row_percentiles(self.table.T, level)


def _row_percentiles(rows: Floats, level: float) -> Floats:
    figures = _percentiles(rows, level)  # NaN for a row with a NaN
    for row in np.flatnonzero(np.isnan(figures)):
        figures[row] = np.percentile(rows[row][~np.isnan(rows[row])], level)
    return figures


def _percentiles(rows: Floats, level: float) -> Floats:
    """Return a percentile of each row, bit for bit numpy's, which takes several times as long for few values."""
    last = rows.shape[1] - 1
    place = last * (level / 100)
    below = math.floor(place)
    # NaN is sorted to the end, and makes the figure NaN.
    ordered = np.sort(rows, axis=1)
    low, high, share = ordered[:, below], ordered[:, min(below + 1, last)], place - below
    figures: Floats = low + (high - low) * share if share < 1 / 2 else high - (high - low) * (1 - share)
    figures[np.isnan(ordered[:, last])] = np.nan
    return figures


def from_columns(samples: SampleColumns, metric: str, *, is_shared: bool) -> FleetValues:
    """Read the `samples` of a point in result.json; of several launches they have the launch of each sample."""
    launch_of = dict(zip(samples["instance"], samples.get("launch") or (), strict=False))
    columns: Sequence[Sequence[Any]] = (samples["instance"], samples["repetition"], samples["metrics"].get(metric, []))
    return FleetValues.of(
        (
            (str(instance), int(repetition), float(value))
            for instance, repetition, value in zip(*columns, strict=False)
            if value is not None
        ),
        is_shared=is_shared,
        launch_of=launch_of,
    )
