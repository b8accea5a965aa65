"""Corrections to moto's EFS and FSx: file systems take a moment to appear and to disappear, and own a folder.

S3 Files, which moto lacks, shares the folders.

EFS: creating → available → deleting → gone, mount targets likewise. FSx: CREATING → AVAILABLE → DELETING → gone,
ClientRequestToken is idempotent, unknown ids are FileSystemNotFound, OpenZFS has its RootVolumeId, backups take the
tags where that was asked for, answers have the members that FSx's model has.
The folder of a file system exists from the moment it is available until it is deleted.
"""

import json
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from moto.core.exceptions import ServiceException
from moto.efs import models as efs
from moto.fsx import models as fsx
from moto.fsx.responses import FSxResponse

from local.corrections import s3_files
from local.corrections.folders import Folders, LateS, later

DELAY_S = 0.3


class FileSystemNotFound(ServiceException):
    """FSx does not know this file system."""


class IncompatibleParameterError(ServiceException):
    """A token is used again with other parameters."""


def install(root: Path, delay_s: float = DELAY_S, late_s: LateS | None = None) -> None:
    """Apply all corrections; folders are made below `root`, as late as `late_s` says of an id and when it came."""
    folders = Folders(root, late_s or (lambda _id, _since: 0.0))
    s3_files.install(folders, delay_s)
    _age_efs(folders, delay_s)
    _delete_efs_slowly(folders, delay_s)
    _age_fsx(folders, delay_s)
    _create_fsx_once(folders, delay_s)
    _delete_fsx_slowly(folders, delay_s)
    _copy_tags_to_backups()
    _answer_as_fsx()


def _as_aws_describes(efs_resource: dict[str, Any]) -> dict[str, Any]:
    """Return a description without moto's nulls, and without its members that AWS's model does not have."""
    beside = ("FileSystemPolicy", "LifecyclePolicies", "SecurityGroups")
    return {name: value for name, value in efs_resource.items() if value is not None and name not in beside}


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


def _age_fsx(folders: Folders, delay_s: float) -> None:
    describe = fsx.FileSystem.to_dict

    def describe_with_age(self: Any) -> dict[str, Any]:
        born = getattr(self, "local_born", 0.0)
        is_young = time.time() - born < delay_s
        lifecycle = "DELETING" if hasattr(self, "local_deleting") else "CREATING" if is_young else "AVAILABLE"
        if lifecycle == "AVAILABLE":
            folders.create(self.file_system_id)
        answer = {**describe(self), "Lifecycle": lifecycle, "CreationTime": born, "OwnerId": self.backend.account_id}
        # Both are asked for, and not among what FSx answers (botocore's model of it).
        answer.pop("SecurityGroupIds", None)
        if zfs := answer.pop("OpenZFSConfiguration", None):
            root_volume = f"fsvol-{self.file_system_id.removeprefix('fs-'):0>17}"
            known = {name: value for name, value in zfs.items() if name != "RootVolumeConfiguration"}
            answer["OpenZFSConfiguration"] = {**known, "RootVolumeId": root_volume}
        return answer

    fsx.FileSystem.to_dict = describe_with_age


def _create_fsx_once(folders: Folders, delay_s: float) -> None:
    create, describe = fsx.FSxBackend.create_file_system, fsx.FSxBackend.describe_file_systems
    created: dict[str, tuple[Any, dict]] = {}
    lock = threading.Lock()

    def create_once(self: Any, client_request_token: str | None, **parameters: Any) -> Any:
        token = client_request_token or str(uuid.uuid4())
        with lock:
            if token in created:
                file_system, first = created[token]
                if parameters != first:
                    message = f"The client request token {token} was used before with other parameters."
                    raise IncompatibleParameterError("IncompatibleParameterError", message)
                return file_system
            file_system = create(self, client_request_token=token, **parameters)
            file_system.local_born = time.time()
            created[token] = (file_system, parameters)
        later(delay_s, folders.create, file_system.file_system_id)
        return file_system

    def describe_known(self: Any, file_system_ids: list[str] | None = None, **page: Any) -> Any:
        for file_system_id in file_system_ids or []:
            if file_system_id not in self.file_systems:
                raise FileSystemNotFound("FileSystemNotFound", f"File system '{file_system_id}' does not exist.")
        return describe(self, file_system_ids=file_system_ids, **page)

    fsx.FSxBackend.create_file_system = create_once
    fsx.FSxBackend.describe_file_systems = describe_known


def _delete_fsx_slowly(folders: Folders, delay_s: float) -> None:
    delete = fsx.FSxBackend.delete_file_system

    def finish(backend: Any, file_system_id: str) -> None:
        backend.file_systems.pop(file_system_id, None)
        folders.delete(file_system_id)

    def delete_slowly(self: Any, file_system_id: str, **request: Any) -> Any:
        file_system = self.file_systems.get(file_system_id)
        if file_system is None:
            raise FileSystemNotFound("FileSystemNotFound", f"File system '{file_system_id}' does not exist.")
        answer = delete(self, file_system_id, **request)
        self.file_systems[file_system_id] = file_system
        if not hasattr(file_system, "local_deleting"):
            file_system.local_deleting = True
            later(delay_s, finish, self, file_system_id)
        return answer

    fsx.FSxBackend.delete_file_system = delete_slowly


def _copy_tags_to_backups() -> None:
    create = fsx.FSxBackend.create_backup

    def create_tagged(self: Any, file_system_id: str, *rest: Any, **named: Any) -> Any:
        backup = create(self, file_system_id, *rest, **named)
        file_system = backup.local_file_system = self.file_systems[file_system_id]
        is_tagged = self.tagger.has_tags(backup.resource_arn)
        if not is_tagged and (file_system.open_zfs_configuration or {}).get("CopyTagsToBackups"):
            tags = self.tagger.list_tags_for_resource(file_system.resource_arn)["Tags"]
            self.tagger.tag_resource(backup.resource_arn, tags)
        return backup

    fsx.FSxBackend.create_backup = create_tagged


def _answer_as_fsx() -> None:
    """Give backups the members that FSx's have, and no answer members that it has not, or nulls."""
    describe = fsx.Backup.to_dict

    def describe_backup(self: Any) -> dict[str, Any]:
        answer = {**describe(self), "Type": "USER_INITIATED", "FileSystem": self.local_file_system.to_dict()}
        return {name: value for name, value in answer.items() if name not in ("FileSystemId", "ClientRequestToken")}

    fsx.Backup.to_dict = describe_backup
    for name in ("describe_file_systems", "delete_file_system", "describe_backups"):
        setattr(FSxResponse, name, _without_nulls(getattr(FSxResponse, name)))


def _without_nulls(answer: Callable[[Any], str]) -> Callable[[Any], str]:
    def answered(self: Any) -> str:
        return json.dumps({name: value for name, value in json.loads(answer(self)).items() if value is not None})

    return answered
