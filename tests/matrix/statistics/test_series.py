"""Series of runs with known truths: how often a new value or a trend is named."""

import numpy as np
import pytest
from scipy import stats

from matrix.statistics.differing import benjamini_hochberg
from matrix.statistics.series import MIN_BEFORE, expected, new_value, trend

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
    rising = [100.0, 103.0, 103.0, 107.0, 112.0, 113.0]
    line = stats.linregress(range(6), np.log(rising))
    of_median = np.median(np.random.default_rng(1).normal(size=(40_000, 5)), axis=1).var()

    new, drift = new_value(before, value), trend(rising)

    t = np.log(value / 100) / (np.log(before).std(ddof=1) * np.sqrt(1 + of_median))
    assert (new.ratio, new.p_value) == pytest.approx((value / 100, 2 * stats.t.sf(t, 4)), rel=0.05)
    assert (drift.ratio, drift.p_value) == pytest.approx((np.exp(5 * line.slope), line.pvalue))
    # A step is told on its night, and is no trend.
    assert (trend([100.0] * 8 + [120.0] * 5).p_value, trend([*before, value]).ratio) == (1.0, 1.0)


def test_figures_that_are_equal_by_rounding_do_not_make_the_next_digit_a_change():
    assert new_value([100.0] * 5, 100.1).p_value > 0.05
    assert new_value([100.0] * 5, 110.0).p_value < 1e-6
    assert trend([100.0, 100.0, 100.1, 100.1, 100.1]).p_value > 0.05


def found(before, *, base=None, changed=1.2, rng):
    """Whether a value that changed is beyond a normal scatter of 3 %, after values as `before` makes them."""
    nights = [100 * by * float(np.exp(0.03 * rng.normal())) for by in (*before, changed)]
    figure, uncertainty = expected(nights[:-1], base)
    return uncertainty.p_value(np.log(nights[-1] / figure)) < 0.05


@pytest.mark.parametrize(
    ("before", "base", "changed", "least", "most"),
    [
        # An odd night hides no change, and a change that stays does not become the rule.
        ([1] * 3 + [1.5] + [1] * 7, 0, 1.2, 0.85, 1.0),
        ([1] * 8 + [1.5] + [1], 0, 1.2, 0.85, 1.0),
        ([1] * 10 + [1.2] * 5, 0, 1.2, 0.85, 1.0),
        # Without a base the last five are the rule; with one, what was accepted is.
        ([1] * 10 + [1.2] * 5, None, 1.2, 0.0, 0.08),
        ([1] * 10 + [1.2], 10, 1.2, 0.0, 0.08),
        ([1] * 10 + [1.2], 10, 1.44, 0.85, 1.0),
    ],
)
def test_odd_nights_do_not_count_as_scatter_and_an_accepted_change_is_the_rule(before, base, changed, least, most):
    rng = np.random.default_rng(45)
    hits = [found(before, base=base, changed=changed, rng=rng) for _ in range(DRAWS)]

    assert least <= np.mean(hits) <= most
