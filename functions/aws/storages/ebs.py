"""EBS: each instance brings its own volumes, made and deleted with it, so there is nothing to share."""

from typing import Any

# RunInstances names the volumes so; on Nitro the kernel shows them as NVMe devices, which the agent looks up.
DEVICES = tuple(f"/dev/sd{letter}" for letter in "fghijklm")
CREATION_LIMIT_S = 0


def create(_token: str, _storage: dict[str, Any], _tags: list[dict[str, str]]) -> None:
    """Create nothing: the volumes come with the instances."""


def find(_token: str) -> None:
    """Find nothing: the volumes go with the instances, and the tag sweep looks for those that did not."""


def is_ready(_resource_id: str | None, _storage: dict[str, Any]) -> bool:
    """Return True: there is nothing to wait for."""
    return True


def mount(_resource_id: str | None, storage: dict[str, Any]) -> dict[str, Any]:
    """Return how an instance mounts its own volume, or its own volumes as one."""
    return {"kind": "ebs", "devices": list(_devices(storage)), "fstype": "xfs"}


def delete(_resource_id: str | None) -> bool:
    """Return True: gone."""
    return True


def block_devices(storage: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the block device mappings of RunInstances: encrypted, and deleted with the instance."""
    volume: dict[str, Any] = {
        "VolumeType": storage["volumeType"],
        "VolumeSize": storage["sizeGiB"],
        "Encrypted": True,
        "DeleteOnTermination": True,
    }
    if storage.get("iops"):
        volume["Iops"] = storage["iops"]
    if storage.get("throughputMiBps"):
        volume["Throughput"] = storage["throughputMiBps"]
    if storage.get("snapshotId"):
        volume["SnapshotId"] = storage["snapshotId"]
    return [{"DeviceName": device, "Ebs": volume} for device in _devices(storage)]


def _devices(storage: dict[str, Any]) -> tuple[str, ...]:
    return DEVICES[: storage.get("raid0") or 1]
