"""How a fleet's state is told from what lies on the blackboard."""

from dataclasses import replace

import pytest

from matrix.run.polling import Fleet, assess, read_listing
from matrix.terms.errors import BarrierTimeout, CellTimeout, InstanceDied, InstanceFailed, InstanceSilent

LAUNCHED = 1_000_000.0
PREFIX = "runs/r/cells/c/instances/"
FLEET = Fleet(("i-1", "i-2"), LAUNCHED, steps=3, deadline_at=LAUNCHED + 3600, has_barrier=True)
RUNNING = {"i-1": "running", "i-2": "running"}


def board(*entries: str, at: float = LAUNCHED + 60):
    """What lies on the blackboard, from `i-1/ready-0000` and the like."""
    return read_listing(PREFIX, [(f"{PREFIX}AROAX:{entry}", at) for entry in entries])


def test_a_listing_is_read_by_instance_id_whatever_the_role_id_is():
    seen = board("i-1/ready-0000", "i-1/ready-0001", "i-1/samples.json", "i-2/heartbeat", "i-2/failed.json")

    assert seen["i-1"].ready == {0, 1}
    assert (seen["i-1"].has_samples, seen["i-1"].is_done, seen["i-2"].has_failed) == (True, False, True)


def test_nothing_heard_yet_is_waiting_not_failure():
    progress = assess(FLEET, {}, {}, gate=-1, now=LAUNCHED + 30)

    assert (progress.state, progress.ready, progress.expected, progress.gate_to_open) == ("waiting", 0, 2, None)


def test_the_first_gate_opens_when_all_are_ready_and_not_before():
    one = assess(FLEET, board("i-1/ready-0000"), RUNNING, gate=-1, now=LAUNCHED + 61)
    both = assess(FLEET, board("i-1/ready-0000", "i-2/ready-0000"), RUNNING, gate=-1, now=LAUNCHED + 61)

    assert (one.gate_to_open, one.ready) == (None, 1)
    assert (both.gate_to_open, both.ready) == (0, 2)


def test_each_later_gate_waits_for_the_slowest_instance():
    slow = board("i-1/ready-0000", "i-2/ready-0000", "i-1/ready-0001")
    even = board("i-1/ready-0000", "i-2/ready-0000", "i-1/ready-0001", "i-2/ready-0001")

    assert assess(FLEET, slow, RUNNING, gate=0, now=LAUNCHED + 61).gate_to_open is None
    assert assess(FLEET, even, RUNNING, gate=0, now=LAUNCHED + 61).gate_to_open == 1


def test_a_fleet_is_finished_when_every_instance_said_so_even_if_they_have_ended_since():
    seen = board("i-1/done.json", "i-2/done.json")

    progress = assess(FLEET, seen, {"i-1": "terminated", "i-2": "shutting-down"}, gate=2, now=LAUNCHED + 300)

    assert (progress.state, progress.done, progress.step) == ("finished", 2, 3)


def test_no_gate_is_opened_past_the_last_step():
    seen = board("i-1/ready-0002", "i-2/ready-0002", "i-1/done.json")

    assert assess(FLEET, seen, RUNNING, gate=2, now=LAUNCHED + 61).gate_to_open is None


def test_an_instance_that_gave_up_fails_the_cell_by_name():
    with pytest.raises(InstanceFailed, match="1 \\(i-2\\) of 2 instances gave up"):
        assess(FLEET, board("i-1/ready-0000", "i-2/failed.json"), RUNNING, gate=-1, now=LAUNCHED + 61)


def test_an_instance_that_ended_without_being_done_has_died():
    with pytest.raises(InstanceDied, match="i-1"):
        assess(FLEET, board("i-1/ready-0000"), {"i-1": "terminated", "i-2": "running"}, gate=-1, now=LAUNCHED + 61)


def test_an_instance_that_ec2_does_not_show_yet_is_not_dead():
    assert assess(FLEET, {}, {"i-1": "pending"}, gate=-1, now=LAUNCHED + 2).state == "waiting"


def test_a_running_instance_without_a_sign_of_life_for_two_minutes_is_silent():
    seen = board("i-1/heartbeat", at=LAUNCHED + 60) | board("i-2/heartbeat", at=LAUNCHED + 170)

    assert assess(FLEET, seen, RUNNING, gate=0, now=LAUNCHED + 180).state == "running"
    with pytest.raises(InstanceSilent, match="1 \\(i-1\\)"):
        assess(FLEET, seen, RUNNING, gate=0, now=LAUNCHED + 181)


def test_a_fleet_that_does_not_get_ready_in_time_names_the_late_ones():
    seen = board("i-1/ready-0000", at=LAUNCHED + 890) | board("i-2/heartbeat", at=LAUNCHED + 890)

    assert assess(FLEET, seen, RUNNING, gate=-1, now=LAUNCHED + 900).state == "waiting"
    with pytest.raises(BarrierTimeout, match="1 \\(i-2\\) of 2 instances not ready"):
        assess(FLEET, seen, RUNNING, gate=-1, now=LAUNCHED + 901)


def test_a_fleet_that_first_fills_its_caches_may_be_ready_later():
    filling = replace(FLEET, ready_within_s=3600.0, deadline_at=LAUNCHED + 9000)
    seen = board("i-1/ready-0000", at=LAUNCHED + 3590) | board("i-2/heartbeat", at=LAUNCHED + 3590)

    assert assess(filling, seen, RUNNING, gate=-1, now=LAUNCHED + 3600).state == "waiting"
    with pytest.raises(BarrierTimeout, match="not ready"):
        assess(filling, seen, RUNNING, gate=-1, now=LAUNCHED + 3601)


def test_a_cell_past_its_deadline_is_over_even_though_its_instances_live():
    seen = board("i-1/done.json") | board("i-2/heartbeat", at=LAUNCHED + 3650)

    with pytest.raises(CellTimeout, match="1 \\(i-2\\)"):
        assess(FLEET, seen, RUNNING, gate=2, now=LAUNCHED + 3661)


def test_an_instance_alone_waits_for_no_gate():
    alone = replace(FLEET, instances=("i-1",), has_barrier=False)

    progress = assess(alone, board("i-1/ready-0000", "i-1/ready-0001"), RUNNING, gate=-1, now=LAUNCHED + 61)

    assert (progress.state, progress.step, progress.gate_to_open) == ("running", 1, None)


def test_a_large_fleet_is_named_shortly():
    many = replace(FLEET, instances=tuple(f"i-{n}" for n in range(200)))
    dead = dict.fromkeys(many.instances, "terminated")

    with pytest.raises(InstanceDied, match="200 \\(i-0, i-1, i-2, i-3, i-4 and 195 more\\) of 200"):
        assess(many, {}, dead, gate=-1, now=LAUNCHED + 61)
