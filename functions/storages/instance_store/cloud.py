"""Instance store: disks that come with the instances, so there is as little to create and delete as with EBS."""

from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part


def mount(storage: Part) -> Mount:
    """Return how an instance mounts its disks; it finds them by what they say of themselves."""
    mount: Mount = {"kind": "instance-store", "fstype": "xfs"}
    if storage.get("precondition"):
        mount["precondition"] = storage["precondition"]
    return mount
