"""Intervals: what they must do whatever the values, and where there are none."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.fleet_values import fleet

from matrix.statistics import resampling
from matrix.statistics.intervals import intervals, percentile_interval
from matrix.statistics.resampling import MEAN, why_none
from matrix.statistics.uncertainty import REPETITIONS

RNG = np.random.default_rng(4)


def drawn(instances, repetitions=1, *, is_shared=False, rng=RNG):
    """Log-normal values, as durations are."""
    return fleet(np.exp(rng.normal(0, 0.3, (instances, repetitions))), is_shared=is_shared)


def test_five_instances_have_no_interval_and_six_have():
    assert percentile_interval(drawn(5), 50) is None
    assert percentile_interval(drawn(6), 50) is not None
    assert intervals(drawn(1, 50), (50, 90)) == {}
    assert why_none(drawn(1, 10)) == "1 instance: an interval needs at least 6 (`count`), or 3 `launches`"


def test_two_repetitions_of_a_shared_storage_have_no_interval():
    assert intervals(drawn(50, 2, is_shared=True), (50, 90)) == {}
    assert "2 repetitions" in (why_none(drawn(50, 2, is_shared=True)) or "")
    assert percentile_interval(drawn(50, 3, is_shared=True), 50) is not None
    assert percentile_interval(drawn(50, 2), 50) is not None


def test_the_same_samples_always_have_the_same_interval():
    values = drawn(20, 3)

    assert percentile_interval(values, 50) == percentile_interval(fleet(values.table.copy()), 50)


def test_the_method_is_named():
    assert percentile_interval(drawn(20), 50).method == "bootstrap, Student's t"
    assert percentile_interval(drawn(20, 3), 50).method == "two-way bootstrap, Student's t"
    assert percentile_interval(fleet(np.ones((20, 1))), 50).method == "all values are equal"


def test_repetitions_that_differ_widen_an_interval_that_instances_alone_would_narrow():
    steady = np.exp(np.random.default_rng(8).normal(0, 0.02, (50, 3)))
    shaken = steady * np.array([0.95, 1.0, 1.05])
    widths = [
        interval.high - interval.low for interval in (percentile_interval(fleet(t), 50) for t in (steady, shaken))
    ]

    # A standard error of 5 % / sqrt(3) = 2.9 % times t(2) = 4.3: 12 % on each side, whatever fifty instances say.
    assert widths[0] < 0.02
    assert 0.18 < widths[1] < 0.32
    assert percentile_interval(fleet(shaken), 50).limited_by == REPETITIONS


def test_instances_are_resampled_whole_so_repetitions_that_only_repeat_narrow_nothing():
    once = np.exp(RNG.normal(0, 0.3, (12, 1)))

    one, three = (percentile_interval(fleet(np.repeat(once, times, axis=1)), 50) for times in (1, 3))

    assert three.high - three.low == pytest.approx(one.high - one.low, rel=0.25)


@pytest.mark.parametrize("missing", [0, 1, 7])
def test_instances_that_miss_a_repetition_are_resampled_with_what_they_have(missing):
    rows = [
        (f"i-{i}", r, float(np.exp(RNG.normal(0, 0.1))))
        for i in range(20)
        for r in range(3)
        if not (i < missing and r == 0)
    ]
    values = type(fleet([[1.0]])).of(rows, is_shared=True)

    interval = percentile_interval(values, 50)

    assert interval.low < np.median(values.pooled) < interval.high


@settings(max_examples=15, phases=[Phase.explicit, Phase.generate])
@given(st.lists(st.floats(1, 1e4), min_size=6, max_size=25), st.floats(0.01, 100))
def test_an_interval_scales_with_the_values_and_holds_the_estimate(values, factor):
    column = np.array(values)[:, None]
    interval, scaled = (percentile_interval(fleet(column * times), 50) for times in (1, factor))

    assert interval.low <= np.median(values) * (1 + 1e-9)
    assert interval.high >= np.median(values) * (1 - 1e-9)
    assert (scaled.low, scaled.high) == pytest.approx((interval.low * factor, interval.high * factor), rel=1e-6)


def test_what_is_left_over_is_what_both_draws_have_beyond_the_two_others_as_drawn(monkeypatch):
    # Of 6 instances and 3 repetitions: as drawn they are 6 * 5/6 and 3 * 2/3, so 7.5 - 5 - 2 = 0.5 is left, once.
    known = {(True, False): 6.0, (False, True): 3.0, (True, True): 7.5}
    monkeypatch.setattr(
        resampling, "_variances", lambda *_, instances, repetitions: {MEAN: known[instances, repetitions]}
    )

    uncertainty = resampling.uncertainties(fleet(np.ones((6, 3)), is_shared=True), ())[MEAN]

    assert uncertainty.variance == pytest.approx(6 + 3 - 0.5)
