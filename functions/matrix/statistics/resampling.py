"""The distribution of percentiles and the mean of a fleet's values over other instances and other repetitions.

Two-way bootstrap: instances and repetitions are drawn with replacement, each alone and both together (the
pigeonhole bootstrap, Owen 2007, Ann. Appl. Stat. 1, 386-411). No resampling of a crossed table gives the variance of
its mean exactly (McCullagh 2000, Bernoulli 6, 285-301): drawing both counts the residual three times instead of once,
drawing instances only or repetitions only counts it once each. So with V for the variance over draws,

    residual = V(both) - V(instances) - V(repetitions),

and each V(k) of n units is n / (n - 1) times as large as drawn, since draws spread around the sample's mean and not
around the truth. `uncertainty` adds them up.

With several launches nothing is drawn. Instances and repetitions are within a launch, so the variance between the
launches' figures includes theirs: that variance over the number of launches is the variance of their mean, with one
degree of freedom less than there are launches (nested design: Searle, Casella & McCulloch 1992, 3.6).

Repetitions follow each other, and so do launches: from eight of them on, their autocorrelation is measured, and the
variance is multiplied by its factor (`autocorrelation`).
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matrix.statistics.autocorrelation import assumed
from matrix.statistics.fleet_values import FleetValues, Floats
from matrix.statistics.uncertainty import (
    INSTANCES,
    LAUNCHES,
    REPETITIONS,
    Uncertainty,
    of_crossed,
    of_independent,
    of_successive,
)
from matrix.terms.findings.replication import MIN_LAUNCHES, MIN_REPETITIONS, NOT_REPLICATED, Shortage, shortages_of
from matrix.terms.quantities import count_of

DRAWS = 999
# The same samples must give the same interval, in the Lambda function and on a laptop.
SEEDS = {INSTANCES: 20_261_120, REPETITIONS: 20_261_121}
# Counts in memory at once: two megabytes, which fit into a processor's cache, for any size of fleet.
MAX_AT_ONCE = 500_000
# With fewer instances nothing can be resampled: the median of 5 independent values has no 95 % interval at all.
MIN_UNITS = 6
MEAN = "mean"

Counts = NDArray[np.signedinteger[Any]]
# Stands for the counts of a side that is not drawn.
_ONCE: Counts = np.ones((1, 1), dtype=np.int32)


def uncertainties(values: FleetValues, levels: Sequence[float]) -> dict[float | str, Uncertainty]:
    """Return the uncertainty of each percentile and the mean, of logarithms if `values.has_logarithms`.

    Keyed by level, and `mean`; empty if `why_none` has a reason.
    """
    if why_none(values):
        return {}
    if values.is_relaunched:
        return _between_launches(values, levels)
    count, repetitions = values.table.shape
    by_instances = _variances(values, levels, instances=True, repetitions=False)
    if not is_two_way(values):
        return {name: of_independent(variance, count, INSTANCES) for name, variance in by_instances.items()}
    by_repetitions = _variances(values, levels, instances=False, repetitions=True)
    by_both = _variances(values, levels, instances=True, repetitions=True)
    alike = assumed(values.in_time())
    return {
        name: of_crossed(
            variance,
            by_repetitions[name],
            max(0.0, by_both[name] - _as_drawn(variance, count) - _as_drawn(by_repetitions[name], repetitions)),
            instances=count,
            alike=alike,
        )
        for name, variance in by_instances.items()
    }


def why_none(values: FleetValues) -> str | None:
    """Write why the uncertainty of a fleet's figures is unknown, and advice; None if it is known."""
    if values.is_relaunched:
        count = len(values.launches)
        return None if count >= MIN_LAUNCHES else _too_few(count, "launch", MIN_LAUNCHES)
    count, repetitions = len(values.instances), len(values.repetitions)
    if count < MIN_UNITS:
        return f"{_too_few(count, 'instance')} (`count`), or {MIN_LAUNCHES} `launches`"
    if values.is_shared and repetitions < MIN_REPETITIONS:
        return (
            f"{NOT_REPLICATED}: all instances share the storage, and {count_of(repetitions, 'repetition')} cannot show "
            f"how much it differs from one to the next; an interval needs at least {MIN_REPETITIONS}"
        )
    return None


def lacks_replication(values: FleetValues) -> tuple[Shortage, ...]:
    """Return the shortages that forbid a comparison with another fleet or hour; empty if there are none.

    One or two instances do not show how much instances differ: equal storages that were measured on one instance each,
    with 3 % between instances, were called different in 26 to 45 % of simulated pairs. One or two repetitions do not
    show how much hours differ, even with a volume for each instance: 52 to 87 % with 5 % between hours.
    """
    return shortages_of(
        len(values.instances), len(values.repetitions), len(values.launches) if values.is_relaunched else None
    )


def is_two_way(values: FleetValues) -> bool:
    """Whether both instances and repetitions are drawn: if there are enough of both, in one launch."""
    is_enough = len(values.instances) >= MIN_UNITS and len(values.repetitions) >= MIN_REPETITIONS
    return is_enough and not values.is_relaunched


def resampled(values: FleetValues) -> str:
    """Name the drawn units."""
    return f"{INSTANCES} and {REPETITIONS}" if is_two_way(values) else values.unit_name


def _too_few(count: int, unit: str, least: int = MIN_UNITS) -> str:
    return f"{count_of(count, unit)}: an interval needs at least {least}"


def _between_launches(values: FleetValues, levels: Sequence[float]) -> dict[float | str, Uncertainty]:
    figures = np.array(
        [[*np.percentile(launch.pooled, levels), launch.pooled.mean()] for launch in values.launches], dtype=float
    )
    if values.has_logarithms:
        figures = np.log(figures)
    count = len(figures)
    variances = figures.var(axis=0, ddof=1) / count
    names: list[float | str] = [*levels, MEAN]
    alike = assumed(values.in_time())
    return {
        name: of_successive(float(variance), alike, LAUNCHES) for name, variance in zip(names, variances, strict=True)
    }


def _as_drawn(variance: float, count: int) -> float:
    return variance * (count - 1) / count


def _variances(
    values: FleetValues, levels: Sequence[float], *, instances: bool, repetitions: bool
) -> dict[float | str, float]:
    """Variances over draws, scaled to those of as many new instances or repetitions."""
    drawn = np.concatenate(list(_drawn_figures(values, levels, instances=instances, repetitions=repetitions)), axis=1)
    if values.has_logarithms:
        drawn = np.log(drawn)
    variances = drawn.var(axis=1, ddof=1)
    # A variance over both draws is not scaled: `uncertainties` subtracts the two others as they were drawn.
    if not (instances and repetitions):
        count = len(values.instances) if instances else len(values.repetitions)
        variances = variances * count / (count - 1)
    return dict(zip([*levels, MEAN], variances.tolist(), strict=True))


def _drawn_figures(
    values: FleetValues, levels: Sequence[float], *, instances: bool, repetitions: bool
) -> Iterator[Floats]:
    """Yield tables of figures: a row for each level and one for the mean, a column for each draw.

    A draw has counts, not copies: the count of a value is that of its instance times that of its repetition.
    """
    is_there = ~np.isnan(values.table)
    known = np.where(is_there, values.table, 0.0)
    rows, columns = np.nonzero(is_there)
    order = np.argsort(values.table[rows, columns])
    rows, columns = rows[order], columns[order]
    ordered = values.table[rows, columns]
    # The table's size bounds the count of all drawn values; counts with half the bytes take half the time.
    kind = np.dtype(np.int16 if values.table.size <= np.iinfo(np.int16).max else np.int32)
    block = _block(len(ordered))
    batch = max(1, MAX_AT_ONCE // len(ordered))
    for first in range(0, DRAWS, batch):
        part = slice(first, first + batch)
        of_instances = drawn_counts(INSTANCES, len(values.instances), kind)[:, part] if instances else _ONCE
        of_repetitions = drawn_counts(REPETITIONS, len(values.repetitions), kind)[:, part] if repetitions else _ONCE
        drawn = max(of_instances.shape[1], of_repetitions.shape[1])
        # Whole blocks, so that sums of blocks find the block of a rank, and only that one is searched.
        times = np.zeros((-(-len(ordered) // block) * block, drawn), dtype=kind)
        times[: len(ordered)] = of_instances[rows] if instances else of_repetitions[columns]
        if instances and repetitions:
            times[: len(ordered)] *= of_repetitions[columns]
        up_to = times.reshape(-1, block, drawn).sum(axis=1, dtype=kind).cumsum(axis=0, dtype=kind)
        sums = _sums(known, of_instances, of_repetitions)
        has_values = up_to[-1] > 0
        if not has_values.all():
            # If every drawn instance misses every drawn repetition, the draw has no value and is left out.
            times, up_to, sums = np.ascontiguousarray(times[:, has_values]), up_to[:, has_values], sums[has_values]
        yield np.vstack([_percentiles(ordered, times, up_to, levels), sums / up_to[-1]])


def _block(count: int) -> int:
    """Return the size of a block whose counts are summed before the search of a rank: about the root, a power of 2."""
    return 1 << round(math.log2(count) / 2)


def _sums(known: Floats, of_instances: Counts, of_repetitions: Counts) -> Floats:
    """Return the sum of each draw's values; `known` has 0 if an instance has no value."""
    by_repetition = known.sum(axis=0)[:, None] if of_instances is _ONCE else known.T @ of_instances
    sums: Floats = (by_repetition * of_repetitions).sum(axis=0)
    return sums


@lru_cache(maxsize=16)
def drawn_counts(unit: str, count: int, kind: np.dtype[Any] = np.dtype(np.int32)) -> Counts:  # noqa: B008 - a constant
    """Return how often each of `count` instances, or repetitions (rows), is in each draw of as many (columns).

    The same draws for all cells.
    """
    generator = np.random.default_rng([SEEDS[unit], count])
    drawn = generator.integers(count, size=(DRAWS, count)) + count * np.arange(DRAWS)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=DRAWS * count).reshape(DRAWS, count)
    return np.ascontiguousarray(counts.T, dtype=kind)


def _percentiles(ordered: Floats, times: Counts, up_to: Counts, levels: Sequence[float]) -> Floats:
    """The percentiles of each draw (levels x draws), linear as numpy's.

    `times` is how often each value was drawn (values in rising order, in whole blocks, x draws), `up_to` how many drawn
    values are in each block or an earlier one.
    """
    last = up_to[-1].astype(np.int32) - 1
    ranks = last * (np.array(levels, dtype=float) / 100)[:, None]
    below = np.floor(ranks).astype(np.int32)
    both = np.concatenate([below, np.minimum(below + 1, last)])
    low, high = np.split(ordered[_positions(times, up_to, both)], 2)
    percentiles: Floats = low + (high - low) * (ranks - below)
    return percentiles


def _positions(times: Counts, up_to: Counts, ranks: Counts) -> NDArray[np.intp]:
    """Return the positions of the drawn values of these ranks (0-based; ranks x draws) among the ordered values."""
    blocks, drawn = up_to.shape
    size, ranks = len(times) // blocks, ranks.astype(times.dtype)
    block: NDArray[np.intp] = np.zeros(ranks.shape, dtype=np.intp)
    for counted in up_to[:-1]:
        block += counted <= ranks
    draws = np.arange(drawn)
    before = np.where(block > 0, up_to[block - 1, draws], 0)
    position: NDArray[np.intp] = block * size
    # Positions in the flat table at which the counts of each block begin, for each draw.
    begins = position * drawn + draws
    flat = times.reshape(-1)
    for value in range(size - 1):
        before = before + flat[begins + value * drawn]
        position += before <= ranks
    return position
