"""No execution of a file system reaches the 25,000 events at which Step Functions ends it; counted, not assumed."""

import importlib

import pytest
from judge import history, template

from aws.storages.fsx_openzfs import cloud as fsx_openzfs
from local.corrections.yaml_template import load
from matrix.fields import limits
from matrix.input import pace

RUN = load((template.ROOT / "statemachine/run.asl.yaml").read_text())
FILE_SYSTEM = RUN["States"]["Each file system"]["ItemProcessor"]
CELL = FILE_SYSTEM["States"]["Each cell"]["ItemProcessor"]
DELETION_LIMIT_S = importlib.import_module("check_deleted").DELETION_LIMIT_S


def looks(machine: dict, wait: str, limit_s: float) -> int:
    """Events of a loop that waits ever longer, as a function says, and ends after a limit."""
    states, turns, waited_s = machine["States"], 1, 0
    assert states[wait]["Seconds"] == "{% $states.input.wait_s %}"
    while waited_s <= limit_s:
        waited_s += pace.poll_again_s(waited_s)
        turns += 1
    return turns * history.turn(states, wait)


@pytest.mark.parametrize(
    ("machine", "wait", "states"),
    [
        (CELL, "Wait for fleet", {"Wait for fleet", "Poll fleet", "Fleet finished?"}),
        (FILE_SYSTEM, "Wait for cache", {"Wait for cache", "Poll cache", "Cache populated?"}),
    ],
)
def test_a_turn_of_a_poll_has_the_events_that_its_interval_is_computed_with(machine: dict, wait: str, states: set[str]):
    assert history.cycle(machine["States"], wait) == states
    assert history.turn(machine["States"], wait) == pace.EVENTS_PER_TURN


def test_the_longest_way_of_a_cell_beside_its_polls_has_no_more_events_than_are_set_aside():
    events = history.longest(CELL, with_retries=False) + history.EVENTS_PER_ITERATION

    assert 30 < events <= pace.EVENTS_PER_CELL


@pytest.mark.parametrize("cells", [1, 10, 100, 400])
def test_the_longest_file_system_fits_even_where_each_call_of_its_own_needs_all_its_retries(cells: int):
    """Created and deleted in the last second of their limits, each other call tried six times; cells not."""
    beside_polls = (
        history.EVENTS_PER_EXECUTION
        + history.longest(FILE_SYSTEM, with_retries=True)
        + looks(FILE_SYSTEM, "Wait for file system", fsx_openzfs.CREATION_LIMIT_S)
        + looks(FILE_SYSTEM, "Wait for deletion", DELETION_LIMIT_S)
    )
    per_cell = history.longest(CELL, with_retries=False) + history.EVENTS_PER_ITERATION

    polls = pace.turns_of(cells) * pace.EVENTS_PER_TURN
    assert beside_polls + cells * per_cell + polls < limits.SFN_EVENTS.value
