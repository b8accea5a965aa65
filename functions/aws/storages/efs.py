"""Amazon EFS."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from aws_lambda_powertools import Logger

from aws.stack import encryption, network
from aws.stack.clients import client, impatient_client, listed
from aws.stack.environment import environment
from aws.storages import reach
from aws.storages.base import Copy, Existing, FileSystem, Refusal, refuse_another
from matrix.storages.base import FILE_SYSTEM_ID
from matrix.storages.efs import FILE_SYSTEMS
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part
from matrix.terms.errors import FileSystemFailed

# The options that AWS recommends for EFS over NFS 4.1; noresvport lets a client reconnect after a network fault.
# https://docs.aws.amazon.com/efs/latest/ug/mounting-fs-nfs-mount-settings.html
MOUNT_OPTIONS = "nfsvers=4.1,rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2,noresvport"
# 15 × rsize, the read-ahead of kernels before 5.4. Later kernels start with 128 KiB, and the mount helper sets this
# value there, so sequential reads are comparable with TLS, without it, and with the published runs.
# https://github.com/aws/efs-utils#optimize-readahead-max-window-size-on-linux-54
READ_AHEAD_KIB = 15 * 1_024


class Efs(FileSystem):
    # A file system takes seconds, its mount targets one to two minutes.
    CREATION_LIMIT_S = 900
    DELETION_PROOF = "EFS DescribeFileSystems: not there"
    COPIES = "efs-recovery-point"
    COPIES_DELETION_PROOF = "AWS Backup ListRecoveryPointsByResource: not there"

    def create(self, token: str, storage: Part, tags: list[dict[str, str]], *_: object) -> str:
        """Create the file system, or find the one that an earlier call with this token created; return its id."""
        efs = client("efs")
        resource_id = self.find(token)
        if resource_id:
            return resource_id
        request: dict[str, Any] = {
            "CreationToken": token,
            "PerformanceMode": storage["performanceMode"],
            "ThroughputMode": storage["throughputMode"],
            "Encrypted": True,
            **encryption.by_key(),
            # EFS backs up One Zone file systems by default, and backups outlive the file system.
            "Backup": False,
            "Tags": tags,
        }
        if storage["throughputMode"] == "provisioned":
            request["ProvisionedThroughputInMibps"] = storage["provisionedThroughputMiBps"]
        if storage["deployment"] == "oneZone":
            request["AvailabilityZoneName"] = network.availability_zone(network.subnets()[0])
        try:
            return efs.create_file_system(**request)["FileSystemId"]
        except efs.exceptions.FileSystemAlreadyExists:
            # An earlier attempt created it, and its response was lost.
            resource_id = self.find(token)
            if resource_id is None:
                raise
            return resource_id

    def find(self, token: str) -> str | None:
        file_systems = client("efs").describe_file_systems(CreationToken=token)["FileSystems"]
        return file_systems[0]["FileSystemId"] if file_systems else None

    def is_ready(self, resource_id: str, storage: Part) -> bool:
        """Return whether instances can mount it; creates its policy and mount targets as soon as EFS allows it.

        Raises FileSystemFailed if it ended in a state that it cannot leave.
        """
        [file_system] = client("efs").describe_file_systems(FileSystemId=resource_id)["FileSystems"]
        if file_system["LifeCycleState"] in ("error", "deleting", "deleted"):
            raise FileSystemFailed(
                f"EFS {resource_id} is {file_system['LifeCycleState']}; see its events in CloudTrail"
            )
        if file_system["LifeCycleState"] != "available":
            return False
        if storage.get("fileSystemId"):
            return True  # its owner has created its mount targets, and Plan matrix has checked them
        targets = _mount_targets(resource_id)
        wanted = network.subnets()[:1] if file_system.get("AvailabilityZoneName") else network.subnets()
        missing = set(wanted) - {target["SubnetId"] for target in targets}
        if missing:
            _open(file_system, storage, sorted(missing))
        return not missing and all(target["LifeCycleState"] == "available" for target in targets)

    def zones_of(self, resource_id: str) -> list[str]:
        """Return the Availability Zone of an existing One Zone file system; none of a Regional one."""
        [file_system] = client("efs").describe_file_systems(FileSystemId=resource_id)["FileSystems"]
        zone = file_system.get("AvailabilityZoneName")
        return [zone] if zone else []

    def refusals(self, storage: Part, *_: object) -> Iterator[Refusal]:
        """Yield reasons why an existing one cannot be measured: deleted, of a run, not as described, out of reach."""
        resource_id = storage["fileSystemId"]
        efs = client("efs")
        try:
            [file_system] = efs.describe_file_systems(FileSystemId=resource_id)["FileSystems"]
        except efs.exceptions.FileSystemNotFound:
            rule = f"EFS has no such file system in {environment().region}"
            yield Refusal(FILE_SYSTEM_ID, resource_id, rule, "write one that `aws efs describe-file-systems` lists")
            return
        state = file_system["LifeCycleState"]
        if state != "available":
            fix = "write one that is available, or wait until it is"
            yield Refusal(FILE_SYSTEM_ID, resource_id, f"is {state}", fix)
            return
        if refusal := reach.of_a_run(FILE_SYSTEM_ID, resource_id, file_system.get("Tags", [])):
            yield refusal
            return
        zone = file_system.get("AvailabilityZoneName")
        described = {
            "performanceMode": file_system["PerformanceMode"],
            "throughputMode": file_system["ThroughputMode"],
            "provisionedThroughputMiBps": file_system.get("ProvisionedThroughputInMibps"),
            "deployment": "oneZone" if zone else "regional",
        }
        yield from reach.otherwise(resource_id, storage, described)
        if zone and (elsewhere := reach.of_other_zones(resource_id, [zone])):
            yield elsewhere
            return
        targets = [target for target in _mount_targets(resource_id) if target["LifeCycleState"] == "available"]
        yield from reach.without_mount_targets(
            resource_id,
            {target["NetworkInterfaceId"]: target["MountTargetId"] for target in targets},
            network.subnets_from([zone])[:1] if zone else network.subnets(),
            create=f"aws efs create-mount-target --file-system-id {resource_id}",
            regroup="aws efs modify-mount-target-security-groups",
        )

    def mount(self, resource_id: str, storage: Part) -> Mount:
        """Return how an instance mounts it. The name resolves to the mount target in the instance's own zone."""
        if storage.get("tls"):
            # The mount helper resolves the name and adds MOUNT_OPTIONS by itself.
            return {"kind": "efs", "source": f"{resource_id}:/", "options": "tls,iam" if storage.get("iam") else "tls"}
        return {
            "kind": "nfs",
            "source": f"{resource_id}.efs.{environment().region}.{environment().domain}:/",
            "options": MOUNT_OPTIONS,
            "read_ahead_kib": READ_AHEAD_KIB,
        }

    def existing(self) -> Iterator[Existing]:
        for each in _all():
            if each["LifeCycleState"] != "deleted":  # still listed for a while
                yield Existing(each["FileSystemId"], each.get("Tags", []), each["CreationTime"].timestamp())

    def delete(self, resource_id: str) -> bool:
        """Take the deletion one step further: mount targets, then the file system. Return whether it is deleted."""
        efs = client("efs")
        try:
            [file_system] = efs.describe_file_systems(FileSystemId=resource_id)["FileSystems"]
            refuse_another("EFS", resource_id, file_system.get("Tags", []))
            for target in _mount_targets(resource_id):
                if target["LifeCycleState"] not in ("deleting", "deleted"):
                    _delete_mount_target(target["MountTargetId"])
            if _mount_targets(resource_id):
                return False
            [file_system] = efs.describe_file_systems(FileSystemId=resource_id)["FileSystems"]
            if file_system["LifeCycleState"] not in ("deleting", "deleted"):
                efs.delete_file_system(FileSystemId=resource_id)
                [file_system] = efs.describe_file_systems(FileSystemId=resource_id)["FileSystems"]
            return file_system["LifeCycleState"] == "deleted"
        except efs.exceptions.FileSystemNotFound:
            return True
        except (efs.exceptions.FileSystemInUse, efs.exceptions.IncorrectFileSystemLifeCycleState):
            # A deleted mount target may still count for a moment, or the file system is not yet created.
            return False

    def copies(self, resource_ids: Sequence[str]) -> Iterator[Copy]:
        """Ask AWS Backup once and briefly for each file system: an account may not use or allow the service."""
        if not resource_ids:
            return
        backup = impatient_client("backup")
        for resource_id in resource_ids:
            pages = backup.get_paginator("list_recovery_points_by_resource").paginate(ResourceArn=_arn(resource_id))
            for point in (point for page in pages for point in page["RecoveryPoints"]):
                name, created_at = point["RecoveryPointArn"], float(point["CreationDate"].timestamp())
                where = {"BackupVaultName": point["BackupVaultName"], "RecoveryPointArn": name}
                yield Copy(self.COPIES, name, resource_id, created_at, partial(backup.delete_recovery_point, **where))

    def in_use(self) -> dict[str, Callable[[], float]]:
        """Return functions that read the number of the account's file systems."""
        return {FILE_SYSTEMS.code: lambda: float(len(list(_all())))}


def _all() -> Iterator[dict[str, Any]]:
    return listed("efs", "describe_file_systems", "FileSystems")


def _open(file_system: Mapping[str, Any], storage: Part, subnets: Sequence[str]) -> None:
    """Create its policy and the mount targets in these subnets, as far as EFS allows it yet."""
    efs, resource_id = client("efs"), file_system["FileSystemId"]
    try:
        # The policy must be in force before the first mount target lets anybody reach the file system.
        if storage.get("iam"):
            policy = _policy(file_system["FileSystemArn"], os.environ["INSTANCE_ROLE_ARN"])
            efs.put_file_system_policy(FileSystemId=resource_id, Policy=json.dumps(policy))
        for subnet in subnets:
            _create_mount_target(resource_id, subnet)
    except efs.exceptions.IncorrectFileSystemLifeCycleState as error:
        # Both calls document this error. The description already said "available": the next poll, in 30 s, tries again,
        # until the time limit of a file system's creation.
        Logger().warning("tried again at the next look", what=f"opening {resource_id}", reason=str(error))


def _policy(file_system_arn: str, role_arn: str) -> dict[str, Any]:
    """Return a policy that admits only instances with the role, and only by TLS.

    https://docs.aws.amazon.com/efs/latest/ug/security_iam_resource-based-policy-examples.html
    """
    allowed = ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite", "elasticfilesystem:ClientRootAccess"]
    by_mount_target = {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}}
    by_plain_text = {"Bool": {"aws:SecureTransport": "false"}}
    everybody = {"AWS": "*"}
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                **{"Sid": "FleetMayMount", "Effect": "Allow", "Principal": {"AWS": role_arn}, "Action": allowed},
                **{"Resource": file_system_arn, "Condition": by_mount_target},
            },
            {
                **{"Sid": "NobodyWithoutTls", "Effect": "Deny", "Principal": everybody, "Action": "*"},
                **{"Resource": file_system_arn, "Condition": by_plain_text},
            },
        ],
    }


def _create_mount_target(resource_id: str, subnet: str) -> None:
    efs = client("efs")
    try:
        efs.create_mount_target(
            FileSystemId=resource_id, SubnetId=subnet, SecurityGroups=[network.file_system_security_group()]
        )
    except efs.exceptions.MountTargetConflict:
        # Created by an attempt whose response was lost: the next poll finds it. After a conflict of another kind the
        # file system never becomes ready, and the time limit of its creation reports that.
        return
    except efs.exceptions.UnsupportedAvailabilityZone as err:
        raise FileSystemFailed(
            f"EFS {resource_id}: there is no EFS in the zone of {subnet}; deploy the stack with zones that have it "
            "(parameter AvailabilityZones, or SubnetIds of your own VPC)"
        ) from err


def _delete_mount_target(mount_target_id: str) -> None:
    efs = client("efs")
    try:
        efs.delete_mount_target(MountTargetId=mount_target_id)
    except efs.exceptions.MountTargetNotFound:
        return  # deleted by an attempt whose response was lost


def _mount_targets(resource_id: str) -> list[dict[str, Any]]:
    return client("efs").describe_mount_targets(FileSystemId=resource_id)["MountTargets"]


def _arn(resource_id: str) -> str:
    account = client("sts").get_caller_identity()
    partition = account["Arn"].split(":")[1]
    region = client("efs").meta.region_name
    return f"arn:{partition}:elasticfilesystem:{region}:{account['Account']}:file-system/{resource_id}"


cloud = Efs()
