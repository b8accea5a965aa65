"""Each storage that a run creates as its plan has it, and what FSx and EFS are asked for."""

from typing import Any

from aws.stack.clients import client

TOKEN = "0" * 60
RUN_TAGS = [{"Key": "storage-matrix:stack", "Value": "storage-matrix"}, {"Key": "storage-matrix:run", "Value": "r"}]

STORAGES: dict[str, dict[str, Any]] = {
    "efs": {
        "type": "efs", "performanceMode": "generalPurpose", "throughputMode": "elastic", "deployment": "regional",
        "tls": True, "iam": False,
    },
    "efs-one-zone": {
        "type": "efs", "performanceMode": "generalPurpose", "throughputMode": "bursting", "deployment": "oneZone",
        "tls": False,
    },
    "fsx-lustre": {
        "type": "fsx-lustre", "deploymentType": "SCRATCH_2", "storageCapacityGiB": 1200, "compression": "NONE",
    },
    "fsx-ontap": {
        "type": "fsx-ontap", "deploymentType": "SINGLE_AZ_2", "haPairs": 1, "storageCapacityGiB": 1024,
        "throughputMBpsPerHaPair": 1536, "volumeStyle": "FLEXVOL", "nfsVersion": "4.1", "nconnect": 16,
    },
    "fsx-openzfs": {
        "type": "fsx-openzfs", "deploymentType": "SINGLE_AZ_1", "storageCapacityGiB": 256,
        "throughputCapacityMBps": 4096, "iops": 20000, "compression": "NONE", "recordSizeKiB": 128, "nfsVersion": "4.1",
    },
    "mountpoint": {"type": "mountpoint"},
    "mountpoint-express": {"type": "mountpoint", "storageClass": "EXPRESS_ONEZONE"},
    "s3": {"type": "s3", "client": "boto3"},
    "s3-express": {"type": "s3-express", "client": "boto3"},
    "s3-files": {
        "type": "s3-files", "directReads": True, "importTrigger": "onDirectoryFirstAccess", "importBelow": "128KiB",
        "expireAfterDays": 30,
    },
}  # fmt: skip


def requests_of(service: str, operation: str) -> list[dict[str, Any]]:
    """The parameters of each call of an operation from now on."""
    asked: list[dict[str, Any]] = []
    event = f"provide-client-params.{service}.{operation}"
    client(service).meta.events.register(event, lambda params, **_: asked.append(params))
    return asked
