"""Progress of a fleet, from the names and times of its agents' objects in the cell's folder in S3; its next poll."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from contract.gates import OVERDUE_S
from contract.keys import DONE, FAILED, SAMPLES, instance_of
from matrix.input.pace import BOOT_ALLOWANCE_S, HEARTBEAT_S, MIN_FILE_SYSTEM_POLL_S
from matrix.terms.errors import (
    BarrierTimeout,
    CellTimeout,
    InstanceDied,
    InstanceFailed,
    InstanceSilent,
    StorageMatrixError,
)
from matrix.terms.sentences import of_fleet

# EC2 states of an instance that will not do anything any more.
ENDED_STATES = frozenset({"shutting-down", "terminated", "stopping", "stopped"})
# Four missing in a row are too many for a hiccup of S3.
SILENT_AFTER_S = 4.0 * HEARTBEAT_S
# Agents stop at the cell's deadline, and need a moment to report it.
DEADLINE_GRACE_S = 60.0
REASON_MOST_BYTES = 100_000
DIGITS = re.compile(r"[0-9.,]+")


@dataclass
class Seen:
    """Objects of one instance on the blackboard so far."""

    last_sign_at: float | None = None
    has_samples: bool = False
    is_done: bool = False
    has_failed: bool = False


@dataclass(frozen=True)
class Fleet:
    """A launched fleet: instance ids, launch time (epoch seconds), number of steps, and deadline."""

    instances: tuple[str, ...]
    launched_at: float
    steps: int
    deadline_at: float
    ready_within_s: float = BOOT_ALLOWANCE_S  # more if each instance fills its own cache before its first step


@dataclass(frozen=True)
class Met:
    """Progress of the start barriers: the last step with an open gate (-1: none), and the ready marks of the next step.

    `ready_at` has the time of each mark by instance id, in epoch seconds.
    """

    gate: int
    ready_at: Mapping[str, float]


@dataclass(frozen=True)
class Progress:
    """Progress of a fleet."""

    state: str  # "waiting" for instances to become ready, "running", or "finished"
    step: int  # the step that runs or is waited for, 0-based; equals the number of steps when finished
    expected: int
    ready: int
    running: int
    done: int
    failed: int
    gate_to_open: int | None = None  # the step whose gate may be opened now

    def counts(self) -> dict[str, int]:
        """The numbers a person follows while a cell runs."""
        return {name: getattr(self, name) for name in ("expected", "ready", "running", "done", "failed")}


def read_listing(prefix: str, objects: Iterable[tuple[str, float]]) -> dict[str, Seen]:
    """Return the objects of each instance below `prefix`, by instance id, from (key, last-modified epoch s) pairs.

    A folder is named by the instance's `aws:userid`, which EC2 sets to `<role id>:<instance id>`.
    """
    seen: dict[str, Seen] = {}
    for key, modified_at in objects:
        userid, _, name = key.removeprefix(prefix).partition("/")
        signs = seen.setdefault(instance_of(userid), Seen())
        signs.last_sign_at = max(modified_at, signs.last_sign_at or modified_at)
        # An instance chooses the names of its objects: only names that an agent writes count.
        signs.has_samples |= name == SAMPLES
        signs.is_done |= name == DONE
        signs.has_failed |= name == FAILED
    return seen


def assess(
    fleet: Fleet,
    seen: Mapping[str, Seen],
    ec2_states: Mapping[str, str],
    now: float,
    met: Met | None = None,
    *,
    step: int | None = None,
) -> Progress:
    """Return the progress of the fleet.

    `ec2_states` has EC2's state of each instance, read *before* the blackboard was listed. An agent writes its end to
    the blackboard before its instance ends. So an instance that had ended without this object failed. `met` is the
    progress of the start barriers; None for a single instance, whose `step` is from its heartbeat.

    Raises the reason why the cell cannot finish: InstanceFailed, InstanceDied, InstanceSilent, BarrierTimeout or
    CellTimeout.
    """
    board = {instance: seen.get(instance, Seen()) for instance in fleet.instances}
    problem = _failure(fleet, board, ec2_states, now)
    if problem:
        raise problem
    done = sum(signs.is_done for signs in board.values())
    expected = len(board)
    if done == expected:
        return Progress("finished", fleet.steps, expected, ready=0, running=0, done=done, failed=0)
    if met is None:
        started = sum(signs.has_samples for signs in board.values())
        state = "running" if started or step is not None else "waiting"
        return Progress(state, step or 0, expected, ready=started, running=started - done, done=done, failed=0)
    return _at_barrier(fleet, met, now, done)


def reason(text: bytes) -> str:
    """Return the reason in a failed.json in words. An instance wrote it, so its content is not trusted."""
    try:
        failure = json.loads(text)
        words = f"{failure['error']}: {failure['message']}"
    except (ValueError, TypeError, KeyError, RecursionError):
        words = f"failed.json is not readable: {text[:100]!r}"
    return _printable(words)


def without_figures(words: str) -> str:
    """Return the words without their figures: 200 instances report the same, each with another time."""
    return DIGITS.sub("", words)


def _printable(words: str) -> str:
    # It is shown in tables, reports and terminals: control characters must not reach them.
    return "".join(letter if letter.isprintable() else " " for letter in words[:1000])


def _at_barrier(fleet: Fleet, met: Met, now: float, done: int) -> Progress:
    following = met.gate + 1
    late = [instance for instance in fleet.instances if instance not in met.ready_at]
    expected = len(fleet.instances)
    ready = expected - len(late)
    if following < fleet.steps and not late:
        # The fleet opens its gate itself, within seconds.
        is_overdue = now - max(met.ready_at[instance] for instance in fleet.instances) > OVERDUE_S
        to_open = following if is_overdue else None
        return Progress("running", following, expected, ready, running=0, done=done, failed=0, gate_to_open=to_open)
    if met.gate < 0:
        waited = now - fleet.launched_at
        if waited > fleet.ready_within_s:
            absent = of_fleet(late, expected, f"not ready to start {waited:.0f} s after launch")
            raise BarrierTimeout(f"{absent}; see their log.gz, or the instance's console output if there is none")
        return Progress("waiting", 0, expected, ready, running=0, done=done, failed=0)
    return Progress("running", met.gate, expected, ready, running=expected - ready - done, done=done, failed=0)


def _failure(
    fleet: Fleet, board: Mapping[str, Seen], ec2_states: Mapping[str, str], now: float
) -> StorageMatrixError | None:
    failed = [instance for instance, signs in board.items() if signs.has_failed]
    if failed:
        return InstanceFailed(of_fleet(failed, len(board), "failed"))
    unfinished = [instance for instance, signs in board.items() if not signs.is_done]
    # EC2 may not know an instance for some seconds after RunInstances: absent is not dead.
    died = [instance for instance in unfinished if ec2_states.get(instance) in ENDED_STATES]
    if died:
        return InstanceDied(of_fleet(died, len(board), "ended before their agents were done"))
    silent = [instance for instance in unfinished if _silence_s(board[instance], fleet, now) > SILENT_AFTER_S]
    if silent:
        return InstanceSilent(of_fleet(silent, len(board), f"silent for more than {SILENT_AFTER_S:.0f} s"))
    if now > fleet.deadline_at + DEADLINE_GRACE_S:
        allowed_s = fleet.deadline_at - fleet.launched_at
        what = f"not done at the cell's deadline, {allowed_s:.0f} s after launch"
        return CellTimeout(of_fleet(unfinished, len(board), what))
    return None


def _silence_s(signs: Seen, fleet: Fleet, now: float) -> float:
    if signs.last_sign_at is not None:
        return now - signs.last_sign_at
    # Before its first sign an instance may still be booting: silence counts from the end of the boot allowance.
    return now - (fleet.launched_at + BOOT_ALLOWANCE_S)


@dataclass(frozen=True)
class NextPoll:
    """The next poll of a fleet: seconds until then, and the number of early polls that may follow."""

    wait_s: int
    early_looks: int


def left_s(points: Sequence[str], opened_at: Mapping[int, float], now: float) -> float | None:
    """Return the seconds until the expected end of a fleet; a negative value is the time since then.

    `points` is the point of each step, `opened_at` when (epoch s) the gate of each step so far was opened. A step takes
    as long as the one before it of the same point, or else as the mean of all. None: none has been taken yet.
    """
    last = max(opened_at, default=0)
    if last == 0:
        return None
    mean_s = (opened_at[last] - opened_at[0]) / last
    took_s = {points[step]: opened_at[step + 1] - opened_at[step] for step in range(last)}
    return opened_at[last] - now + sum(took_s.get(point, mean_s) for point in points[last:])


def next_poll(poll_s: int, early_looks: int, left_s: float | None) -> NextPoll:
    """Return the next poll of a fleet that is polled each `poll_s` seconds and is expected to end in `left_s`.

    The poll comes at the expected end. An overdue fleet is polled again after as long as it has been overdue, at least
    5 s. A poll never comes later than planned, and as planned if no early polls are left.
    """
    if left_s is None or not early_looks:
        return NextPoll(poll_s, early_looks)
    wait_s = max(MIN_FILE_SYSTEM_POLL_S, math.ceil(abs(left_s)))
    return NextPoll(wait_s, early_looks - 1) if wait_s < poll_s else NextPoll(poll_s, early_looks)
