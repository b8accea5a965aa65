"""A part of the fault harness small enough for each test run; the whole is `make faults`."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from harness import Case, Laboratory, execute_apart, laboratory, stratified, work_list

SCENARIO = "alone"  # the cheapest: one instance with a volume
FAULTS, STOPS, RUNS_AT_ONCE = 6, 5, 4


@pytest.fixture(scope="module")
def lab() -> Iterator[Laboratory]:
    """A cloud on which calls fail when they are told to."""
    with laboratory() as made:
        yield made


@pytest.fixture(scope="module")
def cases(lab: Laboratory) -> list[Case]:
    """All cases of one scenario, from the calls of a good run; without those that only a cloud's first run makes."""
    return [case for case in work_list({SCENARIO: lab.record(SCENARIO, "good")}) if case.what != "agent"]


def test_whatever_fails_nothing_is_left_or_lost_and_the_results_say_why(lab, cases):
    chosen = stratified([case for case in cases if case.fault != "stopped"], FAULTS)

    with ThreadPoolExecutor(RUNS_AT_ONCE) as pool:
        verdicts = [one for found in pool.map(lambda case: execute_apart(lab, (case,)), chosen) for one in found]

    assert {verdict.id: verdict.problems for verdict in verdicts} == {case.id: [] for case in chosen}
    assert {verdict.case["fault"] for verdict in verdicts} == {case.fault for case in cases} - {"stopped"}
    assert lab.left_by_all() == {}


def test_a_run_that_is_stopped_in_five_states_leaves_nothing_after_one_sweep(lab, cases):
    states = [case for case in cases if case.fault == "stopped"]
    chosen = states[len(states) // STOPS - 1 :: len(states) // STOPS][:STOPS]

    with ThreadPoolExecutor(RUNS_AT_ONCE) as pool:
        verdicts = [one for found in pool.map(lambda case: execute_apart(lab, (case,)), chosen) for one in found]

    assert len({verdict.case["what"] for verdict in verdicts}) == STOPS
    assert [(verdict.status, verdict.sweeps, verdict.problems) for verdict in verdicts] == [("ABORTED", 1, [])] * STOPS
    assert lab.left_by_all() == {}
