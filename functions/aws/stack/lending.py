"""Folders that the local cloud lends in place of storages: the only thing that functions do differently there."""

from aws.stack.environment import environment
from matrix.terms.documents.job import Mount

# A folder per instance: the agent replaces {instance_id} by its own.
OWN_FOLDER = "volumes/{instance_id}"


def local_mount(folder: str) -> Mount | None:
    """Return the mount of a folder that the local cloud lends; None on AWS."""
    root = environment().local_mount_root
    return {"kind": "directory", "path": f"{root}/{folder}"} if root else None
