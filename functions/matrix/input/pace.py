"""How long cells take, how long they may take, and how often Step Functions looks at them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from matrix.input import limits

# A poll turn costs 9 history events (Lambda 5, Choice 2, Wait 2) of the 25,000 that an execution may have; a cell costs
# about 50 besides its polls (map iteration 4, launch 5, wait 2, analyse 5, stop, record, retries). Budgeting 80% leaves
# (0.8 * 25,000 - 50 * cells) / 9 turns for all cells of a file system, 2,216 for one cell; the other 20% are for
# creating, populating and deleting the file system.
EVENTS_PER_TURN = 9
EVENTS_PER_CELL = 50
BUDGETED_SHARE = 0.8
# A cell is looked at about 20 times: its end is seen a twentieth of its time late, and a death within a minute, half of
# what a silent instance is given.
LOOKS = 20
LEAST_POLL_S, MOST_POLL_S = 10, 60
LEAST_LOOK_S, MOST_LOOK_S = 5, 30
# Near the expected end of a fleet it is looked at sooner: once at that end, then 5, 5, 10, 20 and 40 s later, where the
# history has turns left.
EARLY_LOOKS = 6

# Assumptions, which `plan.assumptions` lists too.
PREPARE_S = 120.0  # boot, agent, packages, mount
STEP_S = 2.0  # dropping caches, tidying up, uploading samples
GATE_MARGIN_S = 2.0  # from the opening of a gate to its start time, in a small fleet
OPENING_S = 1.0  # from the last mark to the opening of the gate, at the most where all is well
BOOT_ALLOWANCE_S = 900.0  # how late a fleet may be ready: boot 60 s, packages and the mount with DNS 5 minutes each
WORK_FACTOR = 3  # how many times longer than expected the work of a cell may take


def gate_margin_s(instances: int, least_s: float = GATE_MARGIN_S) -> float:
    """Return the seconds from the opening of a gate to the start: `least_s`, and half as much more for 1,000.

    The more instances, the longer until the last has seen the gate (docs/records/performance.md).
    """
    return least_s * (1 + min(1.0, instances / 1000) / 2)


def gate_wait_s(instances: int) -> float:
    """Return the seconds from the last instance that is ready for a step to the common start, as plans take them."""
    return gate_margin_s(instances) + OPENING_S


@dataclass(frozen=True)
class Work:
    """What a cell does: seconds of measured work over all its steps, the steps, and how many instances take them.

    `filling_s` is how long each instance fills a cache of its own before its first step.
    """

    seconds: float
    steps: int
    instances: int = 1
    filling_s: float = 0.0

    @property
    def ready_within_s(self) -> float:
        """Seconds after its launch in which the whole fleet must be ready for its first step."""
        return BOOT_ALLOWANCE_S + WORK_FACTOR * self.filling_s

    @property
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
        """Return how often Step Functions looks at the cell; `least_s` is what the history allows its file system."""
        return max(least_s, LEAST_POLL_S, min(MOST_POLL_S, math.ceil(self.expected_s / LOOKS)))

    @property
    def meets_again(self) -> bool:
        """Whether a fleet meets more than once, so that its end can be foretold: what is looked at early."""
        return self.instances > 1 and self.steps > 1

    @property
    def _gates_s(self) -> float:
        """Seconds in which its instances meet before their steps; one alone meets nobody."""
        return self.steps * gate_wait_s(self.instances) if self.instances > 1 else 0.0


def turns_of(cells: int) -> int:
    """Return how many poll turns the cells of one file system share."""
    budget = BUDGETED_SHARE * limits.SFN_EVENTS.value - EVENTS_PER_CELL * cells
    return max(0, math.floor(budget / EVENTS_PER_TURN))


def least_poll_s(works: Sequence[Work]) -> int | None:
    """Return how often the cells of one file system may be polled, even if each runs until its deadline.

    With F the sum of the deadlines and T the turns they share, each cell may be polled every F / T seconds: no step
    waits for a poll. None: so many cells have no turns left.
    """
    # Each cell's last turn may begin just before its deadline, and the deadlines are rounded up to a second.
    turns = turns_of(len(works)) - 2 * len(works)
    return math.ceil(sum(work.deadline_s for work in works) / turns) if turns > 0 else None


def early_looks(cells: Sequence[tuple[float, int]]) -> int:
    """Return how many looks more each cell of a file system may have, of (deadline s, interval s) of all of them.

    As many as the history has turns left where each runs until its deadline, EARLY_LOOKS at the most.
    """
    needed = sum(deadline_s // poll_s + 2 for deadline_s, poll_s in cells)
    return max(0, min(EARLY_LOOKS, int((turns_of(len(cells)) - needed) // len(cells))))


def look_again_s(waited_s: float) -> int:
    """Return after how many seconds to look again at a file system that is made or deleted since `waited_s` seconds.

    A quarter of that, within 5 to 30 s, so that what takes a minute is seen 15 s late at the most, and what takes half
    an hour costs little more than looks at each 30 s. In two minutes it is 13 looks in place of 5: 72 more events.
    """
    return round(max(LEAST_LOOK_S, min(waited_s / 4, MOST_LOOK_S)))


def makespan_s(durations_s: Sequence[float], at_once: int) -> float:
    """Return when the last is finished, if `at_once` run at the same time and the next starts when one ends."""
    lanes = [0.0] * max(1, min(at_once, len(durations_s)))
    for duration_s in durations_s:
        first_free = min(range(len(lanes)), key=lanes.__getitem__)
        lanes[first_free] += duration_s
    return max(lanes)
