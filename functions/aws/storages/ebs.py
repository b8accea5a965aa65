"""EBS: each instance brings its own volumes, made and deleted with it, so there is nothing to share."""

from aws.ec2.volume_mappings import devices_of
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part


def device(storage: Part) -> Mount:
    """Return how an instance gets at its own volumes without a file system on them."""
    return {"kind": "ebs-device", "devices": list(devices_of(storage))}


def mount(storage: Part) -> Mount:
    """Return how an instance mounts its own volume, or its own volumes as one."""
    return {"kind": "ebs", "devices": list(devices_of(storage)), "fstype": "xfs"}
