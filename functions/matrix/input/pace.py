"""Duration and deadline of cells, and the interval at which Step Functions polls them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from matrix.fields import limits

# A poll turn costs 9 history events (Lambda 5, Choice 2, Wait 2) of the 25,000 that an execution may have; a cell costs
# about 50 besides its polls (map iteration 4, launch 5, wait 2, analyse 5, stop, record, retries). Budgeting 80% leaves
# (0.8 * 25,000 - 50 * cells) / 9 turns for all cells of a file system, 2,216 for one cell; the other 20% are for
# creating, populating and deleting the file system.
EVENTS_PER_TURN = 9
EVENTS_PER_CELL = 50
BUDGETED_SHARE = 0.8
# Poll about 20 times per cell: its end is noticed at most 5 % late, and a dead instance within 60 s, half of the time
# that a silent instance is given.
POLLS_PER_CELL = 20
MIN_POLL_S, MAX_POLL_S = 10, 60
MIN_FILE_SYSTEM_POLL_S, MAX_FILE_SYSTEM_POLL_S = 5, 30
# Near its expected end a fleet is polled sooner: once at that end, then 5, 5, 10, 20 and 40 s later, if the history has
# turns left.
EARLY_POLLS = 6

# An agent writes a heartbeat so often. Each is a PUT.
HEARTBEAT_S = 30

# Assumptions, which `plan.assumptions` lists too.
PREPARE_S = 120.0  # boot, agent, packages, mount
STEP_S = 2.0  # dropping caches, tidying up, uploading samples
GATE_MARGIN_S = 2.0  # from the opening of a gate to its start time, in a small fleet
OPENING_S = 1.0  # at most, from the last mark to the opening of the gate without failures
BOOT_ALLOWANCE_S = 900.0  # how late a fleet may be ready: boot 60 s, packages and the mount with DNS 5 minutes each
WORK_FACTOR = 3  # how many times longer than expected the work of a cell may take


def gate_margin_s(instances: int, least_s: float = GATE_MARGIN_S) -> float:
    """Return the seconds from the opening of a start barrier to the start: `least_s`, rising by half for 1,000.

    With more instances it takes longer until the last one knows the start time.
    """
    return least_s * (1 + min(1.0, instances / 1000) / 2)


def gate_wait_s(instances: int) -> float:
    """Return the seconds that plans assume from the last ready instance to the common start of a step."""
    return gate_margin_s(instances) + OPENING_S


@dataclass(frozen=True)
class Work:
    """Work of a cell: measured seconds over all steps, number of steps and number of instances.

    `filling_s`: seconds that each instance fills its own cache before its first step.
    """

    seconds: float
    steps: int
    instances: int = 1
    filling_s: float = 0.0

    @property
    def ready_within_s(self) -> float:
        """Seconds after its launch in which the whole fleet must be ready for its first step."""
        return BOOT_ALLOWANCE_S + WORK_FACTOR * self.filling_s

    @cached_property
    def expected_s(self) -> float:
        """Seconds that the cell takes."""
        return PREPARE_S + self.filling_s + self.seconds + self.steps * STEP_S + self._gates_s

    @property
    def least_s(self) -> float:
        """Seconds that the cell takes at least: half the work, and gates that are seen at once."""
        return (PREPARE_S + self.filling_s + self.seconds) / 2 + self.steps * STEP_S + self._gates_s

    @cached_property
    def deadline_s(self) -> float:
        """Seconds after which the cell is given up."""
        return self.ready_within_s + WORK_FACTOR * (self.seconds + self.steps * STEP_S + self._gates_s)

    def poll_s(self, least_s: int) -> int:
        """Return the polling interval in seconds. `least_s` is the shortest that the execution's history allows."""
        return max(least_s, MIN_POLL_S, min(MAX_POLL_S, math.ceil(self.expected_s / POLLS_PER_CELL)))

    @property
    def syncs_between_points(self) -> bool:
        """Whether a fleet meets more than once, so that its end can be predicted and polled early."""
        return self.instances > 1 and self.steps > 1

    @cached_property
    def _gates_s(self) -> float:
        """Seconds of its instances' start barriers; a single instance has none."""
        return self.steps * gate_wait_s(self.instances) if self.instances > 1 else 0.0


def turns_of(cells: int) -> int:
    """Return the number of polls that the cells of one file system share."""
    budget = BUDGETED_SHARE * limits.SFN_EVENTS.value - EVENTS_PER_CELL * cells
    return max(0, math.floor(budget / EVENTS_PER_TURN))


def least_poll_s(works: Sequence[Work]) -> int | None:
    """Return the shortest polling interval for the cells of one file system, if each runs until its deadline.

    With F the sum of the deadlines and T the turns they share, each cell may be polled every F / T seconds: no step
    waits for a poll. None: there are too many cells for any turns.
    """
    # Each cell's last turn may begin just before its deadline, and the deadlines are rounded up to a second.
    turns = turns_of(len(works)) - 2 * len(works)
    return math.ceil(sum(work.deadline_s for work in works) / turns) if turns > 0 else None


def early_looks(cells: Sequence[tuple[float, int]]) -> int:
    """Return the number of early polls for each cell of a file system, from (deadline s, interval s) of all cells.

    The execution's history must suffice if each cell runs until its deadline. At most EARLY_POLLS.
    """
    needed = sum(deadline_s // poll_s + 2 for deadline_s, poll_s in cells)
    return max(0, min(EARLY_POLLS, int((turns_of(len(cells)) - needed) // len(cells))))


def poll_again_s(waited_s: float) -> int:
    """Return the seconds until the next poll of a file system that has been in creation or deletion for `waited_s`.

    A quarter of `waited_s`, within 5 to 30 s. So an end after a minute is noticed at most 15 s late, and half an hour
    costs few more polls than one each 30 s. Two minutes take 13 polls instead of 5: 72 more events.
    """
    return round(max(MIN_FILE_SYSTEM_POLL_S, min(waited_s / 4, MAX_FILE_SYSTEM_POLL_S)))


def makespan_s(durations_s: Sequence[float], at_once: int) -> float:
    """Return when the last is finished, if `at_once` run at the same time and the next starts when one ends."""
    lanes = [0.0] * max(1, min(at_once, len(durations_s)))
    for duration_s in durations_s:
        first_free = min(range(len(lanes)), key=lanes.__getitem__)
        lanes[first_free] += duration_s
    return max(lanes)
