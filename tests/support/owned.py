"""File systems that somebody has already, with data, on a local cloud."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.runs import Cloud, until

DATA = {"letters/a.txt": "from a", "letters/b.txt": "from b", "todo": "nothing"}


@dataclass
class Owned:
    """Somebody's own file system, its folder, and how its service describes it."""

    id: str
    folder: Path
    described: Callable[[], Any]

    def state(self) -> tuple[Any, dict[str, tuple[str | None, int]]]:
        """What its service says of it, and every file and folder on it with content and time."""
        there = {
            str(path.relative_to(self.folder)): (
                path.read_text() if path.is_file() else None,
                path.stat().st_mtime_ns if path.is_file() else 0,
            )
            for path in self.folder.rglob("*")
        }
        return self.described(), there

    def fill(self) -> None:
        """Put somebody's data on it, as soon as it is there."""
        until(self.folder.is_dir, "the folder of the file system")
        for path, text in DATA.items():
            (self.folder / path).parent.mkdir(exist_ok=True)
            (self.folder / path).write_text(text)


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
        yield owned
    finally:
        for target in efs.describe_mount_targets(FileSystemId=name)["MountTargets"]:
            efs.delete_mount_target(MountTargetId=target["MountTargetId"])
        efs.delete_file_system(FileSystemId=name)
        until(lambda: not owned.folder.exists(), "the folder to go")


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
    owned = Owned(name, _folder(cloud, name), lambda: fsx.describe_file_systems(FileSystemIds=[name])["FileSystems"])
    try:
        owned.fill()
        yield owned
    finally:
        fsx.delete_file_system(FileSystemId=name)
        until(lambda: not owned.folder.exists(), "the folder to go")
