"""The storages with AWS, a module for each type: which one a document means, and how its instances mount it."""

import hashlib
from collections.abc import Sequence
from importlib import import_module

from aws.stack import network
from aws.stack.environment import environment
from aws.storages.base import CloudStorage, FileSystem
from matrix.input.matrix import Matrix
from matrix.storages.models import MODELS, existing_id, how_many, is_mounted_read_only, is_written_in
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part
from matrix.terms.keys import folder_on_existing
from matrix.terms.problems import Problem, Problems, Weight

STORAGES: dict[str, CloudStorage] = {
    kind: import_module(f"aws.storages.{kind.replace('-', '_')}").cloud for kind in MODELS
}
FILE_SYSTEMS = {kind: storage for kind, storage in STORAGES.items() if isinstance(storage, FileSystem)}


def file_system(storage: Part) -> FileSystem | None:
    """Return what makes a storage's file systems; None for a storage that comes and goes with each instance."""
    return FILE_SYSTEMS.get(storage["type"])


def subnets(storage: Part) -> list[str]:
    """Return the stack's subnets in which its instances may be; the first is in the zone of a storage in one zone."""
    return STORAGES[storage["type"]].subnets(storage)


def zone_of(storage: Part) -> str | None:
    """Return the Availability Zone of a storage that is in one. None if it is in several."""
    if how_many(storage) > 1 or not MODELS[storage["type"]].is_in_one_zone(storage):
        return None
    return network.availability_zone(subnets(storage)[0])


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
        kind = STORAGES[storage.type]
        # A new file system has nothing to check. A new volume may have a snapshot.
        if isinstance(kind, FileSystem) and not storage.existing_id:
            continue
        for refusal in kind.refusals(storage.document, account):
            yield Problem(
                f"{path}.{refusal.field}",
                refusal.value,
                refusal.rule,
                refusal.fix,
                weight=Weight.NOTE if refusal.is_doubt else None,
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
    elif resource_id and (exported_to := STORAGES[storage["type"]].exported_to(resource_id)):
        mount["exported_to"] = exported_to
    return mount


def _mount(storage: Part, resource_id: str | None, *, wants_device: bool) -> Mount:
    kind = STORAGES[storage["type"]]
    if wants_device:
        return kind.device(storage)
    if resource_id is None and isinstance(kind, FileSystem):
        raise ValueError(f"{storage['type']}: nothing was created that an instance could mount")
    return kind.mount(resource_id or "", storage)
