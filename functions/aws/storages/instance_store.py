"""Instance store: disks that belong to the instances, so nothing is created or deleted, as with EBS."""

from aws.storages.base import CloudStorage
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part


class InstanceStore(CloudStorage):
    def mount(self, _resource_id: str, storage: Part) -> Mount:
        """Return how an instance mounts its disks; it finds them by their NVMe model."""
        mount: Mount = {"kind": "instance-store", "fstype": "xfs"}
        if storage.get("precondition"):
            mount["precondition"] = storage["precondition"]
        return mount


cloud = InstanceStore()
