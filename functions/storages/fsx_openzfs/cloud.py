"""Amazon FSx for OpenZFS."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from aws.stack import encryption, network
from aws.stack.clients import client
from aws.stack.environment import environment
from aws.stack.tags import RUN, as_mapping, is_ours
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part
from matrix.terms.errors import FileSystemFailed
from storages import reach
from storages.contracts.cloud import Copy, Existing, Refusal
from storages.fsx_openzfs.model import CAPACITY, DISK_IOPS, THROUGHPUT

MOUNT_OPTIONS = "rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2"
# FSx says "up to 15 minutes" for a Single-AZ file system and takes up to 30 for Multi-AZ.
CREATION_LIMIT_S = 3600
SEEN_GONE = "FSx DescribeFileSystems: not there"
PURPOSE = ""
# FSx knows no look-up by client token: this tag carries it.
TOKEN_TAG = "storage-matrix:token"  # noqa: S105 - an idempotency token, no secret


def create(token: str, storage: Part, tags: list[dict[str, str]], _run: str, _name: str, zone: int) -> str:
    """Create the file system, or get the one this token made before; return its id."""
    in_zones = 2 if storage["deploymentType"].startswith("MULTI_AZ") else 1
    subnets = network.subnets()[zone : zone + in_zones]
    configuration: dict[str, Any] = {
        "DeploymentType": storage["deploymentType"],
        "ThroughputCapacity": storage["throughputCapacityMBps"],
        "AutomaticBackupRetentionDays": 0,
        # A backup plan of the account may make backups: our roles can delete only those that carry our tags.
        "CopyTagsToBackups": True,
        "CopyTagsToVolumes": True,
        "RootVolumeConfiguration": {
            "DataCompressionType": storage["compression"],
            "RecordSizeKiB": storage["recordSizeKiB"],
            # Who can reach port 2049 at all is up to the security group; inside it the fleet's root may write.
            "NfsExports": [
                {"ClientConfigurations": [{"Clients": "*", "Options": ["rw", "crossmnt", "no_root_squash"]}]}
            ],
        },
    }
    if storage.get("iops"):
        configuration["DiskIopsConfiguration"] = {"Mode": "USER_PROVISIONED", "Iops": storage["iops"]}
    if len(subnets) > 1:
        configuration["PreferredSubnetId"] = subnets[0]
        # The endpoint is reached by a route that FSx keeps; without this it would be in the VPC's main table only.
        if network.route_table():
            configuration["RouteTableIds"] = [network.route_table()]
    created = client("fsx").create_file_system(
        ClientRequestToken=token,
        FileSystemType="OPENZFS",
        StorageType="SSD",
        **encryption.by_key(),
        StorageCapacity=storage["storageCapacityGiB"],
        SubnetIds=subnets,
        SecurityGroupIds=[network.file_system_security_group()],
        Tags=[*tags, {"Key": TOKEN_TAG, "Value": token}],
        OpenZFSConfiguration=configuration,
    )
    return created["FileSystem"]["FileSystemId"]


def find(token: str) -> str | None:
    """Return the id of the file system that this token made, None when there is none (any more)."""
    for page in client("fsx").get_paginator("describe_file_systems").paginate():
        for file_system in page["FileSystems"]:
            if {"Key": TOKEN_TAG, "Value": token} in file_system.get("Tags", []):
                return file_system["FileSystemId"]
    return None


def is_ready(resource_id: str, _storage: Part) -> bool:
    """Say whether instances can mount it. Raises FileSystemFailed with FSx's own reason when it cannot become so."""
    file_system = _describe(resource_id)
    if file_system["Lifecycle"] in ("FAILED", "MISCONFIGURED", "MISCONFIGURED_UNAVAILABLE", "DELETING"):
        reason = file_system.get("FailureDetails", {}).get("Message", "FSx gives no reason")
        raise FileSystemFailed(f"FSx {resource_id} is {file_system['Lifecycle']}: {reason}")
    return file_system["Lifecycle"] == "AVAILABLE"


def refusals(storage: Part) -> Iterator[Refusal]:
    """Yield why the one that exists cannot be measured: gone, of a run, not as described, out of reach."""
    resource_id = storage["fileSystemId"]
    fsx = client("fsx")
    try:
        file_system = _describe(resource_id)
    except fsx.exceptions.FileSystemNotFound:
        rule = f"FSx has no such file system in {environment().region}"
        yield Refusal("fileSystemId", resource_id, rule, "write one that `aws fsx describe-file-systems` lists")
        return
    kind, state = f"{file_system['FileSystemType']} on {file_system['StorageType']}", file_system["Lifecycle"]
    run = as_mapping(file_system.get("Tags", [])).get(RUN)
    if kind != "OPENZFS on SSD" or state != "AVAILABLE":
        rule = f"is {kind}, {state}"
        yield Refusal("fileSystemId", resource_id, rule, "write one for OpenZFS on SSD that is available")
    elif run:
        rule = f"was made by the run {run}, and is deleted with it"
        yield Refusal("fileSystemId", resource_id, rule, "write one of your own")
    else:
        yield from _otherwise_or_out_of_reach(resource_id, storage, file_system)


def _otherwise_or_out_of_reach(resource_id: str, storage: Part, file_system: dict[str, Any]) -> Iterator[Refusal]:
    settings = file_system["OpenZFSConfiguration"]
    provisioned = settings.get("DiskIopsConfiguration", {})
    described = {
        "deploymentType": settings["DeploymentType"],
        "storageCapacityGiB": file_system["StorageCapacity"],
        "throughputCapacityMBps": settings["ThroughputCapacity"],
        "iops": provisioned["Iops"] if provisioned.get("Mode") == "USER_PROVISIONED" else None,
    }
    yield from reach.otherwise(resource_id, storage, described)
    [first] = reach.subnets(network.subnets()[:1])
    theirs = reach.subnets(file_system["SubnetIds"])
    if elsewhere := reach.of_another_vpc(resource_id, theirs, first["VpcId"]):
        yield elsewhere
        return
    zones = sorted({subnet["AvailabilityZone"] for subnet in theirs})
    if first["AvailabilityZone"] not in zones:
        rule = (
            f"is in {', '.join(zones)}, and fleets that are same-az in {first['AvailabilityZone']}: every byte crosses"
        )
        fix = f"deploy the stack with a subnet in {zones[0]} as the first of SubnetIds"
        yield Refusal("fileSystemId", resource_id, rule, fix, is_doubt=True)
    for interface in reach.interfaces(file_system.get("NetworkInterfaceIds", [])):
        name = interface["NetworkInterfaceId"]
        command = f"aws ec2 modify-network-interface-attribute --network-interface-id {name} --groups"
        if refusal := reach.closed(resource_id, f"network interface {name}", interface, command):
            yield refusal


def is_lent(_storage: Part) -> bool:
    """Return whether the local cloud lends a folder for it: yes, it has none itself."""
    return True


def mount(resource_id: str, storage: Part) -> Mount:
    """Return how an instance mounts its root volume."""
    options = [f"nfsvers={storage['nfsVersion']}", MOUNT_OPTIONS]
    # The server answers a lock of version 3 by a call of its own, which no instance lets in: locks stay with each
    # instance, as in the published builds.
    options += ["mountproto=tcp", "nolock"] if storage["nfsVersion"] == "3" else []
    # nfs(5): from Linux 5.3 on; without it the kernel opens one connection.
    options += [f"nconnect={storage['nconnect']}"] if storage.get("nconnect") else []
    return {"kind": "nfs", "source": f"{_describe(resource_id)['DNSName']}:/fsx", "options": ",".join(options)}


def existing() -> Iterator[Existing]:
    """Yield the file systems of the account and region."""
    for page in client("fsx").get_paginator("describe_file_systems").paginate():
        for listed in page["FileSystems"]:
            yield Existing(listed["FileSystemId"], listed.get("Tags", []), listed["CreationTime"].timestamp())


def gone(created_at: Mapping[str, float]) -> set[str]:
    """Return the ids that FSx does not list any more."""
    return set(created_at) - {listed.id for listed in existing()}


def delete(resource_id: str) -> bool:
    """Start the deletion, without the final backup that FSx would take by itself. Say whether it is gone."""
    fsx = client("fsx")
    try:
        file_system = _describe(resource_id)
        if not is_ours(as_mapping(file_system.get("Tags", []))):
            raise FileSystemFailed(f"FSx {resource_id} was made by no run of this stack: it is left as it is")
        lifecycle = file_system["Lifecycle"]
        if lifecycle != "DELETING":
            _start_deletion(resource_id, lifecycle)
        return False
    except fsx.exceptions.FileSystemNotFound:
        return True


def _start_deletion(resource_id: str, lifecycle: str) -> None:
    fsx = client("fsx")
    try:
        fsx.delete_file_system(
            FileSystemId=resource_id,
            OpenZFSConfiguration={
                "SkipFinalBackup": True,
                "Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"],
            },
        )
    except (fsx.exceptions.BadRequest, fsx.exceptions.IncompatibleParameterError):
        # FSx does not document whether it deletes a file system that it still creates. If it refuses, the next look
        # asks again, until it is there; a refusal in any other state stays an error.
        if lifecycle != "CREATING":
            raise


def _describe(resource_id: str) -> dict[str, Any]:
    [file_system] = client("fsx").describe_file_systems(FileSystemIds=[resource_id])["FileSystems"]
    return file_system


COPIES = "fsx-backup"
COPIES_SEEN_GONE = "FSx DescribeBackups: not there"


def copies(resource_ids: Sequence[str]) -> Iterator[Copy]:
    """Yield the backups of these file systems: each is found by the id, not by our tags."""
    for resource_id in resource_ids:
        of_it = [{"Name": "file-system-id", "Values": [resource_id]}]
        for page in client("fsx").get_paginator("describe_backups").paginate(Filters=of_it):
            for backup in page["Backups"]:
                name, created_at = backup["BackupId"], float(backup["CreationTime"].timestamp())
                delete_backup = partial(client("fsx").delete_backup, BackupId=name)
                yield Copy(COPIES, name, resource_id, created_at, delete_backup)


def in_use() -> dict[str, Callable[[], float]]:
    """Return what the account's OpenZFS file systems have of each quota."""
    return {
        THROUGHPUT.code: lambda: sum(float(each["OpenZFSConfiguration"]["ThroughputCapacity"]) for each in _all()),
        CAPACITY.code: lambda: sum(float(each["StorageCapacity"]) for each in _all()),
        DISK_IOPS.code: lambda: sum(map(_iops, _all())),
    }


def _all() -> list[dict[str, Any]]:
    pages = client("fsx").get_paginator("describe_file_systems").paginate()
    systems = (file_system for page in pages for file_system in page["FileSystems"])
    return [file_system for file_system in systems if file_system["FileSystemType"] == "OPENZFS"]


def _iops(file_system: dict[str, Any]) -> float:
    return float(file_system["OpenZFSConfiguration"].get("DiskIopsConfiguration", {}).get("Iops") or 0)
