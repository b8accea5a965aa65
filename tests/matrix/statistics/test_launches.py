"""Several launches of a cell: what a launch shares is the unit, and nothing within it is."""

import dataclasses
import math

import numpy as np
import pytest
from support.fleet_values import launched

from matrix.statistics.describing import describe
from matrix.statistics.differing import difference
from matrix.statistics.intervals import intervals
from matrix.statistics.spread import carries


def steady(middle, instances=6, repetitions=3):
    """A launch whose values are all alike."""
    return np.full((instances, repetitions), middle)


def test_the_median_is_the_geometric_mean_of_the_launches_medians_with_students_t_of_two_degrees():
    values = launched([steady(50.0), steady(100.0), steady(200.0)])

    interval = intervals(values, [50])[50]

    # Logarithms -ln 2, 0, ln 2 around ln 100: standard deviation ln 2, standard error ln 2 / √3, t(97.5 %, 2) = 4.3027.
    half = 4.302653 * math.log(2) / math.sqrt(3)
    assert values.percentile(50) == pytest.approx(100)
    assert (interval.low, interval.high) == pytest.approx((100 / math.exp(half), 100 * math.exp(half)))
    assert (interval.limited_by, interval.method) == ("launches", "launches, Student's t")


def test_values_that_are_not_above_0_have_the_arithmetic_mean():
    assert launched([steady(0.0), steady(2.0), steady(7.0)]).percentile(50) == pytest.approx(3)


def test_an_instance_and_a_repetition_more_make_no_interval_narrower():
    widths = []
    for instances, repetitions in ((1, 1), (6, 3), (50, 10)):
        values = launched([steady(middle, instances, repetitions) for middle in (98.0, 100.0, 103.0)])
        interval = intervals(values, [50])[50]
        widths.append(interval.high / interval.low)

    assert widths == pytest.approx([widths[0]] * 3)


def test_two_launches_show_that_they_differ_and_not_how_much():
    values = launched([steady(100.0), steady(120.0)])

    document = describe(values, higher_is_better=False)

    assert document["intervals"] == {}
    assert document["no_interval"] == "2 launches: an interval needs at least 3"
    assert document["scope"] == "not replicated"
    between = difference(values, launched([steady(300.0), steady(301.0)]))
    assert (between.is_replicated, between.interval) == (False, None)
    assert not between.is_shown(between.p_value)


def test_the_one_launch_that_others_have_left_is_not_what_was_asked_for():
    rng = np.random.default_rng(3)
    alone, whole = rng.normal(100, 1, size=(10, 4)), [rng.normal(130, 1, size=(10, 4)) for _ in range(4)]

    document = describe(launched([alone]), higher_is_better=False)
    between = difference(launched([alone]), launched(whole))

    assert (document["intervals"], document["scope"]) == ({}, "not replicated")
    assert document["no_interval"] == "1 launch: an interval needs at least 3"
    assert (document["spread"]["between_launches_cv"], document["spread"]["launches"]) == (None, 1)
    assert not between.is_shown(between.p_value)


def test_a_percentile_is_carried_where_each_launch_carries_it_by_itself():
    rng = np.random.default_rng(6)
    large, small = rng.normal(100, 1, size=(40, 1)), rng.normal(100, 1, size=(10, 1))

    assert carries(launched([large, large, large]), 90)
    assert not carries(launched([large, large, small]), 90)


def test_launches_in_two_groups_differ_and_are_one_finding():
    rng = np.random.default_rng(7)
    tables = [middle * np.exp(0.005 * rng.normal(size=(8, 3))) for middle in (100.0, 101.0, 140.0, 141.0, 100.5)]

    kinds = [finding["code"] for finding in describe(launched(tables), higher_is_better=False)["findings"]]

    assert kinds == ["launches-differ"]


def test_launches_that_differ_widely_are_a_finding_and_chance_is_none():
    rng = np.random.default_rng(8)
    unlike = [middle * np.exp(0.03 * rng.normal(size=(8, 3))) for middle in (90.0, 97.0, 104.0, 111.0)]
    noisy = [100.0 * np.exp(0.3 * rng.normal(size=(8, 1)) + 0.01 * rng.normal(size=(8, 3))) for _ in range(4)]

    first = describe(launched(unlike), higher_is_better=False)["findings"]
    second = describe(launched(noisy), higher_is_better=False)["findings"]

    assert first[0]["code"] == "launches-differ"
    assert (first[0]["count"], first[0]["share"] > 0.1) == (4, True)
    assert "launches-differ" not in [finding["code"] for finding in second]


def test_a_difference_is_tested_by_what_launches_differ_by():
    base, run = [100.0, 110.0, 95.0], [106.0, 117.0, 100.0]

    between = difference(launched(map(steady, base)), launched(map(steady, run)))
    far = difference(launched(map(steady, base)), launched(map(steady, [2 * middle for middle in run])))

    assert between.ratio == pytest.approx((106 * 117 * 100 / (100 * 110 * 95)) ** (1 / 3))
    assert not between.is_shown(between.p_value)
    assert far.is_shown(far.p_value)
    assert (far.test, far.units) == ("launches, Student's t", (3, 3))


HOURS = (100.0, 130.0, 90.0, 160.0)


def test_launches_of_one_run_are_pairs_so_that_an_hour_which_slows_all_alike_cancels():
    factors = (1.10, 1.12, 1.09, 1.11)
    base, run = ([steady(hour * times) for hour, times in zip(HOURS, by, strict=True)] for by in ((1,) * 4, factors))

    paired = difference(launched(base), launched(run), is_one_run=True)
    apart = difference(launched(base), launched(run))

    # By hand: mean and standard deviation of ln 1.10, ln 1.12, ln 1.09, ln 1.11; t(97.5 %, 3) = 3.1824.
    logarithms = np.log(factors)
    half = 3.182446 * logarithms.std(ddof=1) / math.sqrt(4)
    assert paired.ratio == pytest.approx(math.exp(logarithms.mean()))
    assert (paired.interval.low, paired.interval.high) == pytest.approx(
        (math.exp(logarithms.mean() - half), math.exp(logarithms.mean() + half))
    )
    assert paired.test == "launches in pairs, Student's t"
    assert paired.is_shown(paired.p_value)
    assert not apart.is_shown(apart.p_value)


def test_pairs_are_made_by_the_number_of_the_launch_and_of_those_that_both_have():
    base = launched([steady(hour) for hour in HOURS])
    # The first launch of the other storage has failed; its last one is a fifth.
    late = launched([steady(2 * hour) for hour in (*HOURS[1:], 400.0)])
    run = dataclasses.replace(late, launch_numbers=tuple(launch + 1 for launch in late.launch_numbers))

    assert difference(base, run, is_one_run=True).ratio == pytest.approx(2)
    assert difference(base, run).ratio > 2.2


def test_fewer_than_three_launches_in_common_are_no_pairs():
    base = launched([steady(hour) for hour in HOURS[:3]])
    late = launched([steady(hour) for hour in HOURS[:3]])
    run = dataclasses.replace(late, launch_numbers=tuple(launch + 1 for launch in late.launch_numbers))

    assert difference(base, run, is_one_run=True).test == "launches, Student's t"
