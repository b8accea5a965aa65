"""Series of runs with known truths: how often a new value or a trend is named."""

import numpy as np
import pytest
from scipy import stats

from matrix.statistics.differing import benjamini_hochberg
from matrix.statistics.series import MIN_BEFORE, new_value, trend

DRAWS = 400


def named(nights):
    """Whether anything is named in a series, by the rule of `matrix history`."""
    tests = [new_value(nights[:n], nights[n]) for n in range(MIN_BEFORE, len(nights))] + [trend(nights)]
    return min(benjamini_hochberg([test.p_value for test in tests])) <= 0.05


@pytest.mark.parametrize(
    ("scatter", "drift", "least", "most"),
    [
        # At 5 %, more than 8 % of 400 have a chance of 0.5 %.
        (0.03, 0.0, 0.0, 0.08),
        (0.003, 0.0, 0.0, 0.08),
        (0.01, 0.015, 0.99, 1.0),
        (0.03, 0.03, 0.99, 1.0),
    ],
)
def test_fourteen_nights_raise_a_false_alarm_in_5_percent_and_a_drift_is_found(scatter, drift, least, most):
    rng = np.random.default_rng(44)
    hits = [named(np.exp(scatter * rng.normal(size=15) + drift * np.arange(15))) for _ in range(DRAWS)]

    assert least <= np.mean(hits) <= most


def test_a_new_value_and_a_trend_have_the_p_values_of_their_t_tests():
    before, value = [100.0, 104.0, 98.0, 103.0, 99.0], 120.0
    line = stats.linregress(range(6), np.log([*before, value]))

    ratio, p_value = new_value(before, value)
    over, p_trend = trend([*before, value])

    # A new value beside n others is the two-sample t test of one value against n.
    by_two_samples = stats.ttest_ind([np.log(value)], np.log(before))
    assert (ratio, p_value) == pytest.approx((value / stats.gmean(before), by_two_samples.pvalue))
    assert (over, p_trend) == pytest.approx((np.exp(5 * line.slope), line.pvalue))


def test_figures_that_are_equal_by_rounding_do_not_make_the_next_digit_a_change():
    assert new_value([100.0] * 5, 100.1).p_value > 0.05
    assert new_value([100.0] * 5, 110.0).p_value < 1e-6
    assert trend([100.0, 100.0, 100.1, 100.1, 100.1]).p_value > 0.05
