"""The account's Recycle Bin: what of a run it keeps, and AWS bills, after its deletion.

EC2 describes neither volumes nor snapshots that are there, so they look deleted. Nobody can take them out for good
before their time: https://docs.aws.amazon.com/ebs/latest/userguide/recycle-bin-factors.html
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from aws.records import table
from aws.stack import denials
from aws.stack.clients import PAGE_SIZE, client
from aws.teardown.copies import SNAPSHOT

# By kind of resource: the call of EC2, and what its answer calls the list and the id.
_LISTS = {
    "volume": ("list_volumes_in_recycle_bin", "Volumes", "VolumeId"),
    SNAPSHOT: ("list_snapshots_in_recycle_bin", "Snapshots", "SnapshotId"),
}


def note(run: str, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Note in the rows of a run until when the bin keeps them; return the lists that EC2 refused, with the reason."""
    unasked = []
    by_id = {row["id"]: row for row in rows if row["kind"] in _LISTS}
    for kind, (operation, name, id_name) in _LISTS.items() if by_id else ():
        try:
            kept = {each[id_name]: each["RecycleBinExitTime"].timestamp() for each in _listed(operation, name)}
        except (ClientError, BotoCoreError) as error:
            unasked.append(f"{kind} in the Recycle Bin: {denials.reason(error)}")
            continue
        table.note_binned(run, ((by_id[name], until) for name, until in kept.items() if name in by_id))
    return unasked


def _listed(operation: str, name: str) -> Iterator[dict[str, Any]]:
    """Yield a list of the bin; botocore has no paginator for that of volumes."""
    token: dict[str, str] = {}
    while True:
        page = getattr(client("ec2"), operation)(MaxResults=PAGE_SIZE, **token)
        yield from page[name]
        if not page.get("NextToken"):
            return
        token = {"NextToken": page["NextToken"]}
