"""Statistics of small tables whose answers are worked out by hand, or by another implementation."""

import math

import numpy as np
import pytest
from scipy import stats
from support.fleet_values import fleet, launched

from matrix.statistics import resampling, steadiness
from matrix.statistics.autocorrelation import Autocorrelation
from matrix.statistics.differing import ALL_EQUAL, CROSSED_MEANS, Difference, difference
from matrix.statistics.intervals import CROSSED_TAIL_CONFIDENCE, intervals
from matrix.statistics.spread import deviations, independent_n
from matrix.statistics.uncertainty import (
    INSTANCES,
    REPETITIONS,
    Uncertainty,
    of_crossed,
    of_difference,
    of_independent,
    of_mean,
)

# Rows are instances, columns repetitions. Means of rows 2, 4, 9; of columns 4, 5, 6; of all 5; residuals all 0 but
# for the corners: +1 -1 / -1 +1.
CROSSED = np.array([[2.0, 2.0, 2.0], [3.0, 4.0, 5.0], [7.0, 9.0, 11.0]])


# --- uncertainty -----------------------------------------------------------------------------------------------------


def anova(table):
    """Mean squares of rows, of columns and of what is left, term by term as Searle writes them."""
    rows, columns = table.shape
    whole = table.mean()
    of_rows = columns * sum((row.mean() - whole) ** 2 for row in table) / (rows - 1)
    of_columns = rows * sum((column.mean() - whole) ** 2 for column in table.T) / (columns - 1)
    left = sum(
        (table[i, j] - table[i].mean() - table[:, j].mean() + whole) ** 2 for i in range(rows) for j in range(columns)
    )
    return of_rows, of_columns, left / ((rows - 1) * (columns - 1))


@pytest.mark.parametrize("table", [CROSSED, CROSSED.T, CROSSED[:2], CROSSED[:, :2]])
def test_the_variance_of_a_mean_is_that_of_the_mean_squares(table):
    by_rows, by_columns, left = anova(table)
    rows, columns = table.shape
    parts = ((by_rows, rows - 1), (by_columns, columns - 1), (left, (rows - 1) * (columns - 1)))

    known = of_mean(table)

    variance = (by_rows + by_columns - left) / table.size
    assert known.variance == pytest.approx(variance)
    satterthwaite = variance**2 / sum((square / table.size) ** 2 / degrees for square, degrees in parts)
    assert known.degrees_of_freedom == pytest.approx(max(1.0, satterthwaite))
    assert known.limited_by == (REPETITIONS if by_columns > by_rows else INSTANCES)


def test_a_mean_of_one_instance_or_one_repetition_has_no_crossed_variance():
    assert of_mean(CROSSED[:1]) is None
    assert of_mean(CROSSED[:, :1]) is None
    assert of_mean(CROSSED[:2, :2]) is not None


def test_degrees_of_freedom_are_weighed_by_what_each_part_adds():
    # All from instances: one less than there are. v = 4 + 1 - 0.5: 4.5^2 / (16 / 9 + 1 / 2 + 0.25 / 18).
    alone = of_crossed(4.0, 0.0, 0.0, instances=10, alike=Autocorrelation.none(3))
    both = of_crossed(4.0, 1.0, 0.5, instances=10, alike=Autocorrelation.none(3))

    assert (alone.variance, alone.degrees_of_freedom, alone.limited_by) == (4.0, 9.0, INSTANCES)
    assert both.variance == 4.5
    assert both.degrees_of_freedom == pytest.approx(20.25 / (16 / 9 + 1 / 2 + 0.25 / 18))


def test_the_residual_counts_for_no_more_than_either_part_and_degrees_are_never_below_one():
    # The residual is cut to 1, so that v = 4; 16 / (16 / 1 + 1 / 1 + 1 / 1) is below 1.
    known = of_crossed(4.0, 1.0, 3.0, instances=2, alike=Autocorrelation.none(2))

    assert (known.variance, known.degrees_of_freedom) == (4.0, 1.0)


def test_equal_parts_are_limited_by_instances_and_nothing_has_no_variance():
    assert of_crossed(1.0, 1.0, 0.0, instances=5, alike=Autocorrelation.none(5)).limited_by == INSTANCES
    assert of_crossed(0.0, 0.0, 0.0, instances=5, alike=Autocorrelation.none(5)) == Uncertainty(0.0, 1.0, INSTANCES)


def test_the_interval_and_the_p_value_are_students():
    known = Uncertainty(4.0, 7.0, INSTANCES)

    assert known.half_width() == pytest.approx(2 * stats.t.ppf(0.975, 7))
    assert known.half_width(0.8) == pytest.approx(2 * stats.t.ppf(0.9, 7))
    assert known.p_value(3.0) == known.p_value(-3.0) == pytest.approx(2 * stats.t.sf(1.5, 7))


def test_two_estimates_differ_by_welchs_rule():
    first, second = of_independent(4.0, 6, INSTANCES), Uncertainty(1.0, 2.0, REPETITIONS)

    known = of_difference(first, second)

    assert (known.variance, known.limited_by) == (5.0, INSTANCES)
    assert known.degrees_of_freedom == pytest.approx(25 / (16 / 5 + 1 / 2))
    nothing = Uncertainty(0.0, 3.0, INSTANCES)
    assert of_difference(nothing, nothing) == Uncertainty(0.0, 1.0, INSTANCES)


# --- differences -----------------------------------------------------------------------------------------------------


def equal(value, instances=4):
    return fleet([[value] * 3] * instances)


def test_values_that_never_vary_differ_for_certain_or_not_at_all():
    same, other = difference(equal(2.0), equal(2.0)), difference(equal(2.0), equal(2.2))

    for each, p_value in ((same, 1.0), (other, 0.0)):
        assert (each.p_value, each.uncertainty, each.interval, each.test) == (p_value, None, None, ALL_EQUAL)
        assert each.is_replicated
        assert each.detectable_ratio() is None
    assert not same.is_shown(same.p_value)
    assert other.is_shown(other.p_value)


def test_one_side_that_varies_is_enough_for_a_test():
    varied = fleet([[1.0, 1.1, 1.2], [1.1, 1.2, 1.3], [1.2, 1.3, 1.4], [1.3, 1.4, 1.5]])

    seen = difference(equal(1.0), varied)

    assert seen.test == CROSSED_MEANS
    assert 0 < seen.p_value < 1
    logarithms = np.log(varied.table)
    known = of_mean(logarithms)
    assert seen.uncertainty.variance == pytest.approx(known.variance)
    assert seen.ratio == pytest.approx(math.exp(logarithms.mean()))
    half = stats.t.ppf(0.975, known.degrees_of_freedom) * math.sqrt(known.variance)
    assert seen.interval.low == pytest.approx(seen.ratio / math.exp(half))
    assert seen.interval.high == pytest.approx(seen.ratio * math.exp(half))
    assert seen.p_value == pytest.approx(
        2 * stats.t.sf(math.log(seen.ratio) / math.sqrt(known.variance), known.degrees_of_freedom)
    )


def test_a_ratio_has_no_meaning_where_a_value_is_not_above_0():
    assert difference(equal(0.0), equal(1.0)) is None
    assert difference(equal(1.0), equal(-1.0)) is None


def test_cliffs_delta_is_minus_1_where_all_values_of_the_run_are_lower():
    facts = {"level": 50, "interval": None, "uncertainty": None, "p_value": 0.04, "test": "", "units": (3, 3)}
    lower, higher = Difference(ratio=0.9, p_lower=1.0, **facts), Difference(ratio=1.0, p_lower=0.0, **facts)

    assert (lower.cliffs_delta, lower.is_lower) == (-1, True)
    assert (higher.cliffs_delta, higher.is_lower) == (1, False)
    assert lower.is_shown(0.049)
    assert not lower.is_shown(0.05)
    assert not lower.is_shown(None)


def test_the_detectable_ratio_follows_from_students_t():
    facts = {"level": 50, "ratio": 1.0, "interval": None, "p_lower": 0.5, "p_value": 1.0, "test": "", "units": (3, 3)}
    known = Difference(uncertainty=Uncertainty(0.01, 8.0, INSTANCES), **facts)
    hopeless = Difference(uncertainty=Uncertainty(1e6, 1.0, INSTANCES), **facts)

    reach = stats.t.ppf(1 - 0.05 / 4 / 2, 8) + stats.t.ppf(0.9, 8)
    assert known.detectable_ratio(tests=4, power=0.9) == pytest.approx(math.exp(0.1 * reach))
    assert known.detectable_ratio() == known.detectable_ratio(tests=1, power=0.8)
    assert hopeless.detectable_ratio() is None


# --- intervals -------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(7)


def test_only_a_tail_over_instances_and_repetitions_has_the_lower_confidence():
    crossed = fleet(np.exp(0.1 * RNG.normal(size=(8, 3))))
    one_way = fleet(np.exp(0.1 * RNG.normal(size=(8, 2))))
    of_launches = launched(np.exp(0.1 * RNG.normal(size=(3, 8, 3))))

    def confidences(values):
        return {name: interval.confidence for name, interval in intervals(values, [50, 90]).items()}

    assert confidences(crossed) == {50: 0.95, 90: CROSSED_TAIL_CONFIDENCE, "mean": 0.95}
    assert confidences(one_way) == confidences(of_launches) == {50: 0.95, 90: 0.95, "mean": 0.95}
    assert CROSSED_TAIL_CONFIDENCE == 0.8


def test_an_interval_is_of_logarithms_where_all_values_are_above_0():
    above, around = 5 + RNG.normal(size=(8, 1)), RNG.normal(size=(8, 1))

    of_above, of_around = (intervals(fleet(table), [50])["mean"] for table in (above, around))

    half = of_above.uncertainty.half_width()
    assert of_above.high / above.mean() == pytest.approx(math.exp(half)) == pytest.approx(above.mean() / of_above.low)
    assert of_around.high - around.mean() == pytest.approx(of_around.uncertainty.half_width())


def drawn(values, levels, *, instances, repetitions):
    """The draws one after another, by copying rows and columns, where the code counts them."""
    kind = np.dtype(np.int16)
    rows, columns = values.table.shape
    of_rows = resampling.drawn_counts(resampling.INSTANCES, rows, kind)
    of_columns = resampling.drawn_counts(resampling.REPETITIONS, columns, kind)
    for draw in range(resampling.DRAWS):
        table = np.repeat(values.table, of_rows[:, draw], axis=0) if instances else values.table
        table = np.repeat(table, of_columns[:, draw], axis=1) if repetitions else table
        there = table[~np.isnan(table)]
        if there.size:
            yield [*np.percentile(there, levels), there.mean()]


@pytest.mark.parametrize(("instances", "repetitions"), [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("at_once", [resampling.MAX_AT_ONCE, 1_000])
def test_draws_that_are_counted_have_the_figures_of_draws_that_are_copied(monkeypatch, instances, repetitions, at_once):
    table = RNG.lognormal(size=(7, 4))
    table[2, 1] = table[5, 3] = np.nan
    values, levels = fleet(table), [0, 50, 90, 100]
    monkeypatch.setattr(resampling, "MAX_AT_ONCE", at_once)

    parts = list(resampling._drawn_figures(values, levels, instances=instances, repetitions=repetitions))

    expected = np.array(list(drawn(values, levels, instances=instances, repetitions=repetitions))).T
    assert np.concatenate(parts, axis=1) == pytest.approx(expected)
    assert len(parts) == -(-resampling.DRAWS // max(1, at_once // 26))


def test_draws_without_any_value_are_left_out():
    # Repetition 2 was measured on one instance only, which some draws do not have.
    table = np.full((6, 2), np.nan)
    table[0] = [1.0, 2.0]
    table[1, 0] = 3.0

    values = fleet(table[:2])
    [figures] = resampling._drawn_figures(values, [50], instances=True, repetitions=True)

    expected = list(drawn(values, [50], instances=True, repetitions=True))
    assert figures.shape[1] == len(expected) < resampling.DRAWS


def test_variances_are_as_large_as_those_of_new_instances_and_not_of_drawn_ones():
    values = fleet(5 + RNG.normal(size=(8, 1)))

    [figures] = resampling._drawn_figures(values, [50], instances=True, repetitions=False)
    variances = resampling._variances(values, [50], instances=True, repetitions=False)

    assert variances["mean"] == pytest.approx(np.log(figures[1]).var(ddof=1) * 8 / 7)
    assert variances[50] == pytest.approx(np.log(figures[0]).var(ddof=1) * 8 / 7)


# --- spread and independence -----------------------------------------------------------------------------------------


def test_deviations_are_the_roots_of_the_variance_components():
    by_rows, by_columns, left = anova(CROSSED)

    found = deviations(fleet(CROSSED))

    assert found["between_instances"] == pytest.approx(math.sqrt((by_rows - left) / 3))
    assert found["between_repetitions"] == pytest.approx(math.sqrt(max(0.0, (by_columns - left) / 3)))
    assert found["residual"] == pytest.approx(math.sqrt(left))


def test_one_row_or_column_has_one_deviation():
    none = {"between_instances": None, "between_repetitions": None, "residual": None}

    assert deviations(fleet([[1.0], [2.0], [4.0]])) == none | {"between_instances": pytest.approx(math.sqrt(7 / 3))}
    assert deviations(fleet([[1.0, 2.0, 4.0]])) == none | {"between_repetitions": pytest.approx(math.sqrt(7 / 3))}
    assert deviations(fleet([[1.0]])) == none


def test_an_instance_that_misses_a_repetition_is_left_out():
    with_a_gap = np.vstack([CROSSED, [100.0, np.nan, 0.0]])

    assert deviations(fleet(with_a_gap)) == deviations(fleet(CROSSED))


def test_launches_differ_by_what_their_instances_do_not_explain():
    tables = [[[1.0, 1.0], [3.0, 3.0]], [[5.0, 5.0], [7.0, 7.0]], [[9.0, 9.0], [11.0, 11.0]]]

    found = deviations(launched(tables))

    # Means 2, 6 and 10: a variance of 16. Within a launch instances vary by 2, so its mean by 1.
    assert found["between_instances"] == pytest.approx(math.sqrt(2))
    assert (found["between_repetitions"], found["residual"]) == (0.0, 0.0)
    assert found["between_launches"] == pytest.approx(math.sqrt(15))


def test_values_are_worth_what_would_know_the_mean_as_well():
    by_rows, by_columns, left = anova(CROSSED)
    parts = [max(0.0, (by_rows - left) / 3), max(0.0, (by_columns - left) / 3), left]
    eight = np.vstack([CROSSED + 0.1 * n for n in range(3)])

    assert independent_n(fleet(CROSSED)) == min(3, int(sum(parts) / (parts[0] / 3 + parts[1] / 3 + left / 9)))
    by_rows, by_columns, left = anova(eight)
    parts = [max(0.0, (by_rows - left) / 3), max(0.0, (by_columns - left) / 9), left]
    assert independent_n(fleet(eight)) == int(sum(parts) / (parts[0] / 9 + parts[1] / 3 + left / 27))


def test_values_that_are_alike_are_worth_their_instances():
    assert independent_n(equal(3.0, 7)) == 7
    assert independent_n(fleet([[value] * 3 for value in range(1, 11)])) == 10
    # Fewer than six instances count once each at most.
    noise = np.random.default_rng(1).normal(size=(6, 20))
    assert independent_n(fleet(noise[:5])) == 5
    assert independent_n(fleet(noise)) > 6
    assert independent_n(fleet([[1.0, 2.0, 3.0]])) == 3
    assert independent_n(fleet([[1.0]] * 9)) == 9
    # One of two instances misses a repetition: nothing tells them apart.
    assert independent_n(fleet([[1.0, 2.0, 3.0], [1.0, np.nan, 3.0]])) == 2


def test_what_only_repetitions_make_is_worth_the_repetitions():
    assert independent_n(fleet([[1.0, 2.0, 4.0]] * 20)) == 3


def test_launches_are_worth_no_more_than_all_of_them_and_at_least_one():
    alike = launched([[[1.0, 1.1], [1.1, 1.0]]] * 3)
    apart = launched([[[1.0, 1.0], [1.0, 1.0]], [[5.0, 5.0], [5.0, 5.0]], [[9.0, 9.0], [9.0, 9.0]]])
    equal_ = launched([[[2.0, 2.0], [2.0, 2.0]]] * 3)

    assert independent_n(alike) == sum(independent_n(launch) for launch in alike.launches)
    # Only launches differ: variance 16, of the mean 16 / 3.
    assert independent_n(apart) == 3
    assert independent_n(equal_) == 6


# --- steadiness: each at its border ----------------------------------------------------------------------------------


def found(finding, medians, *, higher_is_better=False):
    return finding(fleet([medians]), higher_is_better=higher_is_better)


@pytest.mark.parametrize(
    ("medians", "is_slow"),
    [
        ((1.06, 1.0, 1.0), True),
        ((1.04, 1.0, 1.0), False),  # not more than 5 %
        ((1.20, 1.0, 1.08), True),  # 1.20 is beyond 1.08 + 0.08
        ((1.16, 1.0, 1.08), False),  # as far from the others as they from each other
        ((1.5, 1.0), False),  # of two nobody knows which is odd
        ((1.0, 1.5, 1.5), False),
        ((1.0, 0.0, 0.0), False),  # too fast for the clock
    ],
)
def test_a_first_run_is_slow_beyond_5_percent_and_beyond_what_the_later_ones_differ(medians, is_slow):
    assert bool(found(steadiness.slow_first_run, medians)) is is_slow


def test_a_slow_first_run_is_told_against_the_median_of_the_later_ones():
    late = found(steadiness.slow_first_run, (1.5, 1.0, 1.0, 1.1))
    assert (late.repetition, late.share) == (1, pytest.approx(0.5))
    # A rate of 1 among rates of 2 takes twice as long.
    rates = found(steadiness.slow_first_run, (1.0, 2.0, 2.0), higher_is_better=True)
    assert (rates.repetition, rates.share) == (1, pytest.approx(1.0))


def test_a_drift_is_told_by_the_slope_from_first_to_last_over_the_median():
    # From 100 to 112 by 2 a step; the median is 106.
    rising = found(steadiness.drift, (100, 102, 104, 106, 108, 110, 112))

    falling = (112, 110, 108, 106, 104, 102, 100)

    assert (rising.way, rising.share, rising.repetitions) == ("slower", pytest.approx(12 / 106), 7)
    assert found(steadiness.drift, falling).way == "faster"
    assert found(steadiness.drift, falling, higher_is_better=True).way == "slower"


@pytest.mark.parametrize(
    ("medians", "is_drift"),
    [
        ((100, 102, 104, 106, 108), True),  # five are enough: p is 2 / 120
        ((100, 102, 104, 106), False),
        ((100, 101, 102, 103, 104), False),  # 4 %
        ((100, 100, 100, 100, 100), False),
        ((108, 100, 106, 102, 104), False),  # no order
    ],
)
def test_a_drift_needs_an_order_and_5_percent(medians, is_drift):
    assert bool(found(steadiness.drift, medians)) is is_drift


@pytest.mark.parametrize(("medians", "is_unsteady"), [((1.0, 1.2), True), ((0.96, 1.04), False), ((1.0,), False)])
def test_repetitions_are_unsteady_beyond_10_percent(medians, is_unsteady):
    seen = steadiness.unsteady(fleet([medians]))

    assert bool(seen) is is_unsteady
    if seen:
        assert (seen.repetitions, seen.share) == (2, pytest.approx(0.2 / 1.1))


def test_six_instances_must_show_that_chance_does_not_make_repetitions_differ():
    shared = np.array([1.0, 1.3, 0.8])
    noisy = np.exp(0.5 * np.random.default_rng(1).normal(size=(6, 3)))

    assert steadiness.unsteady(fleet(np.outer(np.linspace(1, 2, 6), shared)))
    assert steadiness.unsteady(fleet(noisy)) is None
    # Five cannot show it, and are taken as they are.
    assert steadiness.unsteady(fleet(noisy[:5]))
