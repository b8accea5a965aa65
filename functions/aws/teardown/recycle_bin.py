"""What of a run the account's Recycle Bin keeps after its deletion."""

from collections.abc import Iterable, Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from aws.ec2 import recycle_bin
from aws.records import table
from aws.stack import denials
from matrix.plan.recycle_bin import SNAPSHOT, VOLUME

_IDS = {VOLUME: "VolumeId", SNAPSHOT: "SnapshotId"}


def note(run: str, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Note in the rows of a run until when the bin keeps them; return the lists that EC2 refused, with the reason."""
    unasked = []
    by_id = {row["id"]: row for row in rows if row["kind"] in _IDS}
    for kind, id_name in _IDS.items() if by_id else ():
        try:
            kept = {each[id_name]: each["RecycleBinExitTime"].timestamp() for each in recycle_bin.kept(kind)}
        except (ClientError, BotoCoreError) as error:
            unasked.append(f"{kind} in the Recycle Bin: {denials.reason(error)}")
            continue
        table.note_binned(run, ((by_id[name], until) for name, until in kept.items() if name in by_id))
    return unasked
