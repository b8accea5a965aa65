"""The bound of a percentile, slowdowns, and the data that decides: known truths, drawn."""

import math

import numpy as np
import pytest
from support.fleet_values import fleet, launched

from matrix.statistics.deciding import Slowdown, bound, needed
from matrix.statistics.differing import difference
from matrix.statistics.uncertainty import INSTANCES, Uncertainty

Z90 = 1.2816


def drawn(rng, instances, repetitions, *, of_instances=0.05, of_repetitions=0.05, middle=0.0):
    """A fleet of log-normal values, with a residual of 2 %."""
    shape = instances, repetitions
    return fleet(
        np.exp(
            middle
            + of_instances * rng.normal(size=(instances, 1))
            + of_repetitions * rng.normal(size=(1, repetitions))
            + 0.02 * rng.normal(size=shape)
        )
    )


@pytest.mark.parametrize(
    ("size", "noise"),
    [
        ((3, 3), (0.1, 0.0)), ((3, 5), (0.05, 0.05)), ((10, 3), (0.1, 0.0)), ((30, 3), (0.02, 0.05)),
        ((40, 3), (0.03, 0.05)),
    ],
)  # fmt: skip
def test_the_bound_of_a_percentile_holds_it(size, noise):
    rng = np.random.default_rng(1)
    p90 = math.exp(Z90 * math.hypot(*noise, 0.02))
    fleets = [drawn(rng, *size, of_instances=noise[0], of_repetitions=noise[1]) for _ in range(100)]

    assert np.mean([bound(values, 90, is_upper=True) >= p90 for values in fleets]) >= 0.94
    assert np.mean([bound(values, 10, is_upper=False) <= 1 / p90 for values in fleets]) >= 0.94
    # The worst of few values alone would be too good.
    assert size[0] >= 36 or all(bound(values, 90, is_upper=True) >= values.pooled.max() for values in fleets)


def test_a_bound_is_the_end_of_an_interval_or_the_worst_value_with_enough_samples_and_unknown_of_one_instance():
    rng = np.random.default_rng(2)
    many, alone = drawn(rng, 40, 10), drawn(rng, 1, 3)
    independent = drawn(rng, 20, 5, of_instances=0.0, of_repetitions=0.0)

    assert np.percentile(many.pooled, 90) < bound(many, 90, is_upper=True) < many.pooled.max() * 1.1
    assert bound(alone, 90, is_upper=True) is None
    assert bound(independent, 90, is_upper=True) == independent.pooled.max()


def test_the_bounds_of_few_launches_lie_beyond_all_their_values():
    rng = np.random.default_rng(5)
    values = launched([drawn(rng, 4, 3, middle=0.05 * rng.normal()).table for _ in range(3)])

    low, high = (bound(values, level, is_upper=is_upper) for level, is_upper in ((10, False), (90, True)))

    assert low < values.pooled.min()
    assert high > values.pooled.max()
    # What lies as far apart is decided by one launch more than there are.
    between = difference(values, launched([2 * launch.table for launch in values.launches]))
    assert needed([values, values], between.uncertainty, 10.0, 50) == {"launches": 4}


def test_a_rate_that_is_half_is_twice_as_slow():
    rng = np.random.default_rng(3)
    fast, slow = (drawn(rng, 6, 3, of_instances=0.01, of_repetitions=0.0, middle=math.log(rate)) for rate in (200, 100))

    of_rate = Slowdown.of(difference(fast, slow), higher_is_better=True)
    of_time = Slowdown.of(difference(slow, fast), higher_is_better=False)

    assert of_rate.ratio == pytest.approx(2, rel=0.05)
    assert of_rate.low < of_rate.ratio < of_rate.high
    assert (of_rate.low, of_rate.high) == pytest.approx((of_time.low, of_time.high), rel=0.01)


def test_the_data_that_is_named_decides_in_most_runs():
    rng = np.random.default_rng(4)
    noise = {"of_instances": 0.03, "of_repetitions": 0.02}
    two = [drawn(rng, 5, 8, **noise) for _ in range(2)]
    between = difference(*two)

    size = needed(two, between.uncertainty, math.log(1.05), 50)
    near, far = (needed(two, between.uncertainty, math.log(times), 50) for times in (1.02, 1.1))

    decided = []
    for _ in range(30):
        more = [drawn(rng, size["instances"], size["repetitions"], **noise) for _ in range(2)]
        decided.append(difference(*more).interval.high < 1.05)
    assert np.mean(decided) >= 0.6
    assert near is None or math.prod(near.values()) > math.prod(size.values()) >= math.prod(far.values())
    assert needed(two, between.uncertainty, 0.0, 50) is None


def test_a_fleet_that_is_ranked_by_its_tail_needs_more_data():
    rng = np.random.default_rng(6)
    two = [drawn(rng, 10, 5, of_instances=0.05, of_repetitions=0.001) for _ in range(2)]
    known, distance = difference(*two).uncertainty, math.log(1.03)

    middle, tail = needed(two, known, distance, 50), needed(two, known, distance, 50, tail=90)

    # From 36 instances on P90 ranks, whose variance is 1.86 times that of the median.
    assert middle["instances"] > 36
    assert tail["instances"] / middle["instances"] == pytest.approx(1.86, rel=0.05)


def test_a_variance_that_is_hardly_known_takes_more_data():
    rng = np.random.default_rng(7)
    two = [drawn(rng, 10, 5, of_instances=0.05, of_repetitions=0.001) for _ in range(2)]
    known = difference(*two).uncertainty

    poor, well = (
        needed(two, Uncertainty(known.variance, degrees, INSTANCES), math.log(1.04), 50) for degrees in (4.0, 1000.0)
    )

    assert poor["instances"] > 1.4 * well["instances"]
