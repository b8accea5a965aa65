"""Storages: a module for each type.

Most create, watch, mount and delete a file system (`FileSystem`). Volumes and disks come and go with their instances
and are only mounted.

Every function may be called again after a crash or a time-out. Creation is idempotent by a token made from the run and
the file system's name; deletion continues from the state that AWS reports. Both find a file system by that token and by
tags, never by a record of the project, which may not have been written.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence

from aws.stack import network
from aws.stack.environment import environment
from aws.storages import (
    ebs,
    efs,
    file_server,
    fsx,
    fsx_lustre,
    fsx_ontap,
    fsx_openzfs,
    instance_store,
    mountpoint,
    nfs,
    s3,
    s3_express,
    s3_files,
)
from aws.storages.base import FileSystem, Refusal
from matrix.input.matrix import Matrix
from matrix.storages.models import MODELS, existing_id, how_many, is_mounted_read_only, is_written_in
from matrix.terms.documents.job import ExportedTo, Mount
from matrix.terms.documents.parts import Part
from matrix.terms.keys import folder_on_existing
from matrix.terms.problems import Problem, Problems

# mypy checks each module against the protocol here.
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
# Volumes have no `FileSystem`: this checks existing volumes, and the snapshots of new volumes.
_CHECKED: dict[str, Callable[[Part, str], Iterable[Refusal]]] = {"ebs": ebs.refusals}
_SUBNETS: dict[str, Callable[[Part], list[str]]] = {"ebs": ebs.subnets, "mountpoint": mountpoint.subnets}
# The zones of an existing one; the others are in the zone of the stack's first subnet, or in all of its zones.
_FSX = dict.fromkeys(("fsx-lustre", "fsx-ontap", "fsx-openzfs"), fsx.zones_of)
_ZONES: dict[str, Callable[[str], list[str]]] = {"efs": efs.zones_of, **_FSX}
_ATTACHED: dict[str, Callable[[Part, Sequence[str]], None]] = {"ebs": ebs.attach}
DEVICES: dict[str, Callable[[Part], Mount]] = {"ebs": ebs.device}
OF_INSTANCES: dict[str, Callable[[Part], Mount]] = {"ebs": ebs.mount, "instance-store": instance_store.mount}
_EXPORTED: dict[str, Callable[[str], ExportedTo]] = {"s3-files": s3_files.exported_to}


def file_system(storage: Part) -> FileSystem | None:
    """Return the module of a file system; None for a storage that comes and goes with each instance."""
    return None if storage["type"] in OF_INSTANCES else FILE_SYSTEMS[storage["type"]]


def subnets(storage: Part) -> list[str]:
    """Return the stack's subnets in which its instances may be; the first is in the zone of a storage in one zone."""
    if of_type := _SUBNETS.get(storage["type"]):
        return of_type(storage)
    existing, zones_of = existing_id(storage), _ZONES.get(storage["type"])
    return network.subnets_from(zones_of(existing) if existing and zones_of else ())


def zone_of(storage: Part) -> str | None:
    """Return the Availability Zone of a storage that is in one. None if it is in several."""
    if how_many(storage) > 1 or not MODELS[storage["type"]].is_in_one_zone(storage):
        return None
    return network.availability_zone(subnets(storage)[0])


def attach(storage: Part, instances: Sequence[str]) -> None:
    """Attach existing volumes to the instances of a fleet before they mount them; most storages need no such step."""
    if of_type := _ATTACHED.get(storage["type"]):
        of_type(storage, instances)


def token(run: str, name: str, zone: int = 0) -> str:
    """Return the client token of a file system: 63 characters at most for FSx, 64 for EFS."""
    # Another stack of the account may have a run with the same name.
    of_zone = f"/{zone}" if zone else ""
    return hashlib.sha256(f"{environment().stack}/{run}/{name}{of_zone}".encode()).hexdigest()[:60]


def existing_problems(matrix: Matrix, account: str) -> Problems:
    """Yield reasons why existing resources cannot be measured: storages, volumes, and the snapshots of new volumes.

    Calls AWS, and changes nothing.
    """
    for path, storage in matrix.located("storage"):
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
    """Return the client token of each of a storage's file systems, in the order of the stack's zones."""
    return [token(run, name, zone) for zone in range(how_many(storage))]


def mount_of(storage: Part, resource_ids: Sequence[str], run: str, *, wants_device: bool = False) -> Mount:
    """Return how a run's instance mounts the storage or opens its device; of several file systems, its subnet's."""
    if len(resource_ids) < 2:  # noqa: PLR2004 (one, or none)
        return _mount_of_one(storage, next(iter(resource_ids), None), run, wants_device=wants_device)
    by_subnet = {
        subnet: _mount_of_one(storage, resource_id, run)
        for subnet, resource_id in zip(network.subnets(), resource_ids, strict=False)
    }
    return {"kind": next(iter(by_subnet.values()))["kind"], "by_subnet": by_subnet}


def _mount_of_one(storage: Part, resource_id: str | None, run: str, *, wants_device: bool = False) -> Mount:
    """Return how an instance mounts a file system or opens a device, with the folder of an existing one."""
    mount = _mount(storage, resource_id, wants_device=wants_device)
    if existing_id(storage) and is_written_in(storage):
        mount["folder"] = folder_on_existing(run)
    elif is_mounted_read_only(storage):
        mount["is_read_only"] = True
    elif resource_id and storage["type"] in _EXPORTED:
        mount["exported_to"] = _EXPORTED[storage["type"]](resource_id)
    return mount


def _mount(storage: Part, resource_id: str | None, *, wants_device: bool) -> Mount:
    module = file_system(storage)
    if wants_device:
        return DEVICES[storage["type"]](storage)
    if module is None:
        return OF_INSTANCES[storage["type"]](storage)
    if resource_id is None:
        raise ValueError(f"{storage['type']}: nothing was created that an instance could mount")
    return module.mount(resource_id, storage)
