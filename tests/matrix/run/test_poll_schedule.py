"""When Poll fleet looks again: as planned, and near the expected end so that it is seen soon."""

import pytest

from matrix.input.pace import EARLY_LOOKS
from matrix.run.poll_schedule import left_s, next_look

POINTS = ["quick", "slow", "slow", "quick"]


def test_a_step_is_expected_to_take_as_long_as_the_last_one_of_its_point():
    opened_at = {0: 1000.0, 1: 1010.0, 2: 1100.0}

    # 5 s of the slow step are gone, 85 are left; the quick one takes 10.
    assert left_s(POINTS, opened_at, now=1105.0) == 85 + 10
    assert left_s(POINTS, {**opened_at, 3: 1190.0}, now=1220.0) == -20


def test_a_step_of_a_new_point_is_expected_to_take_as_long_as_the_mean_of_those_before_it():
    assert left_s(["a", "b", "c", "d"], {0: 0.0, 1: 10.0, 2: 40.0}, now=40.0) == 20 + 20


@pytest.mark.parametrize("opened_at", [{}, {0: 1000.0}])
def test_before_a_step_is_over_nobody_knows_when_the_fleet_is_done(opened_at):
    assert left_s(POINTS, opened_at, now=1300.0) is None


def looks(seconds, left_s, *, poll_s=60, early=EARLY_LOOKS):
    """When a fleet is looked at until it is done after so many seconds, if it was expected after `left_s`."""
    now, moments = 0, []
    while now < seconds:
        look = next_look(poll_s, early, None if left_s is None else left_s - now)
        now, early = now + look.wait_s, look.early_looks
        moments.append(now)
    return moments


def test_the_end_is_seen_within_seconds_of_when_it_was_expected():
    assert looks(100, left_s=None) == [60, 120]
    assert looks(100, left_s=98) == [60, 98, 103]
    assert looks(80, left_s=98) == [60, 98]
    # So near that another look at it would cost more than it is worth.
    assert looks(62, left_s=61) == [60, 65]


def test_what_is_overdue_is_looked_at_after_as_long_again_and_at_last_as_often_as_planned():
    assert looks(250, left_s=30) == [30, 35, 40, 50, 70, 110, 170, 230, 290]


def test_no_more_early_looks_are_taken_than_are_left():
    assert looks(100, left_s=30, early=1) == [30, 90, 150]
    assert looks(100, left_s=30, early=0) == [60, 120]


@pytest.mark.parametrize("left_s", [-1e6, -200.0, -61.0, -0.5, 0.0, 0.5, 59.5, 61.0, 1e6])
def test_a_fleet_is_never_looked_at_later_than_planned_nor_twice_within_five_seconds(left_s):
    for early in range(EARLY_LOOKS + 1):
        assert 5 <= next_look(60, early, left_s).wait_s <= 60
