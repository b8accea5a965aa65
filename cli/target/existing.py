"""A volume or a file system of the account: its service's description, and its metrics in CloudWatch.

Only reads: DescribeVolumes, DescribeFileSystems of EFS and FSx, and GetMetricData.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cli.messages.errors import CommandError, ExitCode
from cli.target.deployment import Deployment

if TYPE_CHECKING:
    from matrix.answer.observed.asking import Subject


def subject(target: Deployment, name: str) -> "Subject":
    """Return the volume or file system with this id. Raises CommandError if the region has none."""
    if name.startswith("vol-"):
        return _volume(target, name)
    if name.startswith("fs-"):
        return _efs(target, name) or _fsx(target, name)
    raise CommandError(
        f"{name} is not the id of a volume or file system", "they begin with vol- or fs-", ExitCode.BAD_INPUT
    )


def _unknown(target: Deployment, kind: str, name: str, listing: str) -> CommandError:
    region = target.client("ec2").meta.region_name
    return CommandError(
        f"there is no {kind} {name} in {region}",
        f"choose another --region or AWS_PROFILE; to list what is there: `{listing} --region {region}`",
    )


def _volume(target: Deployment, name: str) -> "Subject":
    from botocore.exceptions import ClientError

    from matrix.answer.observed.asking import VOLUME, Subject

    try:
        [volume] = target.client("ec2").describe_volumes(VolumeIds=[name])["Volumes"]
    except ClientError as error:
        if not error.response["Error"]["Code"].startswith("InvalidVolume"):
            raise
        raise _unknown(target, "volume", name, "aws ec2 describe-volumes") from None
    kind, size_gib = volume["VolumeType"], volume["Size"]
    storage = {"type": "ebs", "volumeType": kind, "sizeGiB": size_gib}
    # EC2 reports the IOPS of every type; a matrix has only provisioned ones.
    if kind in ("gp3", "io1", "io2"):
        storage["iops"] = volume["Iops"]
    if kind == "gp3" and "Throughput" in volume:
        storage["throughputMiBps"] = volume["Throughput"]
    return Subject(
        name,
        VOLUME,
        None if kind == "standard" else storage,  # magnetic volumes of the first generation
        f"EBS {kind} ({size_gib} GiB)",
        float(size_gib),
        volume["CreateTime"].timestamp(),
        tuple(attachment["InstanceId"] for attachment in volume["Attachments"]),
    )


def _efs(target: Deployment, name: str) -> "Subject | None":
    from matrix.answer.observed.asking import EFS, Subject

    efs = target.client("efs")
    try:
        [described] = efs.describe_file_systems(FileSystemId=name)["FileSystems"]
    except (efs.exceptions.FileSystemNotFound, efs.exceptions.BadRequest):
        return None  # ids of all kinds of FSx have the same form
    storage = {
        "type": "efs",
        "performanceMode": described["PerformanceMode"],
        "throughputMode": described["ThroughputMode"],
        "deployment": "oneZone" if described.get("AvailabilityZoneName") else "regional",
    }
    if "ProvisionedThroughputInMibps" in described:
        storage["provisionedThroughputMiBps"] = round(described["ProvisionedThroughputInMibps"])
    gib = described["SizeInBytes"]["Value"] / 2**30
    return Subject(name, EFS, storage, "EFS", gib, described["CreationTime"].timestamp())


def _fsx(target: Deployment, name: str) -> "Subject":
    from matrix.answer.observed.asking import FSX, Subject

    fsx = target.client("fsx")
    try:
        [described] = fsx.describe_file_systems(FileSystemIds=[name])["FileSystems"]
    except (fsx.exceptions.FileSystemNotFound, fsx.exceptions.BadRequest, ValueError):
        raise _unknown(
            target, "file system", name, "aws efs describe-file-systems` or `aws fsx describe-file-systems"
        ) from None
    kind, size_gib = described["FileSystemType"], described.get("StorageCapacity", 0)
    if kind not in ("OPENZFS", "ONTAP") or described.get("StorageType", "SSD") != "SSD":
        raise CommandError(
            f"{name} is FSx {kind} on {described.get('StorageType', 'SSD')}",
            "of FSx only OpenZFS and NetApp ONTAP on SSD can be observed",
            ExitCode.BAD_INPUT,
        )
    if kind == "ONTAP":
        storage, label = _ontap(size_gib, described["OntapConfiguration"]), f"FSx for NetApp ONTAP ({size_gib} GiB)"
    else:
        storage, label = _openzfs(size_gib, described["OpenZFSConfiguration"]), "FSx for OpenZFS"
    return Subject(name, FSX, storage, label, float(size_gib), described["CreationTime"].timestamp())


def _openzfs(size_gib: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    provisioned = settings.get("DiskIopsConfiguration", {})
    iops = {"iops": provisioned["Iops"]} if provisioned.get("Mode") == "USER_PROVISIONED" else {}
    return {
        "type": "fsx-openzfs",
        "deploymentType": settings["DeploymentType"],
        "storageCapacityGiB": size_gib,
        "throughputCapacityMBps": settings["ThroughputCapacity"],
        **iops,
    }


def _ontap(size_gib: int, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return its fields as in a matrix; None for other generations than the second, which a matrix cannot describe."""
    if settings["DeploymentType"] not in ("SINGLE_AZ_2", "MULTI_AZ_2"):
        return None
    pairs = settings.get("HAPairs", 1)
    provisioned = settings.get("DiskIopsConfiguration", {})
    return {
        "type": "fsx-ontap",
        "deploymentType": settings["DeploymentType"],
        **({"haPairs": pairs} if pairs > 1 else {}),
        "storageCapacityGiB": size_gib,
        "throughputMBpsPerHaPair": settings.get("ThroughputCapacityPerHAPair")
        or settings["ThroughputCapacity"] // pairs,
        **({"iops": provisioned["Iops"]} if provisioned.get("Mode") == "USER_PROVISIONED" else {}),
        # CloudWatch adds up the metrics of all HA pairs.
        **({"volumeStyle": "FLEXGROUP"} if pairs > 1 else {}),
    }
