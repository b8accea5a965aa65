"""Whether two cells differ: known answers, properties, and that nothing is shown where nothing differs."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.fleet_values import fleet

from matrix.statistics.differing import _mann_whitney_chances, difference, holm


def column(*values):
    """One value for each instance."""
    return fleet([[float(value)] for value in values])


def test_four_slower_than_four_are_the_rarest_of_seventy_orders():
    found = difference(column(1, 2, 3, 4), column(5, 6, 7, 8))

    assert found.p_value == pytest.approx(2 / 70)
    assert (found.p_lower, found.cliffs_delta) == (0, 1)
    assert found.test == "Mann-Whitney, exact"


def test_three_against_three_can_show_nothing():
    found = difference(column(1, 2, 3), column(100, 200, 300))

    assert found.least_p == pytest.approx(2 / 20)
    assert found.p_value == pytest.approx(2 / 20)
    assert found.interval is None


def test_the_effect_counts_pairs():
    # Of the 6 pairs the run is lower in 1 (2 < 3), equal in 1 (3 = 3).
    assert difference(column(1, 3), column(2, 3, 4)).p_lower == pytest.approx(1.5 / 6)


def test_four_against_four_have_the_whole_range_of_ratios_for_an_interval():
    found = difference(column(10, 11, 12, 13), column(20, 22, 24, 26))

    # P(U = 0) = 1/70 = 1.4 % on each side, P(U <= 1) = 2.9 % is too much: the outermost of the 16 ratios.
    assert (found.interval.low, found.interval.high) == pytest.approx((20 / 13, 26 / 10))
    assert found.interval.method == "Hodges-Lehmann"


def test_five_against_five_leave_two_ratios_out_on_each_side():
    base, run = [10.0, 11.3, 12.9, 14.2, 15.7], [20.1, 23.0, 26.2, 27.9, 31.4]
    ratios = sorted(b / a for a in base for b in run)

    found = difference(column(*base), column(*run))

    # Tables of Mann and Whitney: U = 2 for 5 and 5 at 5 %, two-sided; so from the third ratio to the third last.
    assert (found.interval.low, found.interval.high) == pytest.approx((ratios[2], ratios[-3]))


def test_the_chances_of_u_for_three_and_four():
    counted = [1, 1, 2, 3, 4, 4, 5, 4, 4, 3, 2, 1, 1]

    assert _mann_whitney_chances(3, 4) == pytest.approx([one / 35 for one in counted])


def test_the_ratio_is_that_of_the_medians():
    assert difference(column(1, 2, 9), column(3, 4, 5)).ratio == 2.0


def test_repetitions_do_not_multiply_the_evidence():
    once = difference(column(1, 2, 3, 4), column(5, 6, 7, 8))
    often = difference(fleet([[v] * 50 for v in (1.0, 2, 3, 4)]), fleet([[v] * 50 for v in (5.0, 6, 7, 8)]))

    assert often.p_value == once.p_value
    assert often.units == (4, 4)


def test_what_whole_repetitions_share_is_told_from_what_instances_show():
    steady = fleet([[100.0 + i, 101.0 + i, 102.0 + i] for i in range(12)])
    jumping = fleet([[105.0 + i, 300.0 + i, 400.0 + i] for i in range(12)])
    slow = fleet([[200.0 + i, 201.0 + i, 202.0 + i] for i in range(12)])

    # Medians of the repetitions: 105.5 to 107.5, 110.5 to 405.5, 205.5 to 207.5.
    assert not difference(steady, jumping).repetitions_overlap
    assert difference(slow, jumping).repetitions_overlap
    assert difference(slow, jumping).p_value < 0.001
    # One repetition each: nothing is known of what it shares.
    assert not difference(column(1, 2, 3), column(2, 3, 4)).repetitions_overlap


def test_large_fleets_are_compared_by_brunner_and_munzel():
    rng = np.random.default_rng(1)
    found = difference(fleet(rng.lognormal(0, 0.1, (50, 2))), fleet(1.1 * rng.lognormal(0, 0.2, (40, 2))))

    assert found.test == "Brunner-Munzel"
    assert found.p_value < 0.01
    assert found.interval.low < 1.1 < found.interval.high


def test_equal_fleets_differ_in_nothing():
    found = difference(column(*[5] * 12), column(*[5] * 12))

    assert (found.p_value, found.p_lower, found.ratio) == (1.0, 0.5, 1.0)


def test_fleets_that_do_not_overlap_are_told_apart_though_all_their_values_are_equal():
    assert difference(column(*[5] * 12), column(*[6] * 12)).p_value < 0.001


def test_a_thousand_instances_with_equal_values_are_told_apart_within_the_memory_of_a_function():
    values = np.round(np.random.default_rng(1).lognormal(3, 0.2, 1000), 1)
    tracemalloc.start()

    found = difference(column(*values), column(*(10 * values)))

    assert tracemalloc.get_traced_memory()[1] < 100e6
    assert (found.p_value < 1e-200, found.test) == (True, "Mann-Whitney, normal approximation")
    tracemalloc.stop()


def test_values_of_zero_have_no_ratio():
    assert difference(column(0, 1), column(1, 2)) is None


def test_where_nothing_differs_one_comparison_in_twenty_says_so():
    rng = np.random.default_rng(12)
    shown = sum(
        difference(fleet(rng.lognormal(0, 0.2, (12, 1))), fleet(rng.lognormal(0, 0.2, (15, 1)))).p_value < 0.05
        for _ in range(200)
    )

    assert 2 <= shown <= 22


def test_holms_correction_of_a_known_series():
    # Sorted 0.01 0.02 0.03 0.04: times 4, 3, 2, 1 = 0.04 0.06 0.06 0.04, and none falls below the one before.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_never_makes_a_p_smaller_and_keeps_the_order(p_values):
    corrected = holm(p_values)

    assert all(after >= before - 1e-15 for before, after in zip(p_values, corrected, strict=True))
    assert max(corrected) <= 1
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    assert [corrected[i] for i in order] == sorted(corrected)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(1, 100), min_size=2, max_size=5), st.lists(st.floats(1, 100), min_size=2, max_size=5))
def test_the_other_way_round_is_the_reverse(base, run):
    there, back = difference(column(*base), column(*run)), difference(column(*run), column(*base))

    assert there.ratio == pytest.approx(1 / back.ratio)
    assert there.p_lower == pytest.approx(1 - back.p_lower)
    assert math.isclose(there.p_value, back.p_value, rel_tol=1e-6)
