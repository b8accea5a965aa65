"""Percentiles against values worked out by hand, and the properties any percentile must have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.percentiles import percentiles

REASONABLE = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50)


def test_the_ranks_between_two_values_are_interpolated_linearly():
    found = percentiles([10.0, 20.0, 30.0, 40.0, 50.0])

    # Rank of P90 among five: 0.9 * (5 - 1) = 3.6, so 40 + 0.6 * (50 - 40).
    assert found == pytest.approx({"p0": 10, "p50": 30, "p75": 40, "p90": 46, "p98": 49.2, "p100": 50, "mean": 30})


def test_one_value_is_all_its_percentiles():
    assert set(percentiles([5952.0]).values()) == {5952.0}


def test_no_values_and_values_that_are_no_numbers_are_refused():
    for values in ([], [1.0, float("nan")], [float("inf")]):
        with pytest.raises(ValueError, match="percentiles need"):
            percentiles(values)


@given(REASONABLE)
def test_they_rise_from_the_smallest_to_the_largest_value(values):
    found = percentiles(values)
    levels = [found[name] for name in ("p0", "p50", "p75", "p90", "p98", "p100")]

    assert levels == sorted(levels)
    assert (levels[0], levels[-1]) == (min(values), max(values))


def test_percentiles_of_a_fleet_are_numpys_to_the_last_bit():
    drawn = np.random.default_rng(3)
    for level in (0, 2, 25, 50, 75, 90, 98, 100):
        for shape in ((1, 1), (3, 2), (7, 3), (20, 5), (5, 20)):
            table = np.exp(drawn.normal(0, 3, shape))
            table.flat[:: table.size // 2 + 1] = 1.0
            known = FleetValues(tuple(map(str, range(shape[0]))), tuple(range(shape[1])), table, is_shared=False)

            assert known.percentile(level) == np.percentile(table, level)
            assert known.repetition_percentiles(level).tolist() == np.percentile(table, level, axis=0).tolist()

            table[0, 0] = np.nan
            if shape[0] > 1:
                expected = [np.percentile(column[~np.isnan(column)], level) for column in table.T]
                assert known.repetition_percentiles(level).tolist() == expected
