"""Intervals: what they must do whatever the values, and where there are none."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from matrix.statistics.intervals import mean_interval, percentile_interval, ratio_interval, row_percentile, widened

RNG = np.random.default_rng(4)


def units(count, repetitions=1):
    """Log-normal values, as durations are."""
    return np.exp(RNG.normal(0, 0.3, (count, repetitions)))


def test_five_units_have_no_interval_and_six_have():
    assert percentile_interval(units(5), 50) is None
    assert percentile_interval(units(6), 50) is not None


def test_the_same_samples_always_have_the_same_interval():
    values = units(20)

    assert percentile_interval(values, 50) == percentile_interval(values.copy(), 50)


def test_the_method_is_named():
    assert percentile_interval(units(20), 50).method == "BCa bootstrap"
    assert percentile_interval(units(401), 50).method == "percentile bootstrap"
    assert percentile_interval(np.ones((20, 1)), 50).method == "all values are equal"


def test_an_interval_of_equal_values_is_that_value():
    found = percentile_interval(np.full((8, 3), 5.0), 90)

    assert (found.low, found.high) == (5.0, 5.0)


def test_the_interval_of_a_normal_mean_is_students():
    values = np.random.default_rng(3).normal(100, 10, (30, 1))
    half = 2.045 * values.std(ddof=1) / np.sqrt(30)  # t(0.975, 29) = 2.045 (tables)

    found = mean_interval(values)

    assert found.low == pytest.approx(values.mean() - half, abs=0.15 * half)
    assert found.high == pytest.approx(values.mean() + half, abs=0.15 * half)


def test_four_times_the_units_halve_the_interval():
    values = np.random.default_rng(5).normal(100, 10, (1600, 1))
    widths = [(i := percentile_interval(values[:n], 50)).high - i.low for n in (100, 1600)]

    assert widths[0] / widths[1] == pytest.approx(4, rel=0.35)


def test_instances_are_resampled_whole_so_repetitions_that_only_repeat_narrow_nothing():
    once = units(12)
    thrice = np.repeat(once, 3, axis=1)

    one, three = percentile_interval(once, 50), percentile_interval(thrice, 50)

    assert three.high - three.low == pytest.approx(one.high - one.low, rel=0.25)


def test_small_numbers_widen_the_level_by_students_t():
    # t(0.025, 5) = -2.571 (tables); sqrt(6/5) * 2.571 = 2.816; Phi(-2.816) = 0.00243.
    assert widened(0.95, 6) == pytest.approx(1 - 2 * 0.00243, abs=2e-5)
    assert widened(0.95, 100_000) == pytest.approx(0.95, abs=1e-4)


def test_the_ratio_of_a_run_to_itself_is_one():
    values = units(15)

    found = ratio_interval(values, values)

    assert found.low < 1 < found.high
    assert ratio_interval(values[:5], values) is None


def test_missing_values_are_left_out_of_a_percentile():
    rows = np.array([[3.0, np.nan, 1.0, 2.0], [4.0, 4.0, np.nan, np.nan]])

    assert row_percentile(rows, 50).tolist() == [2.0, 4.0]


@given(st.lists(st.floats(0.1, 1e6), min_size=2, max_size=40), st.sampled_from([50, 75, 90, 98]))
def test_percentiles_of_rows_are_numpys(values, level):
    assert row_percentile(np.array([values]), level)[0] == pytest.approx(np.percentile(values, level))


@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.lists(st.floats(1, 1e4), min_size=6, max_size=25), st.floats(0.01, 100))
def test_an_interval_scales_with_the_values_and_lies_among_them(values, factor):
    column = np.array(values)[:, None]
    found, scaled = percentile_interval(column, 50), percentile_interval(column * factor, 50)

    assert min(values) * (1 - 1e-6) <= found.low <= found.high <= max(values) * (1 + 1e-6)
    assert (scaled.low, scaled.high) == pytest.approx((found.low * factor, found.high * factor), rel=1e-4)
