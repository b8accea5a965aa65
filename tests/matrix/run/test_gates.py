"""How a fleet meets, and which gates Poll fleet takes for those of our agents."""

import json

import pytest

from matrix.run.gates import OpenGate, check, instances_of, read_names, rule, steps_of
from matrix.terms.errors import GateForged
from matrix.terms.keys import Board

FLEET = ("i-1", "i-2")
OPENED = 1_000_000.0
READY = dict.fromkeys(FLEET, OPENED)


def gate(step=0, start_at=OPENED + 2, gates_there=None, **more):
    """A gate that was opened at OPENED."""
    body = more.get("body", json.dumps({"step": step, "start_at": start_at, "opener": "AROA:i-1"}).encode())
    return OpenGate(step, body, OPENED, step + 1 if gates_there is None else gates_there)


@pytest.mark.parametrize(("count", "margin_s", "poll_s"), [(2, 2.0, 0.4), (200, 2.2, 0.4), (1000, 3.0, 0.5)])
def test_a_larger_fleet_looks_less_often_and_has_longer_to_see_its_gate(count, margin_s, poll_s):
    made = rule(count, 2.0, 900)

    assert made["margin_s"] == pytest.approx(margin_s, abs=0.01)
    assert made["poll_s"] == pytest.approx(poll_s, abs=0.001)
    assert (made["request_s"], made["timeout_s"]) == (1.0, 900)


def test_emulated_machines_have_more_time_for_a_request_and_this_machine_less_between_looks():
    assert rule(4, 10.0, 900)["request_s"] == 5.0
    assert rule(4, 0.15, 900)["poll_s"] == 0.05


def test_marks_and_gates_are_read_by_the_names_that_agents_write():
    place = Board.of_cell("r", "c").barrier("0" * 32)
    named = ["0000.json", "0001.json", "1.json", "0002.txt", "x/0003.json", "٠٠٠٤.json", "00005.json"]

    opened = steps_of(read_names(place.gates, [(f"{place.gates}{name}", 5.0) for name in named]))
    ready = instances_of(read_names(place.ready(1), [(f"{place.ready(1)}AROA:i-1", 7.0)]))

    assert (opened, ready) == ({0: 5.0, 1: 5.0}, {"i-1": 7.0})
    assert place.gate(1) == f"{place.gates}0001.json"


@pytest.mark.parametrize("start_at", [OPENED - 1, OPENED + 2, OPENED + 15])
def test_a_gate_that_the_last_instance_has_opened_is_one(start_at):
    check(gate(3, start_at), FLEET, READY | {"i-1": OPENED + 1})


@pytest.mark.parametrize(
    ("opened", "ready_at", "reason"),
    [
        (gate(), {"i-1": OPENED}, "before 1 of 2 instances were ready"),
        (gate(), READY | {"i-2": OPENED + 2}, "before 1 of 2 instances were ready"),
        (gate(5, gates_there=4), READY, "4 of the 6 gates"),
        (gate(start_at=OPENED + 16), READY, "says"),
        (gate(start_at=OPENED - 2), READY, "says"),
        (gate(body=b'{"step": 1, "start_at": 1000002}'), READY, "says"),
        (gate(body=b"["), READY, "not readable"),
        (gate(body=b"5"), READY, "not readable"),
        (gate(body=b'{"step": 0, "start_at": {}}'), READY, "not readable"),
    ],
)
def test_a_gate_that_no_agent_of_ours_opens_is_found_out(opened, ready_at, reason):
    with pytest.raises(GateForged, match=reason):
        check(opened, FLEET, ready_at)
