"""Amazon S3 Files: for each file system a prefix of the stack's own bucket with versions.

Only the file system knows its prefix, and it is deleted before its objects. An owner's mark in the bucket, an object
named by the file system's id, therefore records the owner of the remaining objects. It is written once the file system
exists and removed last, so that a deletion continues after a crash.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

from aws_lambda_powertools import Logger

from aws.stack import encryption, network
from aws.stack.clients import client, listed
from aws.stack.environment import environment
from aws.storages import reach
from aws.storages.base import Existing, FileSystem, Refusal, refuse_another
from aws.storages.prefixes import delete_objects
from matrix.storages.base import FILE_SYSTEM_ID
from matrix.terms.documents.job import ExportedTo, Mount
from matrix.terms.documents.parts import Part
from matrix.terms.errors import FileSystemFailed
from matrix.terms.sizes import format_size, parse_size

OWNERS = "owners/"
VERSIONS_AT_ONCE = 1_000
TRIGGERS = {"onDirectoryFirstAccess": "ON_DIRECTORY_FIRST_ACCESS", "onFileAccess": "ON_FILE_ACCESS"}
CLIENT_ACTIONS = ("s3files:ClientMount", "s3files:ClientWrite", "s3files:ClientRootAccess")
Described = dict[str, Any]


class S3Files(FileSystem):
    # A file system takes seconds, its mount targets up to about five minutes (S3 user guide, creating mount targets).
    CREATION_LIMIT_S = 1_200
    DELETION_PROOF = "S3 Files GetFileSystem: not there, and S3 ListObjectVersions: nothing"

    def create(self, token: str, _storage: Part, tags: list[dict[str, str]], *_: object) -> str:
        """Create the file system, or find the one that an earlier call with this token created; return its id."""
        file_system = client("s3files").create_file_system(
            bucket=_bucket_arn(),
            prefix=f"{token}/",
            # "If this token matches a previous request, Amazon Web Services ignores the request" (service model).
            clientToken=token,
            roleArn=os.environ["FILES_ROLE_ARN"],
            # The bucket is the stack's own and holds only data of runs, so warnings about it do not matter.
            acceptBucketWarning=True,
            tags=[{"key": tag["Key"], "value": tag["Value"]} for tag in tags],
            **_key(),
        )
        return str(file_system["fileSystemId"])

    def find(self, token: str) -> str | None:
        for resource_id, owner in _owners().items():
            if owner["prefix"] == f"{token}/":
                return resource_id
        for described in _of_stack():
            if described.get("prefix") == f"{token}/":
                return str(described["fileSystemId"])
        return None

    def is_ready(self, resource_id: str, storage: Part) -> bool:
        """Return whether instances can mount it; sets rules and creates mount targets as soon as S3 Files allows.

        Raises FileSystemFailed if it ended in a state that it cannot leave.
        """
        file_system = client("s3files").get_file_system(fileSystemId=resource_id)
        status = file_system["status"]
        if status in ("error", "misconfigured", "deleting", "deleted"):
            why = file_system.get("statusMessage") or "see its events in CloudTrail"
            raise FileSystemFailed(f"S3 Files {resource_id} is {status}: {why}")
        if status != "available":
            return False
        if storage.get(FILE_SYSTEM_ID):
            return True  # its owner has created its mount targets, and Plan matrix has checked them
        _mark(file_system)
        targets = _mount_targets(resource_id)
        for target in targets:
            if target["status"] in ("error", "misconfigured"):
                why = target.get("statusMessage") or "see its events in CloudTrail"
                raise FileSystemFailed(f"S3 Files {resource_id}: its mount target in {target['subnetId']}: {why}")
        missing = set(network.subnets()) - {target["subnetId"] for target in targets}
        if missing:
            # Set before the first mount target admits instances, so that no directory is imported by other rules.
            _set_rules(resource_id, storage)
            for subnet in sorted(missing):
                _create_mount_target(resource_id, subnet)
        return not missing and all(target["status"] == "available" for target in targets)

    def refusals(self, storage: Part, *_: object) -> Iterator[Refusal]:
        """Yield why an existing one cannot be measured: deleted, of a run, not as described, closed or out of reach."""
        resource_id, files = storage[FILE_SYSTEM_ID], client("s3files")
        try:
            file_system = files.get_file_system(fileSystemId=resource_id)
        except files.exceptions.ResourceNotFoundException:
            rule = f"S3 Files has no such file system in {environment().region}"
            yield Refusal(FILE_SYSTEM_ID, resource_id, rule, "write one that `aws s3files list-file-systems` lists")
            return
        if file_system["status"] != "available":
            why = f": {file_system['statusMessage']}" if file_system.get("statusMessage") else ""
            fix = "write one that is available, or wait until it is"
            yield Refusal(FILE_SYSTEM_ID, resource_id, f"is {file_system['status']}{why}", fix)
            return
        if refusal := reach.of_a_run(FILE_SYSTEM_ID, resource_id, _as_ec2(file_system)):
            yield refusal
            return
        yield from reach.otherwise(resource_id, storage, _described_rules(resource_id))
        yield from _closed(file_system)
        target_of = {
            target["networkInterfaceId"]: target["mountTargetId"]
            for target in _mount_targets(resource_id)
            if target["status"] == "available"
        }
        yield from reach.without_mount_targets(
            resource_id,
            target_of,
            network.subnets(),
            create=f"aws s3files create-mount-target --file-system-id {resource_id}",
            regroup="aws s3files update-mount-target",
        )

    def mount(self, resource_id: str, storage: Part) -> Mount:
        """Return how an instance mounts it: the mount helper finds the mount target in the instance's own zone."""
        # The helper adds TLS, IAM, NFS 4.2 and its other options by itself.
        options = "rw" if storage["directReads"] else "rw,nodirects3read"
        return {"kind": "s3-files", "source": f"{resource_id}:/", "options": options}

    def exported_to(self, resource_id: str) -> ExportedTo:
        """Return the bucket and prefix to which its files are exported; the prefix is in its owner's mark there."""
        return {"bucket": _bucket(), "mark": f"{OWNERS}{resource_id}", "region": environment().region}

    def existing(self) -> Iterator[Existing]:
        """Yield the file systems of the stack's bucket, and deleted ones whose objects are still there."""
        there = {described["fileSystemId"]: described for described in _of_stack()}
        for resource_id, described in there.items():
            yield Existing(resource_id, _as_ec2(described), described["creationTime"].timestamp())
        for resource_id, owner in _owners().items():
            if resource_id not in there:
                yield Existing(resource_id, owner["tags"], owner["created_at"])

    def delete(self, resource_id: str) -> bool:
        """Take the deletion one step further: mount targets, file system, objects. Return whether all is deleted."""
        files = client("s3files")
        try:
            file_system = files.get_file_system(fileSystemId=resource_id)
        except files.exceptions.ResourceNotFoundException:
            return _empty(resource_id)
        refuse_another("S3 Files", resource_id, _as_ec2(file_system))
        _mark(file_system)
        try:
            for target in _mount_targets(resource_id):
                if target["status"] not in ("deleting", "deleted"):
                    _delete_mount_target(target["mountTargetId"])
            if not _mount_targets(resource_id) and file_system["status"] not in ("deleting", "deleted"):
                _delete_file_system(resource_id)
            files.get_file_system(fileSystemId=resource_id)
        except files.exceptions.ResourceNotFoundException:
            return _empty(resource_id)
        except files.exceptions.ConflictException:
            # A deleted mount target may still count for a moment, or the file system is not yet created.
            return False
        return False


def _key() -> dict[str, str]:
    """Return the member for the stack's key, which has another name than in EFS and FSx."""
    key = encryption.by_key().get("KmsKeyId")
    return {"kmsKeyId": key} if key else {}


def _set_rules(resource_id: str, storage: Part) -> None:
    """Set the rules of import and expiration, unless they are set: a new file system has S3 Files' own rules."""
    files, wanted = client("s3files"), _rules(storage)
    current = files.get_synchronization_configuration(fileSystemId=resource_id)
    if all(current[name] == rules for name, rules in wanted.items()):
        return
    latest = {name: current[name] for name in ("latestVersionNumber",) if name in current}
    files.put_synchronization_configuration(fileSystemId=resource_id, **latest, **wanted)


def _rules(storage: Part) -> dict[str, list[dict[str, Any]]]:
    imported = {
        "prefix": "",
        "trigger": TRIGGERS[storage["importTrigger"]],
        "sizeLessThan": parse_size(storage["importBelow"]),
    }
    return {
        "importDataRules": [imported],
        "expirationDataRules": [{"daysAfterLastAccess": storage["expireAfterDays"]}],
    }


def _create_mount_target(resource_id: str, subnet: str) -> None:
    files = client("s3files")
    try:
        files.create_mount_target(
            fileSystemId=resource_id, subnetId=subnet, securityGroups=[network.file_system_security_group()]
        )
    except files.exceptions.ConflictException as error:
        # Created by an attempt whose response was lost, or not allowed yet: the next poll, in 30 s, finds it or tries
        # again, until the time limit of a file system's creation.
        Logger().warning("tried again at the next look", what=f"opening {resource_id}", reason=str(error))


def _described_rules(resource_id: str) -> dict[str, object]:
    """Return the fields that a matrix would need; of several rules, those for all objects."""
    rules = client("s3files").get_synchronization_configuration(fileSystemId=resource_id)
    written = {trigger: word for word, trigger in TRIGGERS.items()}
    of_all = next((rule for rule in rules["importDataRules"] if not rule["prefix"]), None)
    imported = (
        {"importTrigger": written[of_all["trigger"]], "importBelow": format_size(of_all["sizeLessThan"])}
        if of_all
        else {}
    )
    return {**imported, "expireAfterDays": rules["expirationDataRules"][0]["daysAfterLastAccess"]}


def _closed(file_system: Described) -> Iterator[Refusal]:
    """Yield that its policy does not name the role of the stack's instances, which may only mount the stack's own."""
    files, resource_id, role = client("s3files"), file_system["fileSystemId"], os.environ["INSTANCE_ROLE_ARN"]
    try:
        policy = files.get_file_system_policy(fileSystemId=resource_id)["policy"]
    except files.exceptions.ResourceNotFoundException:
        policy = ""
    if role in policy:
        return
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": role},
        "Action": list(CLIENT_ACTIONS),
        "Resource": file_system["fileSystemArn"],
    }
    rule = "its policy does not name the role of the stack's instances, so that they may not mount it"
    fix = (
        f"add this statement to it by `aws s3files put-file-system-policy --file-system-id {resource_id} --policy …`: "
        f"{json.dumps(statement)}"
    )
    yield Refusal(FILE_SYSTEM_ID, resource_id, rule, fix, is_doubt=True)


def _delete_file_system(resource_id: str) -> None:
    """Delete a file system of a run. Data that it has not exported yet belong to the run and are deleted with it."""
    files = client("s3files")
    try:
        files.delete_file_system(fileSystemId=resource_id)
    except files.exceptions.ConflictException as error:
        # Its objects are deleted next, so waiting for the export would only cost its price.
        Logger().warning("deleted with data that wait for their export", file_system=resource_id, reason=str(error))
        files.delete_file_system(fileSystemId=resource_id, forceDelete=True)


def _delete_mount_target(mount_target_id: str) -> None:
    files = client("s3files")
    try:
        files.delete_mount_target(mountTargetId=mount_target_id)
    except files.exceptions.ResourceNotFoundException:
        return  # deleted by an attempt whose response was lost


def _mount_targets(resource_id: str) -> list[Described]:
    return list(listed("s3files", "list_mount_targets", "mountTargets", fileSystemId=resource_id))


def _of_stack() -> Iterator[Described]:
    """Yield the file systems of the stack's bucket; the list call returns neither tags nor prefix."""
    files = client("s3files")
    for each in listed("s3files", "list_file_systems", "fileSystems", bucket=_bucket_arn()):
        if each["status"] == "deleted":
            continue
        try:
            yield files.get_file_system(fileSystemId=each["fileSystemId"])
        except files.exceptions.ResourceNotFoundException:
            continue  # deleted since it was listed


def _as_ec2(file_system: Described) -> list[dict[str, str]]:
    """Return tags in the form of EC2, EFS and FSx."""
    return [{"Key": tag["key"], "Value": tag["value"]} for tag in file_system.get("tags", [])]


def _bucket() -> str:
    return os.environ["FILES_BUCKET"]


def _bucket_arn() -> str:
    partition = "aws-cn" if environment().region.startswith("cn-") else "aws"
    return f"arn:{partition}:s3:::{_bucket()}"


def _owners() -> dict[str, dict[str, Any]]:
    """Return the owners' marks of the bucket by the id of their file system: prefix, tags, epoch seconds."""
    entries = listed("s3", "list_objects_v2", "Contents", Bucket=_bucket(), Prefix=OWNERS)
    names = [entry["Key"].removeprefix(OWNERS) for entry in entries]
    return {name: mark for name in names if (mark := _mark_of(name))}


def _mark_of(resource_id: str) -> dict[str, Any] | None:
    s3 = client("s3")
    try:
        body = s3.get_object(Bucket=_bucket(), Key=f"{OWNERS}{resource_id}")["Body"]
    except s3.exceptions.NoSuchKey:
        return None
    mark: dict[str, Any] = json.loads(body.read())
    return mark


def _mark(file_system: Described) -> None:
    """Record the owner of a file system's objects, once."""
    resource_id = file_system["fileSystemId"]
    if _mark_of(resource_id):
        return
    mark = {
        "prefix": file_system["prefix"],
        "tags": _as_ec2(file_system),
        "created_at": file_system["creationTime"].timestamp(),
    }
    client("s3").put_object(Bucket=_bucket(), Key=f"{OWNERS}{resource_id}", Body=json.dumps(mark).encode())


def _empty(resource_id: str) -> bool:
    """Delete all versions of all objects of a deleted file system, and its owner's mark last; return True."""
    mark = _mark_of(resource_id)
    if mark:
        _delete_versions(mark["prefix"])
    _delete_versions(f"{OWNERS}{resource_id}")
    return True


def _delete_versions(prefix: str) -> None:
    """Delete every version and delete marker below a prefix. Raises FileSystemFailed for objects that S3 refuses."""
    while True:
        page = client("s3").list_object_versions(Bucket=_bucket(), Prefix=prefix, MaxKeys=VERSIONS_AT_ONCE)
        versions = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
        if not versions:
            return
        delete_objects(_bucket(), versions, f"below {prefix}")


cloud = S3Files()
