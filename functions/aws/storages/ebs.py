"""EBS: each instance brings its own volumes, made and deleted with it, so there is nothing to share."""

from aws.ec2.volume_mappings import devices_of
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part

CREATION_LIMIT_S = 0


def create(_token: str, _storage: Part, _tags: list[dict[str, str]]) -> None:
    """Create nothing: the volumes come with the instances."""


def find(_token: str) -> None:
    """Find nothing: the volumes go with the instances, and the tag sweep looks for those that did not."""


def is_ready(_resource_id: str | None, _storage: Part) -> bool:
    """Return True: there is nothing to wait for."""
    return True


def mount(_resource_id: str | None, storage: Part) -> Mount:
    """Return how an instance mounts its own volume, or its own volumes as one."""
    return {"kind": "ebs", "devices": list(devices_of(storage)), "fstype": "xfs"}


def delete(_resource_id: str | None) -> bool:
    """Return True: gone."""
    return True
