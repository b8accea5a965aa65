"""Poll a fleet: EC2's view first, then the blackboard."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from aws.ec2 import console, instances
from aws.records import bucket
from aws.stack import denials
from aws.stack.clock import now
from contract.gates import MAX_BYTES
from contract.keys import FAILED, HEARTBEAT, RAW_LETTER, BarrierKeys, instance_of
from matrix.input.pace import BOOT_ALLOWANCE_S
from matrix.run import gates, heartbeats, polling
from matrix.run.gates import OpenGate
from matrix.run.heartbeats import Heartbeat
from matrix.run.polling import Fleet, Met, Progress, Seen
from matrix.terms import sentences
from matrix.terms.documents.job import BarrierRecord, FleetRecord, JobDocument
from matrix.terms.errors import (
    BarrierTimeout,
    CellTimeout,
    InstanceDied,
    InstanceFailed,
    InstanceSilent,
)
from matrix.terms.keys import Board

T = TypeVar("T")

# Instances of a waiting fleet mostly wait for the same reason, so this number of heartbeats suffices, in a second.
HEARTBEATS_READ = 20


@dataclass(frozen=True)
class Watched:
    """A fleet and its progress."""

    fleet: Fleet
    progress: Progress
    job: JobDocument
    place: BarrierKeys | None  # None for an instance alone
    opened_at: Mapping[int, float]  # when the gate of each step was opened, epoch seconds


def watch(board: Board) -> Watched:
    """Return the progress of a fleet; raises the reason (InstanceDied, QuotaExceeded, …) if it cannot finish."""
    job = _of(board.job, JobDocument)
    record = _of(board.fleet, FleetRecord)
    place = board.barrier(_of(board.barrier_nonce, BarrierRecord)["nonce"]) if job["barrier"] is not None else None
    fleet = Fleet(
        instances=tuple(record["instances"]),
        launched_at=record["launched_at"],
        steps=len(job["steps"]),
        deadline_at=job["deadline_at"],
        ready_within_s=job["ready_within_s"],
    )
    # EC2 before the blackboard: see polling.assess.
    states = instances.states(fleet.instances)
    listing = list(bucket.listing(board.instances, RAW_LETTER))
    seen = polling.read_listing(board.instances, listing)
    opened_at = gates.steps_of(gates.read_names(place.gates, bucket.listing(place.gates))) if place is not None else {}
    met = _met(place, fleet, opened_at) if place is not None else None
    try:
        step = _step_alone(fleet, listing) if met is None else None
        progress = polling.assess(fleet, seen, states, now(), met, step=step)
    except InstanceFailed as error:
        # Cells whose whole fleets failed alike have the same message.
        is_whole = all(signs.has_failed for signs in seen.values())
        raise InstanceFailed(f"{_reasons(board)}{'' if is_whole else f' ({error})'}") from error
    except (BarrierTimeout, InstanceSilent, CellTimeout) as error:
        # An instance that is neither ready nor done gives the reason in its heartbeat.
        late = [name for name in fleet.instances if not seen.get(name, Seen()).is_done and not _is_ready(met, name)]
        words = _statuses(board, late or fleet.instances)
        waiting_for = [f"their heartbeats say: {words}"] if words else []
        # Before that they may still be booting.
        overdue = _mute(late, seen) if now() > fleet.launched_at + BOOT_ALLOWANCE_S else []
        raise type(error)("; ".join([str(error), *waiting_for, *console.last_output(overdue)])) from error
    except InstanceDied as error:
        ended = [name for name in fleet.instances if states.get(name) in polling.ENDED_STATES]
        mute = _mute(ended, seen)
        reasons = instances.reasons_of_end(ended)
        of_ec2 = {name: why for name, why in reasons.items() if instances.is_of_ec2(why, has_started=name not in mute)}
        if of_ec2:
            said = sentences.of_fleet(list(of_ec2), len(fleet.instances), "ended by EC2")
            raise instances.refusal(next(iter(of_ec2.values())), said) from error
        why = list(dict.fromkeys(map(denials.describe, reasons.values())))[: sentences.MAX_NAMED]
        words = "; ".join([*why, *console.last_output(mute)])
        raise InstanceDied(f"{error}{': ' if words else ''}{words}") from error
    return Watched(fleet, progress, job, place, opened_at)


def _step_alone(fleet: Fleet, listing: Sequence[tuple[str, float]]) -> int | None:
    """Return the current step of a single instance. It has no start barriers, so only its heartbeat shows the step."""
    if len(fleet.instances) != 1:
        return None
    key = next((key for key, _ in listing if key.endswith(f":{fleet.instances[0]}/{HEARTBEAT}")), None)
    heartbeat = _heartbeat(key, fleet.steps) if key else None
    return heartbeat.step if heartbeat else None


def _met(place: BarrierKeys, fleet: Fleet, opened_at: Mapping[int, float]) -> Met:
    """Return the fleet's state at its start barrier. Raises GateForged if no agent of the fleet opened the last one."""
    last = max(opened_at, default=-1)
    if last >= 0:
        body = bucket.get_bytes(place.gate(last), MAX_BYTES) or b""
        gates.check(OpenGate(last, body, opened_at[last], len(opened_at)), fleet.instances, _ready_at(place, last))
    return Met(last, _ready_at(place, last + 1))


def _ready_at(place: BarrierKeys, step: int) -> dict[str, float]:
    """Return when each instance reported that it was ready for a step."""
    prefix = place.ready(step)
    return gates.instances_of(gates.read_names(prefix, bucket.listing(prefix)))


def _mute(instances: Sequence[str], seen: Mapping[str, Seen]) -> list[str]:
    """Return the instances whose agents have put nothing on the blackboard, so they cannot report a reason."""
    return [name for name in instances if seen.get(name, Seen()).last_sign_at is None]


def _is_ready(met: Met | None, instance: str) -> bool:
    return met is not None and instance in met.ready_at


def _statuses(board: Board, instances: Collection[str]) -> str:
    """Return the distinct states and problems in the heartbeats of the first of these instances."""
    statuses: dict[str, str] = {}
    keys = [
        key
        for key, _ in bucket.listing(board.instances, RAW_LETTER)
        if key.endswith(f"/{HEARTBEAT}") and instance_of(key.rpartition("/")[0]) in instances
    ]
    for heartbeat in filter(None, map(_heartbeat, keys[:HEARTBEATS_READ])):
        words = f"{heartbeat.state}: {' and '.join(heartbeat.troubles)}" if heartbeat.troubles else heartbeat.state
        if len(statuses) < sentences.MAX_NAMED:
            statuses.setdefault(polling.without_figures(words), words)
    return "; ".join(statuses.values())


def _heartbeat(key: str, steps: int = heartbeats.MAX_STEPS) -> Heartbeat | None:
    return heartbeats.parse(bucket.get_bytes(key, heartbeats.MAX_BYTES) or b"", now(), steps)


def _of(key: str, kind: type[T]) -> T:
    """Return a document of a launched fleet, which must exist."""
    document = bucket.read(key, kind)
    if document is None:
        raise LookupError(f"{key} is not in the bucket")
    return document


def _reasons(board: Board) -> str:
    """Return the reasons that the agents wrote, each once: 200 agents mostly fail for the same one."""
    reasons: dict[str, None] = {}
    for key, _ in bucket.listing(board.instances, RAW_LETTER):
        name = key.removeprefix(board.instances).partition("/")[2]
        if name == FAILED and len(reasons) < sentences.MAX_NAMED:
            reasons[polling.reason(bucket.get_bytes(key, polling.REASON_MOST_BYTES) or b"")] = None
    return "; ".join(reasons)
