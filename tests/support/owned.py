"""A file system that somebody has already, with data, on a local cloud."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.runs import Cloud, until

DATA = {"letters/a.txt": "from a", "letters/b.txt": "from b", "todo": "nothing"}


@dataclass
class Owned:
    """Somebody's own EFS, and its folder."""

    cloud: Cloud
    id: str
    folder: Path

    def state(self) -> tuple[dict[str, Any], list[Any], dict[str, tuple[str | None, int]]]:
        """What EFS says of it and of its mount targets, and every file and folder on it with content and time."""
        efs = self.cloud.client("efs")
        [described] = efs.describe_file_systems(FileSystemId=self.id)["FileSystems"]
        del described["SizeInBytes"]
        targets = efs.describe_mount_targets(FileSystemId=self.id)["MountTargets"]
        found = {
            str(path.relative_to(self.folder)): (
                path.read_text() if path.is_file() else None,
                path.stat().st_mtime_ns if path.is_file() else 0,
            )
            for path in self.folder.rglob("*")
        }
        return described, targets, found


@contextmanager
def owned_efs(cloud: Cloud) -> Iterator[Owned]:
    """An elastic EFS with some files, and mount targets that the stack's instances reach; its owner deletes it."""
    efs, stack = cloud.client("efs"), cloud.description["stack"]
    pages = cloud.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack)
    made = {
        resource["LogicalResourceId"]: resource["PhysicalResourceId"]
        for page in pages
        for resource in page["StackResourceSummaries"]
    }
    name = efs.create_file_system(
        CreationToken="theirs", ThroughputMode="elastic", Tags=[{"Key": "Name", "Value": "home"}]
    )["FileSystemId"]
    owned = Owned(cloud, name, cloud.folder / "storage" / "file-systems" / name)
    try:
        until(owned.folder.is_dir, "the folder of the file system")
        for path, text in DATA.items():
            (owned.folder / path).parent.mkdir(exist_ok=True)
            (owned.folder / path).write_text(text)
        for subnet in ("SubnetA", "SubnetB", "SubnetC"):
            efs.create_mount_target(
                FileSystemId=name, SubnetId=made[subnet], SecurityGroups=[made["FileSystemSecurityGroup"]]
            )
        until(lambda: all(target["LifeCycleState"] == "available" for target in owned.state()[1]), "mount targets")
        yield owned
    finally:
        for target in efs.describe_mount_targets(FileSystemId=name)["MountTargets"]:
            efs.delete_mount_target(MountTargetId=target["MountTargetId"])
        efs.delete_file_system(FileSystemId=name)
        until(lambda: not owned.folder.exists(), "the folder to go")
