"""Storages: each module creates, watches, mounts and deletes one type of file system.

Every function may be called again after a crash or a time-out: creation is idempotent by a token made from the run
and the file system's name, deletion goes on from wherever it had got to. They look a file system up by that token and
by tags, never by a note of ours that might not have been written.
"""

import hashlib
from types import ModuleType

from aws.stack.environment import environment
from aws.stack.lending import OWN_FOLDER, lent
from aws.storages import ebs, efs, file_server, fsx_openzfs, instance_store, s3
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part

_MODULES: dict[str, ModuleType] = {
    "ebs": ebs,
    "efs": efs,
    "fsx-openzfs": fsx_openzfs,
    "instance-store": instance_store,
    "s3": s3,
    "file-server": file_server,
}


def of(storage: Part) -> ModuleType:
    """Return the module that knows this storage: `create`, `is_ready`, `mount`, `delete`, `WAIT_S`."""
    return _MODULES[storage["type"]]


def is_lent(storage: Part) -> bool:
    """Return whether the local cloud lends a folder in place of this storage; the others it has itself."""
    module = of(storage)
    return not hasattr(module, "is_lent") or module.is_lent(storage)


def token(run: str, file_system: str) -> str:
    """Return the client token of a file system: 63 characters at most for FSx, 64 for EFS."""
    # Another stack of the account may have a run of the same name.
    return hashlib.sha256(f"{environment().stack}/{run}/{file_system}".encode()).hexdigest()[:60]


def mount_of(storage: Part, resource_id: str | None) -> Mount:
    """Return how an instance gets at the storage, a folder where the local cloud lends one."""
    folder = f"file-systems/{resource_id}" if resource_id else OWN_FOLDER
    return (lent(folder) if is_lent(storage) else None) or of(storage).mount(resource_id, storage)
