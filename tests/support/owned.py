"""Existing file systems and snapshots of an owner, with data, on a local cloud."""

import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.runs import Cloud, until

from matrix.terms.keys import folder_on_existing

# Placeholders in a matrix for resources that an owner has created.
THEIR_EFS, THEIR_FSX, THEIR_FILES, THEIR_SNAPSHOT = "$EFS", "$FSX", "$FILES", "$SNAPSHOT"
THEIR_VOLUME = "$VOLUME"
DATA = {"letters/a.txt": "from a", "letters/b.txt": "from b", "todo": "nothing"}


@dataclass
class Owned:
    """An owner's file system, its folder, and its description by its service."""

    id: str
    folder: Path
    described: Callable[[], Any]
    before: Any = None
    """Its state when it was ready."""

    def state(self) -> tuple[Any, dict[str, tuple[str | None, int]]]:
        """Its description by its service, and every file and folder on it with content and time."""
        there = {
            str(path.relative_to(self.folder)): (
                path.read_text() if path.is_file() else None,
                path.stat().st_mtime_ns if path.is_file() else 0,
            )
            for path in self.folder.rglob("*")
        }
        return self.described(), there

    def harm_by(self, run: str, receipt: Mapping[str, Any] | None) -> list[str]:
        """The differences to its former state; a run's folder may remain if its receipt names it."""
        own = folder_on_existing(run)
        described, there = self.state()
        kept = {path: what for path, what in there.items() if not path.startswith(folder_on_existing(""))}
        problems = [] if (described, kept) == self.before else [f"the owner's {self.id} is not as it was"]
        named = {entry["folder"] for entry in (receipt or {}).get("not_ours", [])}
        return problems + ([f"{own} is left, of which no receipt tells"] if own in there and own not in named else [])

    def fill(self) -> None:
        """Write the owner's data on it, as soon as it exists."""
        until(self.folder.is_dir, "the folder of the file system")
        for path, text in DATA.items():
            (self.folder / path).parent.mkdir(exist_ok=True)
            (self.folder / path).write_text(text)


@dataclass
class OwnedBucket:
    """An owner's bucket with versions and tags."""

    name: str
    client: Any

    def state(self) -> tuple[Any, ...]:
        """Its tags, and each version of each object with its tags, content and time."""
        listed = self.client.list_object_versions(Bucket=self.name)
        versions = [
            (each["Key"], each["VersionId"], each["LastModified"], each["ETag"],
             self.client.get_object_tagging(Bucket=self.name, Key=each["Key"], VersionId=each["VersionId"])["TagSet"])
            for each in listed["Versions"]
        ]  # fmt: skip
        uploads = self.client.list_multipart_uploads(Bucket=self.name).get("Uploads", [])
        tags = self.client.get_bucket_tagging(Bucket=self.name)["TagSet"]
        return tags, versions, listed.get("DeleteMarkers", []), uploads


def stack_resources(cloud: Cloud) -> dict[str, str]:
    """Physical ids of the stack's resources, by logical ids."""
    pages = cloud.client("cloudformation").get_paginator("list_stack_resources")
    return {
        resource["LogicalResourceId"]: resource["PhysicalResourceId"]
        for page in pages.paginate(StackName=cloud.description["stack"])
        for resource in page["StackResourceSummaries"]
    }


def _folder(cloud: Cloud, name: str) -> Path:
    return cloud.folder / "storage" / "file-systems" / name


@contextmanager
def owned_efs(cloud: Cloud) -> Iterator[Owned]:
    """An elastic EFS with some files, and mount targets that the stack's instances reach; its owner deletes it."""
    efs, made = cloud.client("efs"), stack_resources(cloud)
    name = efs.create_file_system(
        CreationToken="theirs", ThroughputMode="elastic", Tags=[{"Key": "Name", "Value": "home"}]
    )["FileSystemId"]

    def described() -> tuple[dict[str, Any], list[Any]]:
        [file_system] = efs.describe_file_systems(FileSystemId=name)["FileSystems"]
        del file_system["SizeInBytes"]
        return file_system, efs.describe_mount_targets(FileSystemId=name)["MountTargets"]

    owned = Owned(name, _folder(cloud, name), described)
    try:
        owned.fill()
        for subnet in ("SubnetA", "SubnetB", "SubnetC"):
            efs.create_mount_target(
                FileSystemId=name, SubnetId=made[subnet], SecurityGroups=[made["FileSystemSecurityGroup"]]
            )
        until(lambda: all(target["LifeCycleState"] == "available" for target in described()[1]), "mount targets")
        owned.before = owned.state()
        yield owned
    finally:
        for target in efs.describe_mount_targets(FileSystemId=name)["MountTargets"]:
            efs.delete_mount_target(MountTargetId=target["MountTargetId"])
        efs.delete_file_system(FileSystemId=name)
        until(lambda: not owned.folder.exists(), "the folder to go")


@contextmanager
def owned_snapshot(cloud: Cloud) -> Iterator[str]:
    """An account's own snapshot, in the role of one with a filled cache; its owner deletes it."""
    ec2 = cloud.client("ec2")
    zone = ec2.describe_availability_zones()["AvailabilityZones"][0]["ZoneName"]
    volume = ec2.create_volume(AvailabilityZone=zone, Size=8)["VolumeId"]
    snapshot = ec2.create_snapshot(VolumeId=volume)["SnapshotId"]
    ec2.delete_volume(VolumeId=volume)
    yield snapshot
    ec2.delete_snapshot(SnapshotId=snapshot)


@contextmanager
def owned_volume(cloud: Cloud) -> Iterator[Owned]:
    """A gp3 volume of 8 GiB in the stack's second zone, which the stack may attach; its owner deletes it."""
    ec2, stack = cloud.client("ec2"), cloud.description["stack"]
    [subnet] = ec2.describe_subnets(SubnetIds=[stack_resources(cloud)["SubnetB"]])["Subnets"]
    tags = [{"Key": "Name", "Value": "cache"}, {"Key": "storage-matrix:may-attach", "Value": stack}]
    name = ec2.create_volume(
        AvailabilityZone=subnet["AvailabilityZone"], Size=8, VolumeType="gp3", Iops=3000, Throughput=125,
        TagSpecifications=[{"ResourceType": "volume", "Tags": tags}],
    )["VolumeId"]  # fmt: skip

    def described() -> dict[str, Any]:
        # Another run may have attached it meanwhile; the code below waits until it is free in the end.
        [volume] = ec2.describe_volumes(VolumeIds=[name])["Volumes"]
        return {key: value for key, value in volume.items() if key not in ("State", "Attachments")}

    def is_free() -> bool:
        return bool(ec2.describe_volumes(VolumeIds=[name])["Volumes"][0]["State"] == "available")

    owned = Owned(name, _folder(cloud, name), described)
    owned.folder.mkdir(parents=True)
    owned.fill()
    owned.before = owned.state()
    yield owned
    until(is_free, "the volume to be free")
    ec2.delete_volume(VolumeId=name)
    shutil.rmtree(owned.folder)


@contextmanager
def owned_fsx(cloud: Cloud) -> Iterator[Owned]:
    """An FSx for OpenZFS with some files, in the stack's first subnet; its owner deletes it."""
    fsx, made = cloud.client("fsx"), stack_resources(cloud)
    name = fsx.create_file_system(
        FileSystemType="OPENZFS",
        StorageType="SSD",
        StorageCapacity=64,
        SubnetIds=[made["SubnetA"]],
        SecurityGroupIds=[made["FileSystemSecurityGroup"]],
        Tags=[{"Key": "Name", "Value": "home"}],
        OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_1", "ThroughputCapacity": 64},
    )["FileSystem"]["FileSystemId"]

    def described() -> list[dict[str, Any]]:
        return fsx.describe_file_systems(FileSystemIds=[name])["FileSystems"]

    owned = Owned(name, _folder(cloud, name), described)
    try:
        owned.fill()
        until(lambda: described()[0]["Lifecycle"] == "AVAILABLE", "the file system")
        owned.before = owned.state()
        yield owned
    finally:
        fsx.delete_file_system(FileSystemId=name)
        until(lambda: not owned.folder.exists(), "the folder to go")


@contextmanager
def owned_files(cloud: Cloud) -> Iterator[Owned]:
    """An S3 Files file system on a bucket of its owner, with mount targets that the stack's instances reach."""
    files, s3, made = cloud.client("s3files"), cloud.client("s3"), stack_resources(cloud)
    bucket = "theirs-files"
    s3.create_bucket(Bucket=bucket)
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    name = files.create_file_system(
        bucket=f"arn:aws:s3:::{bucket}",
        roleArn="arn:aws:iam::123456789012:role/theirs",
        tags=[{"key": "Name", "value": "home"}],
    )["fileSystemId"]

    def described() -> tuple[dict[str, Any], list[Any]]:
        file_system = files.get_file_system(fileSystemId=name)
        del file_system["ResponseMetadata"]
        return file_system, files.list_mount_targets(fileSystemId=name)["mountTargets"]

    owned = Owned(name, _folder(cloud, name), described)
    try:
        until(lambda: described()[0]["status"] == "available", "the file system")
        owned.fill()
        for subnet in ("SubnetA", "SubnetB", "SubnetC"):
            files.create_mount_target(
                fileSystemId=name, subnetId=made[subnet], securityGroups=[made["FileSystemSecurityGroup"]]
            )
        until(lambda: all(target["status"] == "available" for target in described()[1]), "mount targets")
        owned.before = owned.state()
        yield owned
    finally:
        for target in files.list_mount_targets(fileSystemId=name)["mountTargets"]:
            files.delete_mount_target(mountTargetId=target["mountTargetId"])
        until(lambda: not files.list_mount_targets(fileSystemId=name)["mountTargets"], "the mount targets to go")
        files.delete_file_system(fileSystemId=name, forceDelete=True)
        until(lambda: not files.list_file_systems(bucket=f"arn:aws:s3:::{bucket}")["fileSystems"], "it to go")
        for version in s3.list_object_versions(Bucket=bucket).get("Versions", []):
            s3.delete_object(Bucket=bucket, Key=version["Key"], VersionId=version["VersionId"])
        s3.delete_bucket(Bucket=bucket)


class Theirs:
    """File systems, a volume and a snapshot of an owner, each created when a matrix first names it."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._owners = ExitStack()
        self._ids: dict[str, str] = {}
        self._file_systems: list[Owned] = []
        self._lock = threading.Lock()

    def named_in(self, matrix: str) -> str:
        """The matrix with their ids in it."""
        with self._lock:
            for name in (THEIR_EFS, THEIR_FSX, THEIR_FILES, THEIR_SNAPSHOT, THEIR_VOLUME):
                if name in matrix:
                    matrix = matrix.replace(name, self._ids.get(name) or self._make(name))
        return matrix

    def _make(self, name: str) -> str:
        if name == THEIR_SNAPSHOT:
            self._ids[name] = self._owners.enter_context(owned_snapshot(self._cloud))
        else:
            make = {
                THEIR_EFS: owned_efs, THEIR_FSX: owned_fsx, THEIR_FILES: owned_files, THEIR_VOLUME: owned_volume,
            }[name]  # fmt: skip
            self._file_systems.append(self._owners.enter_context(make(self._cloud)))
            self._ids[name] = self._file_systems[-1].id
        return self._ids[name]

    def harm_by(self, run: str, receipt: Mapping[str, Any] | None) -> list[str]:
        """The differences to its former state after the run has ended."""
        return [harm for owned in self._file_systems for harm in owned.harm_by(run, receipt)]

    def go(self) -> None:
        self._owners.close()
        self._ids, self._file_systems = {}, []


# The objects that owned_bucket makes, for the stack's parameters ExistingBucket and ExistingPrefix.
THEIR_BUCKET, THEIR_PREFIX = "theirs", "letters/2026"


@contextmanager
def owned_bucket(cloud: Cloud) -> Iterator[OwnedBucket]:
    """A bucket with objects of two versions, below a prefix and outside of it; its owner deletes it."""
    s3 = cloud.client("s3")
    s3.create_bucket(Bucket=THEIR_BUCKET)
    s3.put_bucket_versioning(Bucket=THEIR_BUCKET, VersioningConfiguration={"Status": "Enabled"})
    s3.put_bucket_tagging(Bucket=THEIR_BUCKET, Tagging={"TagSet": [{"Key": "Name", "Value": "home"}]})
    for key in (f"{THEIR_PREFIX}/a.csv", f"{THEIR_PREFIX}/b.csv", "beside/c"):
        for text in ("first", "second"):
            s3.put_object(Bucket=THEIR_BUCKET, Key=key, Body=text.encode(), Tagging="of=theirs")
    try:
        yield OwnedBucket(THEIR_BUCKET, s3)
    finally:
        for version in s3.list_object_versions(Bucket=THEIR_BUCKET)["Versions"]:
            s3.delete_object(Bucket=THEIR_BUCKET, Key=version["Key"], VersionId=version["VersionId"])
        s3.delete_bucket(Bucket=THEIR_BUCKET)
