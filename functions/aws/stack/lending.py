"""Folders that the local cloud lends in place of storages: all that differs there."""

from typing import Any

from aws.stack.environment import environment

# Each instance's own; the agent writes its id there.
OWN_FOLDER = "volumes/{instance_id}"


def lent(folder: str) -> dict[str, Any] | None:
    """Return the mount of a folder that the local cloud lends; None on AWS."""
    root = environment().local_mount_root
    return {"kind": "directory", "path": f"{root}/{folder}"} if root else None
