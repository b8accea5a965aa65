"""The programs that a cell needs and a fresh machine image lacks. The agent installs them; a baked image has them.

The agent's own modules have the last word on what they call; a test holds this table against them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

_OF_STORAGE = {
    "ebs": {"mkfs.xfs"},
    "instance-store": {"mkfs.xfs", "mdadm"},  # how many disks there are, only the instance knows
    "efs": {"mount.nfs"},
    "fsx-openzfs": {"mount.nfs"},
}
_OF_CLIENT = {"crt": {"awscrt"}, "mountpoint": {"mount-s3"}}  # of an S3 bucket
_OF_WORKLOAD = {"fio": {"fio"}, "yocto": {"docker"}}
# By the `tool` of a point, whatever the workload; the agent's own engines need none.
_OF_TOOL = {
    "parallel": {"parallel"},
    "rsync": {"rsync"},
    "fpsync": {"fpsync", "rsync"},
    "cp+parallel": {"parallel"},
    "fpart+cpio+parallel": {"fpart", "parallel", "cpio"},
}


def of_cell(storage: Mapping[str, Any], workload: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the names of the programs that a storage, a workload and its points' parameters (documents) need."""
    tools = _OF_STORAGE.get(storage["type"], set()) | _OF_WORKLOAD.get(workload["type"], set())
    tools |= {"mdadm"} if storage.get("raid0") else set()
    tools |= {"mount.efs"} if storage.get("tls") or storage.get("iam") else set()
    tools |= _OF_CLIENT.get(str(storage.get("client")), set())
    for point in points:
        tools |= _OF_TOOL.get(str(point.get("tool")), set())
    return tools


def of_cell_in_folder(cell: Mapping[str, Any]) -> set[str]:
    """Return the names of the programs that a planned cell needs where the local cloud lends a folder as its storage.

    A folder is neither made nor mounted. The local cloud has an S3 of its own, which a client without a mount reads.
    """
    storage = {"type": "directory"} | ({"client": "crt"} if cell["storage"].get("client") == "crt" else {})
    return of_cell(storage, cell["workload"], [point.get("params", {}) for point in cell["points"]])
