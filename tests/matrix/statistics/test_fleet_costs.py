"""Ratios of costs: the time of the slowest instance over all work, with an interval that stragglers widen."""

import math

import numpy as np
import pytest
from support.fleet_values import fleet, launched

from matrix.statistics.fleet_costs import FleetTime, cost_ratio, needed_to_tell

HOURS_ONLY = (1.0, 1.0)


def seconds_of(rng, instances=10, repetitions=10, *, stragglers=0.0, times=3.0):
    """Seconds of a fleet with 1 % between instances, 0.5 % between repetitions, 1 % else, and stragglers."""
    noise = 0.01 * rng.normal(size=(instances, 1)) + 0.005 * rng.normal(size=(1, repetitions))
    seconds = 100 * np.exp(noise + 0.01 * rng.normal(size=(instances, repetitions)))
    return np.where(rng.random(seconds.shape) < stragglers, times, 1.0) * seconds


def time_of(table, **how):
    return FleetTime.of_equal_work(fleet(table, **how))


def ratio_of(one, other, by_hour=HOURS_ONLY):
    ratio = np.nanmax(one.seconds.table, axis=0).sum() / np.nanmax(other.seconds.table, axis=0).sum()
    return cost_ratio(one, other, float(ratio), by_hour=by_hour)


def test_of_fleets_without_noise_the_ratio_is_certain():
    slow, fast = time_of(np.full((4, 3), 20.0)), time_of(np.full((4, 3), 10.0))

    found = ratio_of(slow, fast)

    assert (found.low, found.ratio, found.high) == pytest.approx((2.0, 2.0, 2.0))


def test_what_is_not_replicated_has_no_interval():
    well, poor = time_of(np.full((4, 3), 10.0)), time_of(np.full((2, 3), 10.0))

    assert ratio_of(well, poor) is None
    assert ratio_of(poor, well) is None


@pytest.mark.parametrize(("stragglers", "times"), [(0.0, 1.0), (0.01, 3.0), (0.02, 3.0), (0.005, 5.0)])
def test_the_interval_holds_the_true_ratio_of_equal_fleets(stragglers, times):
    rng = np.random.default_rng(5)
    held = []
    for _ in range(60):
        one, other = (time_of(seconds_of(rng, stragglers=stragglers, times=times)) for _ in range(2))
        found = ratio_of(one, other)
        held.append(found.low <= 1 <= found.high)

    assert sum(held) >= 55  # of 60 at 95 %: fewer by chance in 3 of 100 series


def test_a_fleet_that_met_no_straggler_is_as_uncertain_as_the_other():
    rng = np.random.default_rng(6)
    even, uneven = time_of(seconds_of(rng)), time_of(seconds_of(rng, stragglers=0.05))

    assert math.sqrt(even.uncertainty.variance) < 0.01
    assert ratio_of(even, uneven).uncertainty.variance == pytest.approx(2 * uneven.uncertainty.variance)


def test_charges_by_the_byte_are_as_certain_as_their_prices():
    rng = np.random.default_rng(7)
    one, other = (time_of(seconds_of(rng, stragglers=0.02)) for _ in range(2))

    by_hour, by_byte = ratio_of(one, other), ratio_of(one, other, by_hour=(0.1, 0.1))

    assert math.log(by_byte.high / by_byte.ratio) == pytest.approx(0.1 * math.log(by_hour.high / by_hour.ratio))


def test_work_done_in_fixed_seconds_costs_less_by_rate():
    rng = np.random.default_rng(8)
    rates = 1e4 / seconds_of(rng)
    rates[0, 0] /= 100
    minute = fleet(np.full(rates.shape, 60.0))

    # A straggler ends with the others: what it did not do is a hundredth of the work.
    assert math.sqrt(FleetTime(minute, 60 * rates).uncertainty.variance) < 0.03


def test_a_slowest_instance_is_made_certain_by_repetitions_only():
    rng = np.random.default_rng(5)
    dear, cheap = (time_of(seconds_of(rng, 5, 5, stragglers=0.05)) for _ in range(2))
    found = cost_ratio(dear, cheap, 1.7, by_hour=HOURS_ONLY)

    size = needed_to_tell(dear, cheap, found, by_hour=HOURS_ONLY)
    too_near = cost_ratio(dear, cheap, 1.0001, by_hour=HOURS_ONLY)

    assert size["instances"] == 5
    assert size["repetitions"] > 5
    assert needed_to_tell(dear, cheap, too_near, by_hour=HOURS_ONLY) is None


def test_launches_of_one_run_are_pairs():
    rng = np.random.default_rng(9)
    hours = (1.0, 1.5, 0.8, 1.2)

    def of_launches(times):
        return FleetTime.of_equal_work(
            launched([times * hour * seconds_of(rng, instances=5, repetitions=3) for hour in hours])
        )

    found = ratio_of(of_launches(1.2), of_launches(1.0))

    assert found.low < 1.2 < found.high
    assert found.high / found.low < 1.1
