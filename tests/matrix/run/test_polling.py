"""How a fleet's state is told from what lies on the blackboard."""

from dataclasses import replace

import pytest

from matrix.input.pace import EARLY_POLLS
from matrix.run.polling import Fleet, Met, assess, left_s, next_poll, read_listing
from matrix.terms.errors import BarrierTimeout, CellTimeout, InstanceDied, InstanceFailed, InstanceSilent

LAUNCHED = 1_000_000.0
PREFIX = "runs/r/cells/c/instances/"
FLEET = Fleet(("i-1", "i-2"), LAUNCHED, steps=3, deadline_at=LAUNCHED + 3600)
RUNNING = {"i-1": "running", "i-2": "running"}


def board(*entries: str, at: float = LAUNCHED + 60):
    """What lies on the blackboard, from `i-1/done.json` and the like."""
    return read_listing(PREFIX, [(f"{PREFIX}AROAX:{entry}", at) for entry in entries])


def test_a_listing_is_read_by_instance_id_whatever_the_role_id_is():
    seen = board("i-1/samples.json", "i-2/heartbeat", "i-2/failed.json")

    assert (seen["i-1"].has_samples, seen["i-1"].is_done, seen["i-2"].has_failed) == (True, False, True)


def met(gate, *ready, at=LAUNCHED + 60):
    """How far a fleet has met, with those that are ready for the step after a gate."""
    return Met(gate, dict.fromkeys(ready, at))


def test_nothing_heard_yet_is_waiting_not_failure():
    progress = assess(FLEET, {}, {}, LAUNCHED + 30, met(-1))

    assert (progress.state, progress.ready, progress.expected, progress.gate_to_open) == ("waiting", 0, 2, None)


def test_a_gate_is_left_to_the_fleet_until_it_is_overdue():
    one, both = met(-1, "i-1"), met(-1, "i-1", "i-2")

    assert assess(FLEET, {}, RUNNING, LAUNCHED + 800, one).gate_to_open is None
    assert assess(FLEET, {}, RUNNING, LAUNCHED + 61, one).ready == 1
    assert assess(FLEET, {}, RUNNING, LAUNCHED + 75, both).gate_to_open is None
    assert assess(FLEET, {}, RUNNING, LAUNCHED + 76, both).gate_to_open == 0


def test_each_later_gate_waits_for_the_slowest_instance():
    assert assess(FLEET, {}, RUNNING, LAUNCHED + 99, met(0, "i-1")).gate_to_open is None
    assert assess(FLEET, {}, RUNNING, LAUNCHED + 99, met(0, "i-1", "i-2")).gate_to_open == 1


def test_a_mark_of_no_instance_of_the_fleet_opens_nothing():
    progress = assess(FLEET, {}, RUNNING, LAUNCHED + 99, met(0, "i-1", "i-9"))

    assert (progress.ready, progress.gate_to_open) == (1, None)


def test_a_fleet_is_finished_when_every_instance_said_so_even_if_they_have_ended_since():
    seen = board("i-1/done.json", "i-2/done.json")

    progress = assess(FLEET, seen, {"i-1": "terminated", "i-2": "shutting-down"}, LAUNCHED + 300, met(2))

    assert (progress.state, progress.done, progress.step) == ("finished", 2, 3)


def test_no_gate_is_opened_past_the_last_step():
    assert assess(FLEET, board("i-1/done.json"), RUNNING, LAUNCHED + 99, met(2, "i-1", "i-2")).gate_to_open is None


def test_an_instance_that_gave_up_fails_the_cell_by_name():
    with pytest.raises(InstanceFailed, match=r"1 of 2 instances failed \(i-2\)"):
        assess(FLEET, board("i-2/failed.json"), RUNNING, LAUNCHED + 61, met(-1))


def test_an_instance_that_ended_without_being_done_has_died():
    with pytest.raises(InstanceDied, match="i-1"):
        assess(FLEET, board("i-1/heartbeat"), {"i-1": "terminated", "i-2": "running"}, LAUNCHED + 61, met(-1))


def test_an_instance_that_ec2_does_not_show_yet_is_not_dead():
    assert assess(FLEET, {}, {"i-1": "pending"}, LAUNCHED + 2, met(-1)).state == "waiting"


def test_a_running_instance_without_a_sign_of_life_for_two_minutes_is_silent():
    seen = board("i-1/heartbeat", at=LAUNCHED + 60) | board("i-2/heartbeat", at=LAUNCHED + 170)

    assert assess(FLEET, seen, RUNNING, LAUNCHED + 180, met(0)).state == "running"
    with pytest.raises(InstanceSilent, match=r"1 of 2 .*\(i-1\)"):
        assess(FLEET, seen, RUNNING, LAUNCHED + 181, met(0))


def test_a_fleet_that_does_not_get_ready_in_time_names_the_late_ones():
    seen, ready = board("i-1/heartbeat", "i-2/heartbeat", at=LAUNCHED + 890), met(-1, "i-1", at=LAUNCHED + 890)

    assert assess(FLEET, seen, RUNNING, LAUNCHED + 900, ready).state == "waiting"
    with pytest.raises(BarrierTimeout, match=r"1 of 2 instances not ready .*\(i-2\)"):
        assess(FLEET, seen, RUNNING, LAUNCHED + 901, ready)


def test_a_fleet_that_first_fills_its_caches_may_be_ready_later():
    filling = replace(FLEET, ready_within_s=3600.0, deadline_at=LAUNCHED + 9000)
    seen, ready = board("i-1/heartbeat", "i-2/heartbeat", at=LAUNCHED + 3590), met(-1, "i-1", at=LAUNCHED + 3590)

    assert assess(filling, seen, RUNNING, LAUNCHED + 3600, ready).state == "waiting"
    with pytest.raises(BarrierTimeout, match="not ready"):
        assess(filling, seen, RUNNING, LAUNCHED + 3601, ready)


def test_a_cell_past_its_deadline_is_over_even_though_its_instances_live():
    seen = board("i-1/done.json") | board("i-2/heartbeat", at=LAUNCHED + 3650)

    with pytest.raises(CellTimeout, match=r"1 of 2 .*\(i-2\)"):
        assess(FLEET, seen, RUNNING, LAUNCHED + 3661, met(2))


def test_an_instance_alone_waits_for_no_gate():
    alone = replace(FLEET, instances=("i-1",))

    assert assess(alone, board("i-1/heartbeat"), RUNNING, LAUNCHED + 61).state == "waiting"
    progress = assess(alone, board("i-1/samples.json"), RUNNING, LAUNCHED + 61)
    assert (progress.state, progress.gate_to_open) == ("running", None)


def test_an_instance_alone_is_at_the_step_that_its_heartbeat_says():
    alone = replace(FLEET, instances=("i-1",))

    progress = assess(alone, board("i-1/heartbeat"), RUNNING, LAUNCHED + 61, step=2)

    assert (progress.state, progress.step) == ("running", 2)


def test_a_large_fleet_is_named_shortly():
    many = replace(FLEET, instances=tuple(f"i-{n}" for n in range(200)))
    dead = dict.fromkeys(many.instances, "terminated")

    with pytest.raises(InstanceDied, match=r"200 of 200 .*\(i-0, i-1, i-2, i-3, i-4 and 195 more\)"):
        assess(many, {}, dead, LAUNCHED + 61, met(-1))


# When it is polled again: as planned, and near the expected end so that this is seen soon.
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


def looks(seconds, left_s, *, poll_s=60, early=EARLY_POLLS):
    """When a fleet is looked at until it is done after so many seconds, if it was expected after `left_s`."""
    now, moments = 0, []
    while now < seconds:
        look = next_poll(poll_s, early, None if left_s is None else left_s - now)
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
    for early in range(EARLY_POLLS + 1):
        assert 5 <= next_poll(60, early, left_s).wait_s <= 60
