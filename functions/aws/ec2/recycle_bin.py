"""The account's Recycle Bin: deleted volumes and snapshots that it keeps, and AWS bills.

EC2 describes neither of them there, so they look deleted. Nobody can take them out for good before their time:
https://docs.aws.amazon.com/ebs/latest/userguide/recycle-bin-factors.html
"""

from collections.abc import Iterator
from typing import Any

from aws.stack.clients import PAGE_SIZE, client
from matrix.plan.recycle_bin import SNAPSHOT, VOLUME

# By kind of resource: the call of EC2, and what its answer calls the list.
_LISTS = {
    VOLUME: ("list_volumes_in_recycle_bin", "Volumes"),
    SNAPSHOT: ("list_snapshots_in_recycle_bin", "Snapshots"),
}


def kept(kind: str) -> Iterator[dict[str, Any]]:
    """Yield what the bin keeps of a kind; botocore has no paginator for its list of volumes."""
    operation, name = _LISTS[kind]
    token: dict[str, str] = {}
    while True:
        page = getattr(client("ec2"), operation)(MaxResults=PAGE_SIZE, **token)
        yield from page[name]
        if not page.get("NextToken"):
            return
        token = {"NextToken": page["NextToken"]}
