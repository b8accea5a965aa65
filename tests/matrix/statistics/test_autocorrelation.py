"""Repetitions that resemble the ones before them count for less, where there are enough of them to show it.

Drawn are autoregressive series of order 1, whose true mean is 0 and whose true lag-1 correlation is known.
"""

import numpy as np
import pytest
from support.fleet_values import fleet, launched

from matrix.statistics.autocorrelation import MIN_IN_A_ROW, is_beyond_chance, measured
from matrix.statistics.differing import difference
from matrix.statistics.intervals import percentile_interval
from matrix.statistics.spread import independent_n, spread
from matrix.statistics.steadiness import findings


def series(rng, count, rho, deviation=1.0):
    values = [rng.normal()]
    for _ in range(count - 1):
        values.append(rho * values[-1] + np.sqrt(1 - rho**2) * rng.normal())
    return deviation * np.array(values)


def drawn(rng, rho, repetitions=10, instances=10):
    """A fleet whose repetitions differ by 5 %, each like the one before it."""
    own = 0.03 * rng.normal(size=(instances, 1)) + 0.02 * rng.normal(size=(instances, repetitions))
    return fleet(np.exp(own + series(rng, repetitions, rho, 0.05)), is_shared=True)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6])
def test_a_long_series_shows_its_own_autocorrelation(rho):
    rng = np.random.default_rng(1)
    assert np.median([measured(series(rng, 100, rho)).lag1 for _ in range(100)]) == pytest.approx(rho, abs=0.06)


@pytest.mark.parametrize("count", [8, 20])
def test_the_variance_of_the_mean_is_as_much_larger_as_theory_says(count):
    rng = np.random.default_rng(2)
    rows = np.array([series(rng, count, 0.5) for _ in range(20_000)])
    true = rows.mean(axis=1).var() / (rows.var(axis=1, ddof=1).mean() / count)
    correlations = 0.5 ** np.abs(np.arange(count)[:, None] - np.arange(count))
    # A series whose lag-1 coefficient is the one that is expected of 0.5, whatever else it is.
    times = correlations.sum() / count
    assert times * (count - 1) / (count - times) == pytest.approx(true, rel=0.05)
    factors = [measured(row) for row in rows[:2_000]]
    assert np.interp(0.5, *zip(*sorted((each.lag1, each.factor) for each in factors), strict=True)) == pytest.approx(
        true, rel=0.05
    )


def test_few_repetitions_cannot_tell_and_say_so():
    few = fleet([[1.0 + 0.1 * repetition for repetition in range(MIN_IN_A_ROW - 1)]] * 6, is_shared=True)
    assert measured(few.in_time()) is None
    assert spread(few)["lag1"] is None


def test_values_that_are_all_equal_are_not_autocorrelated():
    assert measured(np.full(10, 3.0)).factor == 1


def test_chance_is_taken_for_autocorrelation_in_one_of_twenty_series():
    rng = np.random.default_rng(3)
    for count in (MIN_IN_A_ROW, 20):
        assert 0.03 <= np.mean([is_beyond_chance(rng.normal(size=count)) for _ in range(2_000)]) <= 0.07


def test_intervals_are_wider_where_repetitions_resemble_each_other_and_hardly_where_not():
    """Without it 82 % of intervals held the truth at 0.5, and equal storages were called different in 14 %."""
    rng = np.random.default_rng(4)
    for rho, least, most_false in ((0.0, 0.92, 0.05), (0.5, 0.87, 0.07)):
        pairs = [(drawn(rng, rho), drawn(rng, rho)) for _ in range(120)]
        intervals = [percentile_interval(base, 50) for base, _ in pairs]
        assert np.mean([interval.low <= 1 <= interval.high for interval in intervals]) >= least
        compared = [difference(base, run) for base, run in pairs]
        assert np.mean([each.is_shown(each.p_value) for each in compared]) <= most_false


def test_slow_waves_are_worth_fewer_repetitions_and_are_a_finding():
    noise = 0.002 * np.random.default_rng(5).normal(size=(10, 16))
    levels = 0.02 * np.array([0, 1, 2, 3, 4, 5, 4.5, 3.5, 2.5, 1.5, 0.5, -0.5, 0.2, 1.2, 2.2, 3.2])
    wave = fleet(np.exp(levels + noise), is_shared=True)
    jumps = fleet(np.exp(levels[[7, 0, 5, 11, 2, 15, 9, 4, 13, 1, 8, 3, 14, 10, 6, 12]] + noise), is_shared=True)
    assert independent_n(wave) < independent_n(jumps) / 2
    of_wave, of_jumps = (
        [
            each
            for each in findings(values, higher_is_better=False, median_interval=None)
            if each.code == "autocorrelated"
        ]
        for values in (wave, jumps)
    )
    assert [(each.unit, each.count) for each in of_wave] == [("repetitions", 16)]
    assert of_wave[0].counts_as < 8
    assert not of_jumps


def test_launches_that_resemble_each_other_widen_the_interval_too():
    own = 0.01 * np.random.default_rng(6).normal(size=(10, 4, 3))
    levels = 0.1 * np.sin(np.arange(10) / 10 * 2 * np.pi)
    in_waves, mixed = (
        launched([np.exp(level + table) for level, table in zip(order, own, strict=True)])
        for order in (levels, levels[[0, 5, 2, 7, 4, 9, 6, 1, 8, 3]])
    )
    of_waves, of_mixed = (percentile_interval(cell, 50) for cell in (in_waves, mixed))
    assert of_waves.high - of_waves.low > 1.5 * (of_mixed.high - of_mixed.low)
