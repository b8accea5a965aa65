"""Copies that AWS or a backup plan of the account makes: they outlive a file system and cost money.

We request none (no backup policy, no automatic or final backup), so each copy is a leak. FSx and AWS Backup copy our
tags, and our roles may delete only resources with them. A snapshot that a user took of a run's volume is reported and
kept.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from aws.records import table
from aws.stack import tags
from aws.stack.clients import DENIED, client, listed
from aws.storages.base import Copy
from aws.storages.clouds import FILE_SYSTEMS
from matrix.plan.recycle_bin import SNAPSHOT
from matrix.terms.grouping import grouped

DELETION_PROOFS = {
    SNAPSHOT: "EC2 DescribeSnapshots: not there",
    **{storage.COPIES: storage.COPIES_DELETION_PROOF for storage in FILE_SYSTEMS.values() if storage.COPIES},
}


@dataclass(frozen=True)
class FoundCopies:
    """The copies that exist, and by kind the reason why a service could not be asked."""

    copies: list[Copy]
    unasked: dict[str, str]


def find(run: str, rows: Iterable[Mapping[str, Any]]) -> FoundCopies:
    """List copies of a run's resources; a service that does not answer is noted in `unasked`.

    `rows` are resource rows of the run: a backup is found by the id of its file system, not by our tags.
    """
    ids = grouped((row["kind"], row["id"]) for row in rows)
    asked: dict[str, list[Iterable[Copy]]] = {SNAPSHOT: [_snapshots(run, ids.get("volume", []))]}
    for kind, storage in FILE_SYSTEMS.items():
        if storage.COPIES:
            asked.setdefault(storage.COPIES, []).append(storage.copies(ids.get(kind, [])))
    copies: list[Copy] = []
    unasked: dict[str, str] = {}
    for kind, answers in asked.items():
        try:
            copies += chain.from_iterable(answers)
        except (ClientError, BotoCoreError) as error:
            unasked[kind] = _briefly(error)
    return FoundCopies(copies, unasked)


def _briefly(error: ClientError | BotoCoreError) -> str:
    """Return operation and error code only: the message may be a whole page of HTML."""
    if isinstance(error, ClientError):
        return f"{error.operation_name} answered {error.response['Error']['Code']}"
    return type(error).__name__


def delete(copies: Iterable[Copy]) -> set[str]:
    """Delete copies; a copy that is being deleted already refuses, and the next pass finds it again.

    Return the ids that our roles may not delete: copies without our tags belong to others.
    """
    not_ours = set()
    for copy in copies:
        try:
            copy.delete()
        except ClientError as error:
            if error.response["Error"]["Code"] in DENIED:
                not_ours.add(copy.id)
    return not_ours


def note(run: str, seen: FoundCopies, rows: Iterable[Mapping[str, Any]]) -> None:
    """Give each copy a row and mark rows whose copy is gone; `rows` are the run's resource rows before the pass."""
    by_id = {row["id"]: row for row in rows}
    for copy in seen.copies:
        facts = {"of": copy.of, "created_at": copy.created_at}
        file_system = by_id.get(copy.of, {}).get("file_system")
        table.record_resource(run, copy.kind, copy.id, **facts, **({"file_system": file_system} if file_system else {}))
    there = {copy.id for copy in seen.copies}
    asked = DELETION_PROOFS.keys() - seen.unasked.keys()
    open_rows = (row for row in by_id.values() if row["kind"] in asked and "gone_at" not in row)
    table.mark_deleted(run, ((row, DELETION_PROOFS[row["kind"]]) for row in open_rows if row["id"] not in there))


def _snapshots(run: str, volumes: list[str]) -> Iterator[Copy]:
    """Yield snapshots with our tags (a snapshot may inherit them) and snapshots of our volumes."""
    asked = [tags.of_runs(run)]
    asked += [[{"Name": "volume-id", "Values": volumes[start : start + 200]}] for start in range(0, len(volumes), 200)]
    seen: set[str] = set()
    for filters in asked:
        for snapshot in listed("ec2", "describe_snapshots", "Snapshots", OwnerIds=["self"], Filters=filters):
            name = snapshot["SnapshotId"]
            is_kept = tags.IMAGE in tags.as_mapping(snapshot.get("Tags", []))  # of an image that a run has baked
            if name not in seen and not is_kept:
                seen.add(name)
                yield Copy(
                    SNAPSHOT, name, snapshot.get("VolumeId", ""), _epoch(snapshot["StartTime"]),
                    lambda name=name: client("ec2").delete_snapshot(SnapshotId=name),
                )  # fmt: skip


def _epoch(at: Any) -> float:
    return float(at.timestamp())
