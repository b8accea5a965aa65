"""What FSx does alike for each of its kinds; OpenZFS and Lustre differ in the request, the mount and their fields."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from aws.stack import network
from aws.stack.clients import client
from aws.stack.environment import environment
from aws.stack.tags import RUN, as_mapping, is_ours
from matrix.terms.documents.parts import Part
from matrix.terms.errors import FileSystemFailed
from storages import reach
from storages.contracts.cloud import Copy, Existing, Refusal
from storages.contracts.model import FILE_SYSTEM_ID

SEEN_GONE = "FSx DescribeFileSystems: not there"
COPIES = "fsx-backup"
COPIES_SEEN_GONE = "FSx DescribeBackups: not there"
# FSx knows no look-up by client token: this tag carries it.
TOKEN_TAG = "storage-matrix:token"  # noqa: S105 - an idempotency token, no secret
Described = dict[str, Any]


def create(token: str, tags: list[dict[str, str]], **request: Any) -> str:
    """Create the file system that a request describes, or get the one this token made before; return its id.

    It has the stack's security group, and the tags of its run beside its token from the creating call on.
    """
    created = client("fsx").create_file_system(
        ClientRequestToken=token,
        SecurityGroupIds=[network.file_system_security_group()],
        Tags=[*tags, {"Key": TOKEN_TAG, "Value": token}],
        **request,
    )
    return str(created["FileSystem"]["FileSystemId"])


def find(token: str) -> str | None:
    """Return the id of the file system that this token made, None when there is none (any more)."""
    token_tag = {"Key": TOKEN_TAG, "Value": token}
    return next((listed["FileSystemId"] for listed in _all() if token_tag in listed.get("Tags", [])), None)


def describe(resource_id: str) -> Described:
    """Return what FSx says of a file system. Raises FileSystemNotFound."""
    [file_system] = client("fsx").describe_file_systems(FileSystemIds=[resource_id])["FileSystems"]
    return file_system


def is_ready(resource_id: str, _storage: Part) -> bool:
    """Say whether instances can mount it. Raises FileSystemFailed with FSx's own reason when it cannot become so."""
    file_system = describe(resource_id)
    if file_system["Lifecycle"] in ("FAILED", "MISCONFIGURED", "MISCONFIGURED_UNAVAILABLE", "DELETING"):
        reason = file_system.get("FailureDetails", {}).get("Message", "FSx gives no reason")
        raise FileSystemFailed(f"FSx {resource_id} is {file_system['Lifecycle']}: {reason}")
    return bool(file_system["Lifecycle"] == "AVAILABLE")


def is_lent(_storage: Part) -> bool:
    """Return whether the local cloud lends a folder for it: yes, it has none itself."""
    return True


def existing(kind: str) -> Iterator[Existing]:
    """Yield the file systems of the account and region that are of an FSx type, such as OPENZFS."""
    for listed in of_kind(kind):
        yield Existing(listed["FileSystemId"], listed.get("Tags", []), listed["CreationTime"].timestamp())


def gone(created_at: Mapping[str, float]) -> set[str]:
    """Return the ids that FSx does not list any more."""
    return set(created_at) - {listed["FileSystemId"] for listed in _all()}


def of_kind(kind: str) -> list[Described]:
    """Return the account's file systems of an FSx type, as FSx describes them."""
    return [file_system for file_system in _all() if file_system["FileSystemType"] == kind]


def _all() -> Iterator[Described]:
    for page in client("fsx").get_paginator("describe_file_systems").paginate():
        yield from page["FileSystems"]


@dataclass(frozen=True)
class Wanted:
    """What one that exists must be for a kind of storage to measure it."""

    is_kind: Callable[[Described], bool]
    words: str  # of such a one, after "write one for"
    fields: Callable[[Described], Mapping[str, object]]  # what a matrix would have to write of it
    ports: str  # by which it is mounted


def refusals(storage: Part, wanted: Wanted) -> Iterator[Refusal]:
    """Yield why the one that exists cannot be measured: gone, of a run, not as described, out of reach."""
    resource_id = storage[FILE_SYSTEM_ID]
    fsx = client("fsx")
    try:
        file_system = describe(resource_id)
    except fsx.exceptions.FileSystemNotFound:
        rule = f"FSx has no such file system in {environment().region}"
        yield Refusal(FILE_SYSTEM_ID, resource_id, rule, "write one that `aws fsx describe-file-systems` lists")
        return
    kind, state = f"{file_system['FileSystemType']} on {file_system['StorageType']}", file_system["Lifecycle"]
    run = as_mapping(file_system.get("Tags", [])).get(RUN)
    if not wanted.is_kind(file_system) or state != "AVAILABLE":
        rule = f"is {kind}, {state}"
        yield Refusal(FILE_SYSTEM_ID, resource_id, rule, f"write one for {wanted.words} that is available")
    elif run:
        rule = f"was made by the run {run}, and is deleted with it"
        yield Refusal(FILE_SYSTEM_ID, resource_id, rule, "write one of your own")
    else:
        yield from reach.otherwise(resource_id, storage, wanted.fields(file_system))
        yield from _out_of_reach(resource_id, file_system, wanted.ports)


def _out_of_reach(resource_id: str, file_system: Described, ports: str) -> Iterator[Refusal]:
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
        yield Refusal(FILE_SYSTEM_ID, resource_id, rule, fix, is_doubt=True)
    for interface in reach.interfaces(file_system.get("NetworkInterfaceIds", [])):
        name = interface["NetworkInterfaceId"]
        command = f"aws ec2 modify-network-interface-attribute --network-interface-id {name} --groups"
        if refusal := reach.closed(resource_id, f"network interface {name}", interface, command, ports):
            yield refusal


def delete(resource_id: str, **how: Any) -> bool:
    """Start the deletion, with what a kind says of how it is done. Say whether it is gone."""
    fsx = client("fsx")
    try:
        file_system = describe(resource_id)
        if not is_ours(as_mapping(file_system.get("Tags", []))):
            raise FileSystemFailed(f"FSx {resource_id} was made by no run of this stack: it is left as it is")
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
        # FSx does not document whether it deletes a file system that it still creates. If it refuses, the next look
        # asks again, until it is there; a refusal in any other state stays an error.
        if lifecycle != "CREATING":
            raise


def copies(resource_ids: Sequence[str]) -> Iterator[Copy]:
    """Yield the backups of these file systems: each is found by the id, not by our tags."""
    for resource_id in resource_ids:
        of_it = [{"Name": "file-system-id", "Values": [resource_id]}]
        for page in client("fsx").get_paginator("describe_backups").paginate(Filters=of_it):
            for backup in page["Backups"]:
                name, created_at = backup["BackupId"], float(backup["CreationTime"].timestamp())
                delete_backup = partial(client("fsx").delete_backup, BackupId=name)
                yield Copy(COPIES, name, resource_id, created_at, delete_backup)
