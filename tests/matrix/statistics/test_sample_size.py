"""Which percentiles n values carry: the rule recomputed from the chance that all n lie below the percentile."""

import numpy as np
import pytest

from matrix.statistics.percentiles import at_least, at_most
from matrix.statistics.sample_size import has_enough_samples, needed


@pytest.mark.parametrize(("level", "count"), [(50, 6), (75, 13), (90, 36), (98, 183), (99.9, 3688)])
def test_a_percentile_needs_so_many_values_that_all_lie_below_it_in_at_most_one_of_forty_fleets(level, count):
    share = level / 100

    assert needed(level) == count
    assert [has_enough_samples(level, known) for known in (count - 1, count)] == [False, True]
    assert share**count <= 0.025 < share ** (count - 1)


def test_ten_values_say_that_p90_is_at_least_their_seventh():
    values = np.arange(1.0, 11.0)

    # P(Binomial(10, 0.9) >= 7) = 0.9872, of 8 it is 0.9298 (tables of the binomial distribution).
    assert at_least(values, 90, 10) == 7


def test_ten_values_say_that_p10_is_at_most_their_fourth():
    values = np.arange(1.0, 11.0)

    # The seventh from above, by the same binomial as P90.
    assert at_most(values, 10, 10) == 4
    assert at_most(values, 2, 10) == 2


def test_five_values_bound_no_median_from_below_and_six_do():
    # P(Binomial(5, 0.5) >= 1) = 31/32 = 0.969 < 0.975 <= 63/64.
    assert at_least(np.arange(5.0), 50, 5) is None
    assert at_least(np.arange(6.0), 50, 6) == 0
    # The 95 % interval of the median of 100 is that of their 40th and 61st (tables of the sign test).
    values = np.arange(1.0, 101.0)
    assert (at_least(values, 50, 100), at_most(values, 50, 100)) == (40, 61)


def test_values_that_are_worth_fewer_bound_less():
    values = np.arange(1.0, 31.0)

    assert at_least(values, 90, 30) > at_least(values, 90, 10)
    # 7 of 10: 21 of 30.
    assert at_least(values, 90, 10) == 21


def test_the_bound_holds_in_39_of_40_fleets_or_more():
    fleets = np.random.default_rng(1).uniform(size=(4000, 12))

    held = sum(at_least(fleet, 90, 12) <= 0.9 for fleet in fleets)

    assert held / len(fleets) >= 0.97
