"""The volumes that RunInstances creates with an instance, and their device names."""

from typing import Any

from aws.stack import encryption
from matrix.input.instance_types import ebs_cards
from matrix.terms.documents.parts import Part, Volume

ENCRYPTED = {"Encrypted": True, "DeleteOnTermination": True}
# Names in the request; on Nitro the kernel names the volumes as NVMe devices, which the agent resolves.
DEVICES = tuple(f"/dev/sd{letter}" for letter in "fghijklm")
# Device of the work volume, beside the measured storage. EC2 recommends /dev/sd[f-p] for data volumes.
WORK_DEVICE = "/dev/sdn"


def mappings_of(storage: Part, instance_type: str) -> list[dict[str, Any]]:
    """Return the block device mappings of RunInstances: encrypted, and deleted with the instance.

    The volumes of a stripe are dealt out over the EBS cards of the instance type; EC2 itself puts all on the first.
    """
    volume: dict[str, Any] = {
        "VolumeType": storage["volumeType"],
        "VolumeSize": storage["sizeGiB"],
        **ENCRYPTED,
        **encryption.by_key(),
    }
    if storage.get("iops"):
        volume["Iops"] = storage["iops"]
    if storage.get("throughputMiBps"):
        volume["Throughput"] = storage["throughputMiBps"]
    if storage.get("snapshotId"):
        volume["SnapshotId"] = storage["snapshotId"]
    if storage.get("volumeInitializationRate"):
        volume["VolumeInitializationRate"] = storage["volumeInitializationRate"]
    devices, cards = devices_of(storage), ebs_cards(instance_type)
    if cards == 1:
        return [{"DeviceName": device, "Ebs": volume} for device in devices]
    return [{"DeviceName": device, "Ebs": volume | {"EbsCardIndex": i % cards}} for i, device in enumerate(devices)]


def work_mapping(volume: Volume) -> dict[str, Any]:
    """Return the mapping of an instance's work volume."""
    made = {"VolumeType": volume["volumeType"], "VolumeSize": volume["sizeGiB"]}
    return {"DeviceName": WORK_DEVICE, "Ebs": made | ENCRYPTED | encryption.by_key()}


def devices_of(storage: Part) -> tuple[str, ...]:
    """Return the device names of the volumes that a launch creates: none if the volume exists already."""
    return () if storage.get("volumeId") else DEVICES[: storage.get("raid0") or 1]
