"""Look at a fleet: EC2's view first, then the blackboard."""

from dataclasses import dataclass
from typing import TypeVar

from aws.ec2 import instances
from aws.records import bucket
from aws.stack.clock import now
from matrix.run import polling
from matrix.run.polling import Fleet, Progress
from matrix.terms import sentences
from matrix.terms.documents.job import FleetRecord, Gate, JobDocument
from matrix.terms.errors import InstanceDied, InstanceFailed, SpotInterrupted
from matrix.terms.keys import Board

T = TypeVar("T")


# https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html
KEY_REFUSED = (
    "if the account's default key for EBS is its own, the key's policy must let the stack's roles use it through EC2 "
    "(Launch fleet, Populate cache, Create file system, Bake image): kms:CreateGrant, kms:Decrypt, kms:DescribeKey, "
    "kms:GenerateDataKeyWithoutPlaintext, kms:ReEncrypt*"
)


def _is_of_key(reason: str) -> bool:
    return reason.startswith(("Client.InternalError", "Client.InvalidKMSKey"))


@dataclass(frozen=True)
class Watched:
    """A fleet and where it stands."""

    fleet: Fleet
    progress: Progress
    job: JobDocument


def watch(board: Board) -> Watched:
    """Return how far the fleet of a board is; raises why (InstanceDied, SpotInterrupted, …) it cannot finish."""
    job = _of(board.job, JobDocument)
    record = _of(board.fleet, FleetRecord)
    gate = _of(board.gate, Gate)
    fleet = Fleet(
        instances=tuple(record["instances"]),
        launched_at=record["launched_at"],
        steps=len(job["steps"]),
        deadline_at=job["deadline_at"],
        has_barrier=job["barrier"] is not None,
        ready_within_s=job["ready_within_s"],
    )
    # EC2 before the blackboard: see polling.assess.
    states = instances.states(fleet.instances)
    seen = polling.read_listing(board.instances, bucket.listing(board.instances))
    try:
        progress = polling.assess(fleet, seen, states, gate["step"], now())
    except InstanceFailed as error:
        raise InstanceFailed(f"{error}: {_reasons(board)}") from error
    except InstanceDied as error:
        taken = instances.interrupted(fleet.instances)
        if not taken:
            # EC2 checks EBS quotas and encryption keys only after RunInstances has answered, so the reason is here.
            reasons = instances.reasons_of_end(fleet.instances)[: sentences.NAMED_AT_MOST]
            words = "; ".join([*reasons, *([KEY_REFUSED] if any(map(_is_of_key, reasons)) else [])])
            raise InstanceDied(f"{error}{': ' if words else ''}{words}") from error
        fix = "measure again, choose another type, or leave out spot"
        raise SpotInterrupted(
            f"{sentences.named(taken)} of {len(fleet.instances)} Spot instances taken back by EC2; {fix}"
        ) from error
    return Watched(fleet, progress, job)


def _of(key: str, kind: type[T]) -> T:
    """Return a document of a fleet that was launched, so that it must be there."""
    document = bucket.read(key, kind)
    if document is None:
        raise LookupError(f"{key} is not in the bucket")
    return document


def _reasons(board: Board) -> str:
    """Return the reasons that the agents wrote, each once: 200 agents mostly fail for the same one."""
    reasons: dict[str, None] = {}
    for key, _ in bucket.listing(board.instances):
        name = key.removeprefix(board.instances).partition("/")[2]
        if name == "failed.json" and len(reasons) < sentences.NAMED_AT_MOST:
            reasons[polling.reason(bucket.get_bytes(key, polling.REASON_MOST_BYTES) or b"")] = None
    return "; ".join(reasons)
