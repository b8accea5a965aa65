"""Storages: a module for each type. Most create, watch, mount and delete a file system (`FileSystem`); volumes and
disks come and go with their instances and are only mounted.

Every function may be called again after a crash or a time-out: creation is idempotent by a token made from the run
and the file system's name, deletion goes on from wherever it had got to. They look a file system up by that token and
by tags, never by a note of ours that might not have been written.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence

from aws.stack import network
from aws.stack.environment import environment
from aws.stack.lending import OWN_FOLDER, local_mount
from matrix.check.existing import written
from matrix.input.matrix import Matrix
from matrix.terms.documents.job import ExportedTo, Mount
from matrix.terms.documents.parts import Part
from matrix.terms.keys import folder_on_existing
from matrix.terms.problems import Problem, Problems
from storages.contracts.cloud import FileSystem, Refusal
from storages.ebs import cloud as ebs
from storages.efs import cloud as efs
from storages.file_server import cloud as file_server
from storages.fsx_lustre import cloud as fsx_lustre
from storages.fsx_ontap import cloud as fsx_ontap
from storages.fsx_openzfs import cloud as fsx_openzfs
from storages.instance_store import cloud as instance_store
from storages.models import existing_id, how_many, is_written_in
from storages.mountpoint import cloud as mountpoint
from storages.nfs import cloud as nfs
from storages.s3 import cloud as s3
from storages.s3_express import cloud as s3_express
from storages.s3_files import cloud as s3_files

# mypy holds each module against the protocol here.
FILE_SYSTEMS: dict[str, FileSystem] = {
    "efs": efs,
    "fsx-lustre": fsx_lustre,
    "fsx-ontap": fsx_ontap,
    "fsx-openzfs": fsx_openzfs,
    "mountpoint": mountpoint,
    "nfs": nfs,
    "s3": s3,
    "s3-express": s3_express,
    "s3-files": s3_files,
    "file-server": file_server,
}
# Of volumes: what exists of them, and what they are made from.
_CHECKED: dict[str, Callable[[Part, str], Iterable[Refusal]]] = {"ebs": ebs.refusals}
_SUBNETS: dict[str, Callable[[Part], list[str]]] = {"ebs": ebs.subnets, "mountpoint": mountpoint.subnets}
_ATTACHED: dict[str, Callable[[Part, Sequence[str]], None]] = {"ebs": ebs.attach}
_DEVICES: dict[str, Callable[[Part], Mount]] = {"ebs": ebs.device}
OF_INSTANCES: dict[str, Callable[[Part], Mount]] = {"ebs": ebs.mount, "instance-store": instance_store.mount}
_EXPORTED: dict[str, Callable[[str], ExportedTo]] = {"s3-files": s3_files.exported_to}


def file_system(storage: Part) -> FileSystem | None:
    """Return the module of a file system; None for a storage that comes and goes with each instance."""
    return None if storage["type"] in OF_INSTANCES else FILE_SYSTEMS[storage["type"]]


def is_lent(storage: Part) -> bool:
    """Return whether the local cloud lends a folder in place of this storage; the others it has itself."""
    module = file_system(storage)
    return module is None or module.is_lent(storage)


def subnets(storage: Part) -> list[str]:
    """Return the stack's subnets in which its instances may be, the first of them before the others."""
    of_type = _SUBNETS.get(storage["type"])
    return of_type(storage) if of_type else network.subnets()


def attach(storage: Part, instances: Sequence[str]) -> None:
    """Attach to the instances of a fleet what has to be there before they can mount it; most storages need nothing."""
    if of_type := _ATTACHED.get(storage["type"]):
        of_type(storage, instances)


def token(run: str, name: str, zone: int = 0) -> str:
    """Return the client token of a file system: 63 characters at most for FSx, 64 for EFS."""
    # Another stack of the account may have a run of the same name.
    of_zone = f"/{zone}" if zone else ""
    return hashlib.sha256(f"{environment().stack}/{run}/{name}{of_zone}".encode()).hexdigest()[:60]


def existing_problems(matrix: Matrix, account: str) -> Problems:
    """Yield why what exists already cannot be measured: storages, volumes, and snapshots that they are made from.

    Asks AWS, and changes nothing.
    """
    for path, storage in written(matrix):
        refusals: Iterable[Refusal] = ()
        if check := _CHECKED.get(storage.type):
            refusals = check(storage.document, account)
        elif storage.existing_id:
            refusals = FILE_SYSTEMS[storage.type].refusals(storage.document)
        for refusal in refusals:
            yield Problem(
                f"{path}.{refusal.field}", refusal.value, refusal.rule, refusal.fix, is_warning=refusal.is_doubt
            )


def tokens(run: str, name: str, storage: Part) -> list[str]:
    """Return the client token of each file system that a storage is, in the order of the stack's zones."""
    return [token(run, name, zone) for zone in range(how_many(storage))]


def mount_of(storage: Part, resource_ids: Sequence[str], run: str, *, wants_device: bool = False) -> Mount:
    """Return how an instance of the run gets at the storage or its device: of several file systems at its subnet's."""
    if len(resource_ids) < 2:  # noqa: PLR2004 (one, or none)
        return _mount_of_one(storage, next(iter(resource_ids), None), run, wants_device=wants_device)
    by_subnet = {
        subnet: _mount_of_one(storage, resource_id, run)
        for subnet, resource_id in zip(network.subnets(), resource_ids, strict=False)
    }
    return {"kind": next(iter(by_subnet.values()))["kind"], "by_subnet": by_subnet}


def _mount_of_one(storage: Part, resource_id: str | None, run: str, *, wants_device: bool = False) -> Mount:
    """Return how an instance mounts a file system or a device, a folder where the local cloud lends one."""
    name = resource_id or existing_id(storage)
    folder = f"file-systems/{name}" if name else OWN_FOLDER
    mount = _lent(folder, storage) or _mount(storage, resource_id, wants_device=wants_device)
    if existing_id(storage) and is_written_in(storage):
        mount["folder"] = folder_on_existing(run)
    elif resource_id and storage["type"] in _EXPORTED:
        mount["exported_to"] = _EXPORTED[storage["type"]](resource_id)
    return mount


def _lent(folder: str, storage: Part) -> Mount | None:
    """Return the folder that the local cloud lends; None on AWS, and for what the local cloud has itself."""
    mount = local_mount(folder) if is_lent(storage) else None
    module = file_system(storage)
    if mount and not is_written_in(storage):
        mount["is_read_only"] = True
    if mount and (existing_id(storage) if module is None else not module.CREATION_LIMIT_S):
        # AWS makes nothing here, so the local cloud does not either: whoever mounts it first makes the folder.
        mount["is_made_by_agent"] = True
    return mount


def _mount(storage: Part, resource_id: str | None, *, wants_device: bool) -> Mount:
    module = file_system(storage)
    if wants_device:
        return _DEVICES[storage["type"]](storage)
    if module is None:
        return OF_INSTANCES[storage["type"]](storage)
    if resource_id is None:
        raise ValueError(f"{storage['type']}: nothing was created that an instance could mount")
    return module.mount(resource_id, storage)
