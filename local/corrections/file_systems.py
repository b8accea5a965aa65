"""Corrections to moto's EFS: file systems take time to appear and disappear, and each has a folder.

FSx, and S3 Files, which moto lacks, share the folders. So do buckets that Mountpoint mounts.

EFS: creating → available → deleting → gone, mount targets likewise. The folder of a file system exists from the moment
it is available until it is deleted.
"""

import time
from pathlib import Path
from typing import Any

from moto.efs import models as efs

from local.corrections import directory_buckets, fsx, mounted_buckets, s3_files
from local.corrections.folders import Folders, later

DELAY_S = 0.3


def install(root: Path, delay_s: float = DELAY_S) -> None:
    """Apply all corrections; the folders are below `root`."""
    folders = Folders(root)
    s3_files.install(folders, delay_s)
    directory_buckets.install()
    mounted_buckets.install(folders)
    _age_efs(folders, delay_s)
    _delete_efs_slowly(folders, delay_s)
    fsx.install(folders, delay_s)


def _as_aws_describes(efs_resource: dict[str, Any]) -> dict[str, Any]:
    """Return a description without moto's nulls, and without its members that AWS's model does not have."""
    unknown = ("FileSystemPolicy", "LifecyclePolicies", "SecurityGroups")
    return {name: value for name, value in efs_resource.items() if value is not None and name not in unknown}


def _age_efs(folders: Folders, delay_s: float) -> None:
    create, describe, describe_target = (
        efs.EFSBackend.create_file_system,
        efs.FileSystem.info_json,
        efs.MountTarget.info_json,
    )

    def create_aging(self: Any, *arguments: Any, **named: Any) -> Any:
        file_system = create(self, *arguments, **named)
        later(delay_s, folders.create, file_system.file_system_id)
        return file_system

    def state(self: Any) -> str:
        is_young = time.time() - self.creation_time < delay_s
        return "deleting" if hasattr(self, "_deleting") else "creating" if is_young else "available"

    def info(self: Any) -> dict[str, Any]:
        if state(self) == "available":
            folders.create(self.file_system_id)
        return _as_aws_describes(describe(self)) | {"LifeCycleState": state(self)}

    def target_info(self: Any) -> dict[str, Any]:
        born = self.__dict__.setdefault("_born", time.time())
        is_old = time.time() - born >= delay_s
        return _as_aws_describes(describe_target(self)) | {"LifeCycleState": "available" if is_old else "creating"}

    efs.EFSBackend.create_file_system = create_aging
    efs.FileSystem.info_json = info
    efs.MountTarget.info_json = target_info


def _delete_efs_slowly(folders: Folders, delay_s: float) -> None:
    delete = efs.EFSBackend.delete_file_system

    def finish(backend: Any, file_system_id: str) -> None:
        if file_system_id in backend.file_systems_by_id:
            delete(backend, file_system_id)
        folders.delete(file_system_id)

    def delete_slowly(self: Any, file_system_id: str) -> None:
        file_system = self.file_systems_by_id.get(file_system_id)
        if file_system is None or file_system.number_of_mount_targets:
            delete(self, file_system_id)  # raises FileSystemNotFound or FileSystemInUse
        elif not hasattr(file_system, "_deleting"):
            file_system._deleting = True
            later(delay_s, finish, self, file_system_id)

    efs.EFSBackend.delete_file_system = delete_slowly
