"""A part of the fault harness small enough for each test run; the whole is `make faults`."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from cloud.faults.injection import object_name, who
from faults.cases import EVERYTHING, LATE, LATE_S, Case, stratified, work_list
from faults.harness import execute_apart
from faults.laboratory import Laboratory, Verdict, laboratory
from support.runs import Run

SCENARIO = "alone"  # the cheapest: one instance with a volume
FAULTS, RUNS_AT_ONCE = 6, 5
# Where each thing that costs money exists: a file system, its mount targets, a fleet that is at work for 30 s.
STOPS = [
    ("shared", "Check file system"),
    ("stopped", "Launch fleet"),
    ("stopped", "Wait for fleet"),
    ("stopped", "Poll fleet"),
    ("shared", "Delete file system"),
]

# An EFS file system and its fleet; FSx is late in `make faults`. Half as late is late enough, and waits half as long.
LATE_HERE_S = {name: min(seconds, 10) for name, seconds in LATE_S.items() if name != "deletion"}


@pytest.fixture(scope="module")
def lab() -> Iterator[Laboratory]:
    """A cloud on which calls fail when they are told to."""
    with laboratory() as made:
        yield made


@pytest.fixture(scope="module")
def good(lab: Laboratory) -> Iterator[Future[list[dict[str, Any]]]]:
    """The calls of a good run, which goes on while the first test has its own runs."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(lab.record, SCENARIO, "good")


@pytest.fixture(scope="module")
def late(lab: Laboratory) -> Iterator[Future[list[Verdict]]]:
    """What becomes of a run to which AWS shows everything late; it too goes on while the first test has its runs."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(lab.execute, (Case("shared", "AWS", LATE, EVERYTHING, LATE, None),), "late", LATE_HERE_S)


@pytest.mark.parametrize(
    ("session", "caller"),
    [
        (
            # pragma: allowlist nextline secret
            "storage-matrix-CheckDeletedFunctionRole-0D91MG795R3L/storage-matrix-CheckDeletedFunction-7H2KQ0PZ41XN",
            "CheckDeleted",
        ),
        ("storage-matrix-InstanceRole-0D91MG795R3L/i-0123456789abcdef0", "Instance"),  # pragma: allowlist secret
        ("storage-matrix-RunRole-0D91MG795R3L/local", "Run"),  # pragma: allowlist secret
    ],
)
def test_a_fault_meets_a_function_by_its_name(session: str, caller: str):
    assert who(f"arn:aws:sts::123456789012:assumed-role/{session}") == caller


@pytest.mark.parametrize(
    ("key", "about"),
    [
        ("points/r-1/ebs.touch.m6i.large-x1.jsonl", "points"),  # of each cell: the same faults befall it
        ("agents/0a.pyz", "agent"),
        ("owners/fs-0e1cfbd2", "owner"),
        ("runs/r-1/cells/c/gates/0001.json", "gate"),
        ("runs/r-1/cells/c/volumes.json", "volumes.json"),
        ("mount-0a1b2c3d4e5f60718293a4b5c6d7e8f9/", "mount-data/"),  # pragma: allowlist secret
    ],
)
def test_a_fault_is_about_a_kind_of_object_and_not_one_of_them(key: str, about: str):
    assert object_name(key) == about


def execute(lab: Laboratory, cases: list[Case]) -> list[Verdict]:
    """Run cases at once, each alone in its run."""
    with ThreadPoolExecutor(RUNS_AT_ONCE) as pool:
        return [verdict for found in pool.map(lambda case: execute_apart(lab, (case,)), cases) for verdict in found]


def test_runs_that_are_stopped_in_five_states_leave_nothing_after_one_sweep(lab, good, late):
    chosen = [Case(scenario, "Run", "enter", state, "stopped", 1) for scenario, state in STOPS]

    verdicts = execute(lab, chosen)

    said = [(verdict.status, verdict.sweeps, verdict.problems) for verdict in verdicts]
    assert said == [("ABORTED", 1, [])] * len(STOPS)
    created = [row["kind"] for v in verdicts for row in Run(lab.cloud, v.run, "").rows().values() if "kind" in row]
    assert set(created) == {"efs", "instance", "volume"}
    good.result()
    late.result()
    assert lab.left_by_all() == {}


def test_what_aws_shows_late_costs_time_and_nothing_else(lab, late):
    [verdict] = late.result()

    assert (verdict.status, verdict.problems) == ("SUCCEEDED", [])
    assert {call["what"] for call in lab.calls("late") if call["action"] == LATE} == set(LATE_HERE_S)


def test_a_child_that_ends_without_its_clean_up_leaves_nothing_after_one_sweep(lab):
    # Neither a full history nor a payload above 256 KiB is caught by States.ALL: the fleet is at work, nobody ends it.
    [verdict] = execute(lab, [Case("stopped", "Run", "enter", "Poll fleet", "history full", 1)])

    assert (verdict.status, verdict.sweeps, verdict.problems) == ("FAILED", 1, [])
    machine = lab.cloud.output("StateMachineArn")
    run = Run(lab.cloud, verdict.run, f"{machine.replace(':stateMachine:', ':execution:')}:{verdict.run}")
    # A quick sweep may have deleted it before anybody could look what the run had left.
    ended_at = run.describe()["stopDate"].timestamp()
    gone_at = [row["gone_at"] for row in run.rows().values() if row.get("kind") == "efs"]
    assert gone_at, "it had nothing to leave behind"
    assert min(gone_at) >= ended_at, "it has cleaned up by itself"
    receipt = run.document("receipt.json")
    assert {row["kind"] for row in receipt["resources"]} >= {"efs", "instance"}
    assert receipt["is_complete"]
    assert "no result was recorded" in run.cell()["error"]["message"]
    assert lab.left_by_all() == {}


def test_whatever_fails_nothing_is_left_or_lost_and_the_results_say_why(lab, good):
    # The first run of a cloud also brings the agent; that call is not made again.
    cases = [case for case in work_list({SCENARIO: good.result()}) if case.what != "agent" and case.fault != "stopped"]
    chosen = stratified(cases, FAULTS)

    verdicts = execute(lab, chosen)

    assert {verdict.id: verdict.problems for verdict in verdicts} == {case.id: [] for case in chosen}
    assert {verdict.case["fault"] for verdict in verdicts} == {case.fault for case in cases}
    assert lab.left_by_all() == {}
