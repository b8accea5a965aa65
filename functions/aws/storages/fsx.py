"""FSx calls that are equal for all kinds. Kinds differ in the creating request, the mount and their fields."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from aws.stack import network
from aws.stack.clients import client, listed
from aws.stack.environment import environment
from aws.storages import reach
from aws.storages.base import Copy, Existing, FileSystem, Refusal, refuse_another
from matrix.storages.base import FILE_SYSTEM_ID
from matrix.terms.documents.parts import Part
from matrix.terms.errors import FileSystemFailed

# FSx has no look-up by client token: this tag contains it.
TOKEN_TAG = "storage-matrix:token"  # noqa: S105 - an idempotency token, no secret
Described = dict[str, Any]


def create(token: str, tags: list[dict[str, str]], **request: Any) -> str:
    """Create a file system and return its id. With the same token, return the same id again.

    It gets the stack's security group, the tags of its run and its token in the creating call.
    """
    created = client("fsx").create_file_system(
        ClientRequestToken=token,
        SecurityGroupIds=[network.file_system_security_group()],
        Tags=[*tags, {"Key": TOKEN_TAG, "Value": token}],
        **request,
    )
    return str(created["FileSystem"]["FileSystemId"])


def iops_and_zones(storage: Part, subnets: Sequence[str]) -> Described:
    """Return the fields of a configuration for the IOPS that the matrix wants, and for a second zone."""
    fields: Described = {}
    if storage.get("iops"):
        fields["DiskIopsConfiguration"] = {"Mode": "USER_PROVISIONED", "Iops": storage["iops"]}
    if len(subnets) > 1:
        fields["PreferredSubnetId"] = subnets[0]
        # A route that FSx maintains leads to the endpoint; without this it would be in the VPC's main table only.
        if network.route_table():
            fields["RouteTableIds"] = [network.route_table()]
    return fields


def provisioned_iops(configuration: Mapping[str, Any]) -> int | None:
    """Return the IOPS that the owner of an existing file system chose; None if FSx chose them."""
    disk: Described = configuration.get("DiskIopsConfiguration", {})
    return disk["Iops"] if disk.get("Mode") == "USER_PROVISIONED" else None


def read_cache(storage: Part) -> Described:
    """Return the read cache of a file system with Intelligent-Tiering, as FSx takes it."""
    size = storage["readCacheGiB"]
    return {"SizingMode": "USER_PROVISIONED", "SizeGiB": size} if size else {"SizingMode": "NO_CACHE"}


class Fsx(FileSystem):
    """What all kinds of FSx have in common."""

    DELETION_PROOF = "FSx DescribeFileSystems: not there"
    COPIES = "fsx-backup"
    COPIES_DELETION_PROOF = "FSx DescribeBackups: not there"

    def find(self, token: str) -> str | None:
        token_tag = {"Key": TOKEN_TAG, "Value": token}
        return next((each["FileSystemId"] for each in _all() if token_tag in each.get("Tags", [])), None)

    def is_ready(self, resource_id: str, _storage: Part) -> bool:
        """Return whether instances can mount it. Raises FileSystemFailed with FSx's reason if they never will."""
        file_system = describe(resource_id)
        if file_system["Lifecycle"] in ("FAILED", "MISCONFIGURED", "MISCONFIGURED_UNAVAILABLE", "DELETING"):
            reason = file_system.get("FailureDetails", {}).get("Message", "FSx gives no reason")
            raise FileSystemFailed(f"FSx {resource_id} is {file_system['Lifecycle']}: {reason}")
        return bool(file_system["Lifecycle"] == "AVAILABLE")

    def deleted(self, created_at: Mapping[str, float]) -> set[str]:
        """Return the ids that FSx does not list any more."""
        return set(created_at) - {each["FileSystemId"] for each in _all()}

    def zones_of(self, resource_id: str) -> list[str]:
        """Return the Availability Zone of an existing one, or both of a Multi-AZ file system."""
        return [network.availability_zone(subnet) for subnet in describe(resource_id)["SubnetIds"]]

    def copies(self, resource_ids: Sequence[str]) -> Iterator[Copy]:
        """Yield the backups of these file systems, found by the file system's id and not by tags."""
        for resource_id in resource_ids:
            for backup in of_file_system("describe_backups", "Backups", resource_id):
                yield self.copy(backup, resource_id)

    def copy(self, backup: Described, of: str) -> Copy:
        """Return a backup of the file system or volume `of`."""
        name, created_at = backup["BackupId"], float(backup["CreationTime"].timestamp())
        return Copy(self.COPIES, name, of, created_at, partial(client("fsx").delete_backup, BackupId=name))


def describe(resource_id: str) -> Described:
    """Return the description of a file system by FSx. Raises FileSystemNotFound."""
    [file_system] = client("fsx").describe_file_systems(FileSystemIds=[resource_id])["FileSystems"]
    return file_system


def of_kind(kind: str) -> list[Described]:
    """Return the account's file systems of an FSx type, as FSx describes them."""
    return [file_system for file_system in _all() if file_system["FileSystemType"] == kind]


def existing(kind: str) -> Iterator[Existing]:
    """Yield the file systems of an FSx type, such as OPENZFS, in the account and region."""
    for each in of_kind(kind):
        yield Existing(each["FileSystemId"], each.get("Tags", []), each["CreationTime"].timestamp())


def _all() -> Iterator[Described]:
    return listed("fsx", "describe_file_systems", "FileSystems")


def of_file_system(operation: str, key: str, resource_id: str) -> Iterator[Described]:
    """Yield what belongs to a file system: its backups, volumes or virtual machines."""
    return listed("fsx", operation, key, Filters=[{"Name": "file-system-id", "Values": [resource_id]}])


@dataclass(frozen=True)
class Wanted:
    """Requirements of a kind of storage on an existing file system."""

    is_kind: Callable[[Described], bool]
    words: str  # the kind in words, after "write one for"
    fields: Callable[[Described], Mapping[str, object]]  # the fields that a matrix would need for it
    ports: str  # the ports by which it is mounted


def refusals(storage: Part, wanted: Wanted) -> Iterator[Refusal]:
    """Yield reasons why an existing file system cannot be measured: deleted, of a run, different, out of reach."""
    resource_id = storage[FILE_SYSTEM_ID]
    fsx = client("fsx")
    try:
        file_system = describe(resource_id)
    except fsx.exceptions.FileSystemNotFound:
        rule = f"FSx has no such file system in {environment().region}"
        yield Refusal(FILE_SYSTEM_ID, resource_id, rule, "write one that `aws fsx describe-file-systems` lists")
        return
    kind, state = f"{file_system['FileSystemType']} on {file_system['StorageType']}", file_system["Lifecycle"]
    if not wanted.is_kind(file_system) or state != "AVAILABLE":
        rule = f"is {kind}, {state}"
        yield Refusal(FILE_SYSTEM_ID, resource_id, rule, f"write one for {wanted.words} that is available")
    elif refusal := reach.of_a_run(FILE_SYSTEM_ID, resource_id, file_system.get("Tags", [])):
        yield refusal
    else:
        yield from reach.otherwise(resource_id, storage, wanted.fields(file_system))
        yield from _out_of_reach(resource_id, file_system, wanted.ports)


def _out_of_reach(resource_id: str, file_system: Described, ports: str) -> Iterator[Refusal]:
    [first] = reach.subnets(network.subnets()[:1])
    theirs = reach.subnets(file_system["SubnetIds"])
    if elsewhere := reach.of_another_vpc(resource_id, theirs, first["VpcId"]):
        yield elsewhere
        return
    if elsewhere := reach.of_other_zones(resource_id, sorted({subnet["AvailabilityZone"] for subnet in theirs})):
        yield elsewhere
    for interface in reach.interfaces(file_system.get("NetworkInterfaceIds", [])):
        name = interface["NetworkInterfaceId"]
        command = f"aws ec2 modify-network-interface-attribute --network-interface-id {name} --groups"
        if refusal := reach.closed(resource_id, f"network interface {name}", interface, command, ports):
            yield refusal


def delete(resource_id: str, **how: Any) -> bool:
    """Start the deletion with the arguments of its kind (`how`). Return whether it is deleted."""
    fsx = client("fsx")
    try:
        file_system = describe(resource_id)
        refuse_another("FSx", resource_id, file_system.get("Tags", []))
        lifecycle = file_system["Lifecycle"]
        if lifecycle != "DELETING":
            _start_deletion(resource_id, lifecycle, how)
        return False
    except fsx.exceptions.FileSystemNotFound:
        return True


def _start_deletion(resource_id: str, lifecycle: str, how: Mapping[str, Any]) -> None:
    fsx = client("fsx")
    try:
        fsx.delete_file_system(FileSystemId=resource_id, **how)
    except (fsx.exceptions.BadRequest, fsx.exceptions.IncompatibleParameterError):
        # FSx does not document whether it deletes a file system in creation. If it refuses, each later poll tries again
        # until the file system is created; a refusal in any other state stays an error.
        if lifecycle != "CREATING":
            raise
