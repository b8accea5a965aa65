"""Whether two cells differ: known answers, properties, and that nothing is shown where nothing differs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support.fleet_values import fleet

from matrix.statistics.differing import benjamini_hochberg, difference, holm
from matrix.statistics.resampling import lacks_replication
from matrix.terms.findings.replication import Shortage


def column(*values):
    """One value for each instance."""
    return fleet([[float(value)] for value in values])


def thrice(*values, rng=None):
    """Three repetitions of each instance, which differ by 1 % where there is chance."""
    noise = np.exp(0.01 * rng.normal(size=(len(values), 3))) if rng else 1.0
    return fleet(np.array([[float(value)] * 3 for value in values]) * noise)


def test_the_effect_counts_pairs():
    # Of the 6 pairs the run is lower in 1 (2 < 3), equal in 1 (3 = 3).
    assert difference(column(1, 3), column(2, 3, 4)).p_lower == pytest.approx(1.5 / 6)


def test_the_ratio_is_that_of_the_medians_from_six_instances_on():
    six = [thrice(*values) for values in ((1, 1, 2, 2, 9, 9), (3, 3, 4, 4, 5, 5))]

    assert difference(*six).ratio == 2.0
    assert difference(thrice(1, 2, 4), thrice(2, 4, 8)).ratio == pytest.approx(2.0)


def test_few_instances_are_compared_by_their_crossed_means():
    # Rows of base have logarithms 0, 1, 2 in each column plus 0, 3, 6: MS of rows 3 * 1, of columns 3 * 9, residual 0.
    # So v = (3 + 27) / 9 and df = 30^2 / (3^2 / 2 + 27^2 / 2) = 2.44 a side; of the difference twice both.
    rows = np.arange(3.0)[:, None] + 3 * np.arange(3.0)[None, :]
    base, run = fleet(np.exp(rows)), fleet(np.exp(rows + 2.0))

    found = difference(base, run)

    variance, degrees = 2 * 30 / 9, 2 * 900 / (9 / 2 + 729 / 2)
    assert (found.test, found.units) == ("crossed means, Student's t", (3, 3))
    assert found.ratio == pytest.approx(math.exp(2.0))
    assert found.uncertainty.variance == pytest.approx(variance)
    assert found.uncertainty.degrees_of_freedom == pytest.approx(degrees)
    half = stats.t.ppf(0.975, degrees) * math.sqrt(variance)
    assert (found.interval.low, found.interval.high) == pytest.approx((math.exp(2 - half), math.exp(2 + half)))
    assert found.p_value == pytest.approx(2 * stats.t.sf(2.0 / math.sqrt(variance), degrees))


@pytest.mark.parametrize(("instances", "repetitions"), [(3, 3), (4, 3), (5, 3), (5, 10), (6, 3), (10, 3)])
def test_interval_and_verdict_never_contradict_each_other(instances, repetitions):
    rng = np.random.default_rng(instances * repetitions)
    for shift in (0.0, 0.05, 0.1, 0.2):
        for _ in range(25):
            base, run = (
                fleet(np.exp(by + 0.03 * rng.normal(size=(instances, 1)) + 0.05 * rng.normal(size=(1, repetitions))
                             + 0.02 * rng.normal(size=(instances, repetitions))), is_shared=True)
                for by in (0.0, shift)
            )  # fmt: skip
            found = difference(base, run)
            holds_one = found.interval.low <= 1 <= found.interval.high
            assert found.is_shown(found.p_value) == (not holds_one)


def test_what_was_not_replicated_has_neither_interval_nor_verdict():
    rng = np.random.default_rng(6)
    for shape, is_shared in [((20, 2), True), ((20, 2), False), ((200, 1), False), ((2, 10), False), ((1, 10), True)]:
        base, run = (fleet(rng.lognormal(middle, 0.02, shape), is_shared=is_shared) for middle in (0, 1))
        found = difference(base, run)

        assert (found.p_value, found.interval, found.is_replicated) == (None, None, False)
        assert not found.is_shown(0.0)
        assert found.detectable_ratio() is None
        assert found.ratio == pytest.approx(math.e, rel=0.1)


def test_what_replication_lacks_is_counted():
    instances: Shortage = {"unit": "instance", "count": 2, "least": 3}
    repetitions: Shortage = {"unit": "repetition", "count": 2, "least": 3}
    lacking = {(2, 10): (instances,), (50, 2): (repetitions,), (2, 2): (instances, repetitions), (3, 3): ()}
    for shape, shortages in lacking.items():
        assert lacks_replication(fleet(np.ones(shape))) == shortages


def test_the_detectable_ratio_is_found_in_four_of_five():
    def drawn(times):
        noise = 0.03 * rng.normal(size=(10, 1)) + 0.05 * rng.normal(size=(1, 5)) + 0.02 * rng.normal(size=(10, 5))
        return fleet(times * np.exp(noise), is_shared=True)

    rng = np.random.default_rng(12)
    ratio = float(np.median([difference(drawn(1.0), drawn(1.0)).detectable_ratio() for _ in range(100)]))
    found = [difference(drawn(1.0), drawn(ratio)) for _ in range(200)]

    # Of 200, 80 % are 160; what truly is 80 % shows 141 to 176 once in a thousand.
    assert 141 <= sum(each.is_shown(each.p_value) for each in found) <= 180
    assert found[0].detectable_ratio(24) > found[0].detectable_ratio()


def test_slow_ends_that_differ_are_found_where_medians_are_equal():
    rng = np.random.default_rng(2)
    table = np.exp(rng.normal(0, 0.02, (50, 3)))
    tail = np.where(np.arange(50)[:, None] < 10, 1.82, 1.0)

    medians, tails = (difference(fleet(table), fleet(table * tail), level) for level in (50, 90))

    assert medians.p_value > 0.05
    assert tails.is_shown(tails.p_value)
    assert tails.ratio == pytest.approx(1.82, rel=0.03)
    assert not tails.is_lower
    assert tails.test == "two-way bootstrap, Student's t"


def test_holms_correction_of_a_known_series():
    # Sorted 0.01 0.02 0.03 0.04: times 4, 3, 2, 1 = 0.04 0.06 0.06 0.04, and none falls below the one before.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([]) == []


@settings(max_examples=30)
@given(st.lists(st.floats(1, 100), min_size=3, max_size=5), st.lists(st.floats(1, 100), min_size=3, max_size=5))
def test_the_other_way_round_is_the_reverse(base, run):
    rng = np.random.default_rng(1)
    first, second = thrice(*base, rng=rng), thrice(*run, rng=rng)
    there, back = difference(first, second), difference(second, first)

    assert there.ratio == pytest.approx(1 / back.ratio)
    assert there.p_lower == pytest.approx(1 - back.p_lower)
    assert math.isclose(there.p_value, back.p_value, rel_tol=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_benjamini_and_hochbergs_correction_is_that_of_scipy_and_lies_between_raw_and_holm(p_values):
    corrected = benjamini_hochberg(p_values)

    assert corrected == pytest.approx(list(stats.false_discovery_control(p_values)))
    for raw, q_value, by_holm in zip(p_values, corrected, holm(p_values), strict=True):
        assert raw - 1e-15 <= q_value <= by_holm + 1e-15
