"""Whether two cells differ: known answers, properties, and that nothing is shown where nothing differs."""

import math
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support.fleet_values import fleet

from matrix.statistics import differing
from matrix.statistics.differing import _mann_whitney_chances, difference, holm
from matrix.statistics.resampling import is_one_event

FUNCTIONS = Path(__file__).parents[3] / "functions"


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

    assert _mann_whitney_chances(3, 4) == pytest.approx([ways / 35 for ways in counted])


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 2), (4, 3), (9, 5), (5, 40), (300, 9)])
def test_the_exact_p_is_that_of_scipy(first, second):
    dice = np.random.default_rng(first * second)
    for shift in (0.0, 0.5, 3.0):
        base, run = dice.normal(size=first), dice.normal(size=second) + shift
        expected = stats.mannwhitneyu(base, run, method="exact").pvalue

        assert differing._exact_p(base, run) == pytest.approx(expected, rel=1e-9)


def test_small_fleets_are_compared_without_the_second_that_scipy_takes_to_import():
    code = """
import sys
import numpy as np
from matrix.statistics import differing
assert differing._rank_test(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])) == (0.2, f"{differing.RANKS}, exact")
assert "scipy.stats" not in sys.modules
"""

    subprocess.run([sys.executable, "-c", code], cwd=FUNCTIONS, check=True)


def test_the_ratio_is_that_of_the_medians():
    assert difference(column(1, 2, 9), column(3, 4, 5)).ratio == 2.0


def test_repetitions_do_not_multiply_the_evidence():
    once = difference(column(1, 2, 3, 4), column(5, 6, 7, 8))
    often = difference(fleet([[v] * 50 for v in (1.0, 2, 3, 4)]), fleet([[v] * 50 for v in (5.0, 6, 7, 8)]))

    assert often.p_value >= once.p_value
    assert often.units == (4, 4)


def test_what_whole_repetitions_share_is_told_from_what_instances_show():
    steady = fleet([[100.0 + i, 101.0 + i, 102.0 + i] for i in range(12)])
    jumping = fleet([[105.0 + i, 300.0 + i, 400.0 + i] for i in range(12)])
    slow = fleet([[200.0 + i, 201.0 + i, 202.0 + i] for i in range(12)])

    # Medians of the repetitions: 100 to 103, 105 to 403, 200 to 203, and as much more as half of the instances.
    few_steady, few_jumping, few_slow = (fleet(values.table[:4]) for values in (steady, jumping, slow))
    assert not difference(few_steady, few_jumping).repetitions_overlap
    assert difference(few_slow, few_jumping).repetitions_overlap
    # Drawn two-way, the test itself counts what repetitions differ by.
    assert not difference(slow, jumping).repetitions_overlap
    assert difference(slow, steady).p_value < 0.001
    assert difference(slow, jumping).p_value > 0.05
    # One repetition each: nothing is known of what it shares.
    assert not difference(column(1, 2, 3), column(2, 3, 4)).repetitions_overlap


def test_more_repetitions_make_a_difference_clearer_and_not_hidden():
    rng = np.random.default_rng(4)

    def drawn(times):
        shared, own = 0.05 * rng.normal(size=(1, 5)), 0.03 * rng.normal(size=(10, 1))
        return fleet(times * np.exp(shared + own + 0.02 * rng.normal(size=(10, 5))), is_shared=True)

    between = [difference(drawn(1.0), drawn(1.2)) for _ in range(60)]

    # Of five repetitions that differ by 5 % some overlap with those of a storage that is 20 % slower.
    assert sum(each.is_shown(each.p_value) for each in between) >= 56


def test_ranks_of_four_instances_do_not_outvote_what_three_repetitions_share():
    rng = np.random.default_rng(5)
    table = np.exp(rng.normal(0, 0.005, (4, 3)))
    base, run = fleet(table * [1.0, 1.1, 0.95]), fleet(table * [1.05, 1.15, 1.0] * np.exp(rng.normal(0, 0.005, (4, 3))))

    # All instances of the run are slower, which ranks alone would call 2 / 70.
    assert difference(base, run).p_lower == 0
    assert difference(base, run).p_value > 0.2


def test_a_shared_storage_in_two_repetitions_is_within_its_run():
    rng = np.random.default_rng(6)
    base, run = (fleet(rng.lognormal(m, 0.02, (20, 2)), is_shared=True) for m in (0, 1))

    assert difference(base, run).is_within_runs
    assert not difference(base, run).is_shown(p_value=0.0)
    own = [fleet(values.table) for values in (base, run)]
    assert difference(*own).is_shown(difference(*own).p_value)


def test_large_fleets_are_compared_by_the_ratio_of_a_percentile():
    rng = np.random.default_rng(1)
    found = difference(fleet(rng.lognormal(0, 0.1, (50, 3))), fleet(1.1 * rng.lognormal(0, 0.2, (40, 3))))

    assert found.test == "two-way bootstrap, Student's t"
    assert found.p_value < 0.05
    assert found.interval.low < 1.1 < found.interval.high


def test_slow_ends_that_differ_are_found_where_medians_are_equal():
    rng = np.random.default_rng(2)
    table = np.exp(rng.normal(0, 0.02, (50, 3)))
    tail = np.where(np.arange(50)[:, None] < 10, 1.82, 1.0)

    medians, slow_ends = (difference(fleet(table), fleet(table * tail), level) for level in (50, 90))

    assert medians.p_value > 0.05
    assert slow_ends.is_shown(slow_ends.p_value)
    assert slow_ends.ratio == pytest.approx(1.82, rel=0.03)
    assert not slow_ends.is_lower


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
    assert (found.p_value < 1e-200, found.test) == (True, "bootstrap, Student's t")
    tracemalloc.stop()


def test_values_of_zero_have_no_ratio():
    assert difference(column(0, 1), column(1, 2)) is None


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


@settings(max_examples=30)
@given(st.lists(st.floats(1, 100), min_size=2, max_size=5), st.lists(st.floats(1, 100), min_size=2, max_size=5))
def test_the_other_way_round_is_the_reverse(base, run):
    there, back = difference(column(*base), column(*run)), difference(column(*run), column(*base))

    assert there.ratio == pytest.approx(1 / back.ratio)
    assert there.p_lower == pytest.approx(1 - back.p_lower)
    assert math.isclose(there.p_value, back.p_value, rel_tol=1e-6)


def test_two_instances_that_share_a_storage_in_two_repetitions_saw_one_event():
    two, slower = (fleet([[v, v + 1.0], [v + 2.0, v + 3.0]], is_shared=True) for v in (10.0, 100.0))

    assert difference(two, slower).is_within_runs
    assert is_one_event(two)
    assert not is_one_event(fleet([[1.0, 2.0]], is_shared=True))
    assert not is_one_event(fleet(two.table))
    assert not is_one_event(fleet([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]], is_shared=True))


@pytest.mark.parametrize(("base", "run"), [((100.0, 200.0), (200.0, 300.0)), ((200.0, 300.0), (100.0, 200.0))])
def test_repetitions_that_touch_overlap(base, run):
    assert difference(fleet([base] * 4), fleet([run] * 4)).repetitions_overlap
