"""Copies that AWS makes by itself, or a backup plan of the account does: they outlive a file system and cost money.

We ask for none (no backup policy, no automatic or final backup), so each copy is a leak. FSx and AWS Backup put our
tags on their copies, and our roles may delete only what carries them. A snapshot that somebody took by hand of a run's
volume is reported and kept.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from aws.records import table
from aws.stack import tags
from aws.stack.clients import DENIED, client, impatient_client, pages_of

FSX_BACKUP, SNAPSHOT, RECOVERY_POINT = "fsx-backup", "ebs-snapshot", "efs-recovery-point"
WHO_SAYS_SO = {
    FSX_BACKUP: "FSx DescribeBackups: not there",
    SNAPSHOT: "EC2 DescribeSnapshots: not there",
    RECOVERY_POINT: "AWS Backup ListRecoveryPointsByResource: not there",
}


@dataclass(frozen=True)
class Copy:
    """A backup, snapshot or recovery point; `of` is what it is a copy of."""

    kind: str
    id: str
    of: str
    created_at: float
    delete: Callable[[], object]


@dataclass(frozen=True)
class Look:
    """The copies that exist, and by kind the reason why a service could not be asked."""

    copies: list[Copy]
    unasked: dict[str, str]


def look(run: str, rows: Iterable[Mapping[str, Any]]) -> Look:
    """Look for copies of what a run created; a service that does not answer is noted in `unasked`.

    `rows` are resource rows of the run: a backup is found by the id of its file system, not by our tags.
    """
    ids: dict[str, list[str]] = {}
    for row in rows:
        ids.setdefault(row["kind"], []).append(row["id"])
    asked = {
        FSX_BACKUP: _fsx_backups(ids.get("fsx-openzfs", [])),
        SNAPSHOT: _snapshots(run, ids.get("volume", [])),
        RECOVERY_POINT: _recovery_points(ids.get("efs", [])),
    }
    copies: list[Copy] = []
    unasked: dict[str, str] = {}
    for kind, answer in asked.items():
        try:
            copies += answer
        except (ClientError, BotoCoreError) as error:
            unasked[kind] = _briefly(error)
    return Look(copies, unasked)


def _briefly(error: ClientError | BotoCoreError) -> str:
    """Return operation and error code only: the message may be a whole page of HTML."""
    if isinstance(error, ClientError):
        return f"{error.operation_name} answered {error.response['Error']['Code']}"
    return type(error).__name__


def delete(copies: Iterable[Copy]) -> set[str]:
    """Delete copies; a copy that is being deleted already refuses, and the next look finds it again.

    Return the ids that our roles may not delete: without our tags they are somebody else's.
    """
    not_ours = set()
    for copy in copies:
        try:
            copy.delete()
        except ClientError as error:
            if error.response["Error"]["Code"] in DENIED:
                not_ours.add(copy.id)
    return not_ours


def note(run: str, seen: Look, rows: Iterable[Mapping[str, Any]]) -> None:
    """Give each copy a row and mark rows whose copy is gone; `rows` are the run's resource rows before the look."""
    by_id = {row["id"]: row for row in rows}
    for copy in seen.copies:
        facts = {"of": copy.of, "created_at": copy.created_at}
        file_system = by_id.get(copy.of, {}).get("file_system")
        table.record_resource(run, copy.kind, copy.id, **facts, **({"file_system": file_system} if file_system else {}))
    there = {copy.id for copy in seen.copies}
    asked = WHO_SAYS_SO.keys() - seen.unasked.keys()
    open_rows = (row for row in by_id.values() if row["kind"] in asked and "gone_at" not in row)
    table.resources_gone(run, ((row, WHO_SAYS_SO[row["kind"]]) for row in open_rows if row["id"] not in there))


def _fsx_backups(file_systems: list[str]) -> Iterator[Copy]:
    for file_system in file_systems:
        of_it = [{"Name": "file-system-id", "Values": [file_system]}]
        for page in client("fsx").get_paginator("describe_backups").paginate(Filters=of_it):
            for backup in page["Backups"]:
                name = backup["BackupId"]
                yield Copy(
                    FSX_BACKUP, name, file_system, _epoch(backup["CreationTime"]),
                    lambda name=name: client("fsx").delete_backup(BackupId=name),
                )  # fmt: skip


def _snapshots(run: str, volumes: list[str]) -> Iterator[Copy]:
    """Yield snapshots that carry our tags (a snapshot may inherit them) and snapshots of our volumes."""
    asked = [tags.of_runs(run)]
    asked += [[{"Name": "volume-id", "Values": volumes[start : start + 200]}] for start in range(0, len(volumes), 200)]
    seen: set[str] = set()
    for filters in asked:
        for page in pages_of("describe_snapshots", OwnerIds=["self"], Filters=filters):
            for snapshot in page["Snapshots"]:
                name = snapshot["SnapshotId"]
                is_kept = tags.IMAGE in tags.as_mapping(snapshot.get("Tags", []))  # of an image that a run has baked
                if name not in seen and not is_kept:
                    seen.add(name)
                    yield Copy(
                        SNAPSHOT, name, snapshot.get("VolumeId", ""), _epoch(snapshot["StartTime"]),
                        lambda name=name: client("ec2").delete_snapshot(SnapshotId=name),
                    )  # fmt: skip


def _recovery_points(file_systems: list[str]) -> Iterator[Copy]:
    """Ask AWS Backup once and briefly for each file system: an account may not use or allow the service."""
    if not file_systems:
        return
    backup = impatient_client("backup")
    for file_system in file_systems:
        pages = backup.get_paginator("list_recovery_points_by_resource").paginate(ResourceArn=_efs_arn(file_system))
        for point in (point for page in pages for point in page["RecoveryPoints"]):
            where = {"BackupVaultName": point["BackupVaultName"], "RecoveryPointArn": point["RecoveryPointArn"]}
            yield Copy(
                RECOVERY_POINT, point["RecoveryPointArn"], file_system, _epoch(point["CreationDate"]),
                lambda where=where: backup.delete_recovery_point(**where),
            )  # fmt: skip


def _efs_arn(file_system: str) -> str:
    account = client("sts").get_caller_identity()
    partition = account["Arn"].split(":")[1]
    return (
        f"arn:{partition}:elasticfilesystem:{client('efs').meta.region_name}:{account['Account']}"
        f":file-system/{file_system}"
    )


def _epoch(at: Any) -> float:
    return float(at.timestamp())
