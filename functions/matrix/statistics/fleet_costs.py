"""Whether the work of one fleet costs more than that of another, by chance or truly.

A fleet is paid for until its last instance is done, so a result costs the time of the slowest instance of each
repetition over the work of all. That figure depends on few values: ten instances with one straggler in a hundred values
differ by 16 % from run to run. Its uncertainty is found as that of percentiles, by the same draws (`resampling`).

A fleet that met no straggler looks as certain as one that never has any. So both sides of a ratio count with the larger
of both variances: of two equal storages with 2 % of stragglers the dearer one was then never shown to be the cheaper
one in 1,950 simulated pairs, by Welch's sum of variances in 2.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrix.statistics.autocorrelation import Autocorrelation, assumed
from matrix.statistics.deciding import REPETITIONS_TRIED, detected, more_launches
from matrix.statistics.fleet_values import FleetValues, Floats
from matrix.statistics.resampling import DRAWS, Counts, drawn_counts, lacks_replication
from matrix.statistics.uncertainty import INSTANCES, LAUNCHES, REPETITIONS, Uncertainty, of_crossed, of_successive
from matrix.terms.documents import summary as documents
from matrix.terms.findings.replication import MIN_LAUNCHES, NeededReplication

# Instances of a repetition that may be the slowest of a draw.
SLOWEST = 32


@dataclass(frozen=True)
class FleetTime:
    """Seconds of each instance (rows) in each repetition (columns), and the work that it did in them, in any unit."""

    seconds: FleetValues
    work: Floats

    @classmethod
    def of_equal_work(cls, seconds: FleetValues) -> "FleetTime":
        """Return the time of a fleet whose instances all do the same work."""
        return cls(seconds, np.where(np.isnan(seconds.table), np.nan, 1.0))

    @cached_property
    def uncertainty(self) -> Uncertainty | None:
        """That of the logarithm of the time for a piece of work; None if it was not replicated."""
        if lacks_replication(self.seconds):
            return None
        if self.seconds.is_relaunched:
            times = np.array(list(self.by_launch().values()))
            return of_successive(float(times.var(ddof=1)) / len(times), assumed(times), LAUNCHES)
        count, repetitions = self.seconds.table.shape
        seconds, work = np.nan_to_num(self.seconds.table), np.nan_to_num(self.work)
        of_instances = drawn_counts(INSTANCES, count)
        of_repetitions = drawn_counts(REPETITIONS, repetitions)
        measured = seconds.max(axis=0)[:, None], work.sum(axis=0)[:, None]
        drawn = _slowest(seconds, of_instances), work.T @ of_instances
        as_drawn, by_repetitions, by_both = (
            float(np.log(_times(slowest, done, counts)).var(ddof=1))
            for slowest, done, counts in ((*drawn, None), (*measured, of_repetitions), (*drawn, of_repetitions))
        )
        slowest = np.log(np.nanmax(self.seconds.table, axis=0))
        return of_crossed(
            as_drawn * count / (count - 1),
            by_repetitions * repetitions / (repetitions - 1),
            max(0.0, by_both - as_drawn - by_repetitions),
            instances=count,
            alike=assumed(slowest),
        )

    def with_repetitions(self, repetitions: int) -> Uncertainty | None:
        """Return the uncertainty with more repetitions of as many instances; as it is where one of them is slow.

        More instances would not lower it: the more there are, the more often one is a straggler.
        """
        known = self.uncertainty
        if known is None or known.limited_by == INSTANCES:
            return known
        share = len(self.seconds.repetitions) / repetitions
        return of_successive(known.variance * share, Autocorrelation.planned(repetitions), REPETITIONS)

    def by_launch(self) -> dict[int, float]:
        """Return the logarithm of the time for a piece of work in each launch."""
        numbers = np.array(self.seconds.launch_numbers)
        times: dict[int, float] = {}
        for launch in sorted(set(self.seconds.launch_numbers)):
            rows = numbers == launch
            slowest = np.nanmax(self.seconds.table[rows], axis=0, initial=0.0)
            times[launch] = math.log(float(slowest.sum()) / float(np.nansum(self.work[rows])))
        return times


@dataclass(frozen=True)
class CostRatio:
    """The cost of one fleet's work over that of another, with the ends of its 95 % interval."""

    ratio: float
    low: float
    high: float
    uncertainty: Uncertainty | None  # of its logarithm; None without single values

    def to_document(self) -> documents.CostRatio:
        """As it is in summary.json."""
        return {"ratio": self.ratio, "low": self.low, "high": self.high}


def cost_ratio(one: FleetTime, other: FleetTime, ratio: float, *, by_hour: tuple[float, float]) -> CostRatio | None:
    """Return the ratio of two costs with its interval; None if one of both was not replicated.

    `by_hour` are the shares of each cost that grow with time, as hours do and charges by the byte do not.
    """
    spread = (
        _of_launches(one, other) if one.seconds.is_relaunched else _larger(one.uncertainty, other.uncertainty, by_hour)
    )
    if spread is None:
        return None
    half = min(spread.half_width(), 300.0) if spread.variance > 0 else 0.0
    return CostRatio(ratio, ratio * math.exp(-half), ratio * math.exp(half), spread)


def needed_to_tell(
    one: FleetTime, other: FleetTime, cost: CostRatio, *, by_hour: tuple[float, float]
) -> NeededReplication | None:
    """Return the data with which a ratio of costs that stays as it is would be told from 1 in 80 % of the runs.

    None if no reasonable number of repetitions, or launches, shows it.
    """
    known, distance = cost.uncertainty, abs(math.log(cost.ratio))
    if known is None or not distance:
        return None
    if one.seconds.is_relaunched:
        return more_launches(min(len(each.seconds.launches) for each in (one, other)), known, distance)
    count, repetitions = (min(each.seconds.table.shape[axis] for each in (one, other)) for axis in (0, 1))
    for more in (each for each in REPETITIONS_TRIED if each > repetitions):
        planned = _larger(one.with_repetitions(more), other.with_repetitions(more), by_hour)
        if planned and detected(planned, known.degrees_of_freedom) <= distance:
            return {"instances": count, "repetitions": more}
    return None


def _larger(one: Uncertainty | None, other: Uncertainty | None, by_hour: tuple[float, float]) -> Uncertainty | None:
    """Return the uncertainty of the ratio if both sides have the larger of both variances."""
    if one is None or other is None:
        return None
    sides = [
        Uncertainty(each.variance * share**2, each.degrees_of_freedom, each.limited_by)
        for each, share in zip((one, other), by_hour, strict=True)
    ]
    larger = max(sides, key=lambda each: each.variance)
    return Uncertainty(2 * larger.variance, larger.degrees_of_freedom, larger.limited_by)


def _of_launches(one: FleetTime, other: FleetTime) -> Uncertainty | None:
    """Return the uncertainty over launches: those of one number are pairs, as in `differing`."""
    mine, theirs = one.by_launch(), other.by_launch()
    pairs = np.array([mine[launch] - theirs[launch] for launch in mine if launch in theirs])
    if len(pairs) < MIN_LAUNCHES:
        return None
    return of_successive(float(pairs.var(ddof=1)) / len(pairs), assumed(pairs), LAUNCHES)


def _times(slowest: Floats, done: Floats, of_repetitions: Counts | None) -> Floats:
    """Return the time for a piece of work in each draw, by the slowest instance and the work of each repetition.

    `of_repetitions` is how often each is in a draw; None: once.
    """
    if of_repetitions is not None:
        slowest, done = slowest * of_repetitions, done * of_repetitions
    done = done.sum(axis=0)
    # A draw of instances and repetitions that miss each other has no value.
    times: Floats = slowest.sum(axis=0)[done > 0] / done[done > 0]
    return times


def _slowest(seconds: Floats, of_instances: Counts) -> Floats:
    """Return the time of the slowest drawn instance: repetitions x draws."""
    slowest = np.empty((seconds.shape[1], DRAWS))
    for repetition, column in enumerate(seconds.T):
        # One of the SLOWEST is in each draw but one of e^SLOWEST.
        last = np.argsort(column)[: -SLOWEST - 1 : -1]
        slowest[repetition] = (column[last, None] * (of_instances[last] > 0)).max(axis=0)
    return slowest
