"""The fault `late`: AWS shows an effect only some time after it happened, while moto shows it at once.

A rule names the delayed effect, the delay, and the run; `seconds` are real ones:

    {"id": "1", "fault": "late", "run": "my-run", "what": "instances", "seconds": 20}

    executions     DescribeExecution does not find a new execution, and returns RUNNING for one that has just ended
    instances      new instances and their volumes are missing in EC2's descriptions
    tags           new instances, volumes and file systems are described without tags, and no filter by tag finds them
    names          the DNS name of a new file system does not resolve: the folder that emulates its mount is missing
    mount targets  the first CreateMountTarget of a file system is refused, though it is described as available
    deletion       FSx stays in CREATING, and refuses to delete a file system that it still creates
    grants         the deployed roles are denied every call, from the first one of the run on

Executions are late for every caller, all other effects only for deployed roles, because tests must see the real state.
"""

import time
from datetime import UTC, datetime
from typing import Any

from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult
from moto.ec2.models.core import TaggedEC2Resource
from moto.ec2.models.elastic_block_store import EBSBackend, Volume
from moto.ec2.models.instances import Instance, InstanceBackend
from moto.efs import models as efs
from moto.efs.exceptions import EFSError
from moto.fsx import models as fsx
from moto.stepfunctions import responses
from moto.stepfunctions.exceptions import ExecutionDoesNotExist

from cloud.faults.injection import Faults
from local.corrections import folders, s3_files
from local.corrections.clients import ACCOUNT

RUN_TAG = "storage-matrix:run"
NOT_YET_SAID = ("stopDate", "output", "outputDetails", "error", "cause")
Tags = list[dict[str, str]]


class IncorrectFileSystemLifeCycleState(EFSError):
    """EFS is not ready for this call."""

    code = 409


class BadRequest(ServiceException):
    """FSx refuses."""


def install(injected: Faults, region: str) -> None:
    """Change moto's responses after all corrections; effects themselves are not delayed."""
    _of_names(injected, ACCOUNT, region)
    _of_executions(injected)
    _of_ec2(injected)
    _of_efs(injected)
    _of_fsx(injected)
    _of_s3_files(injected)


def _of_names(injected: Faults, account: str, region: str) -> None:
    """Create the folder of a file system only once its DNS name resolves."""
    create = folders.Folders.create
    created_at: dict[str, float] = {}

    def late_s(file_system_id: str, since: float) -> float:
        if known := s3_files.s3files_backends[account][region].tags_of(file_system_id):
            return injected.late_s("names", known.get(RUN_TAG), since)
        system = fsx.fsx_backends[account][region].file_systems.get(file_system_id)
        tags = (
            system.backend.list_tags_for_resource(system.resource_arn)
            if system
            else efs.efs_backends[account][region].list_tags_for_resource(file_system_id)
        )
        return injected.late_s("names", _run_of(tags), since)

    def create_late(self: Any, file_system_id: str) -> None:
        is_first = file_system_id not in created_at
        left_s = late_s(file_system_id, created_at.setdefault(file_system_id, time.time()))
        if left_s and is_first:
            folders.later(left_s, self.create, file_system_id)
        elif not left_s:
            create(self, file_system_id)

    folders.Folders.create = create_late


def _of_executions(injected: Faults) -> None:
    describe = responses.StepFunctionResponse.describe_execution

    def answer(self: Any) -> ActionResult:
        result: Any = describe(self).result
        described = dict(result)
        run, began, ended = described["name"], described["startDate"], described.get("stopDate")
        if injected.late_s("executions", run, began.timestamp()):
            raise ExecutionDoesNotExist(f"Execution Does Not Exist: '{described['executionArn']}'")
        if ended and injected.late_s("executions", run, ended.timestamp()):
            described = {name: value for name, value in described.items() if name not in NOT_YET_SAID}
            described["status"] = "RUNNING"
        return ActionResult(described)

    responses.StepFunctionResponse.describe_execution = answer


def _of_ec2(injected: Faults) -> None:
    tags_of = TaggedEC2Resource.get_tags
    reservations, volumes = InstanceBackend.all_reservations, EBSBackend.describe_volumes

    def is_late(what: str, resource: Any) -> bool:
        if not injected.is_asked_by_role:
            return False
        created: datetime = resource.launch_time if isinstance(resource, Instance) else resource.create_time
        run = resource.ec2_backend.tags.get(resource.id, {}).get(RUN_TAG)
        return injected.late_s(what, run, created.replace(tzinfo=UTC).timestamp()) > 0

    def tags_shown(self: Any) -> Tags:
        return [] if isinstance(self, Instance | Volume) and is_late("tags", self) else tags_of(self)

    def reservations_shown(self: Any, filters: Any = None) -> list[Any]:
        copies = reservations(self, filters)
        for reservation in copies:
            reservation.instances = [each for each in reservation.instances if not is_late("instances", each)]
        return [reservation for reservation in copies if reservation.instances]

    def volumes_shown(self: Any, *arguments: Any, **named: Any) -> list[Volume]:
        return [each for each in volumes(self, *arguments, **named) if not is_late("instances", each)]

    TaggedEC2Resource.get_tags = tags_shown
    InstanceBackend.all_reservations = reservations_shown
    EBSBackend.describe_volumes = volumes_shown


def _of_efs(injected: Faults) -> None:
    describe, create_target = efs.FileSystem.info_json, efs.EFSBackend.create_mount_target
    refused: set[str] = set()

    def create_late(self: Any, file_system_id: str, *arguments: Any, **named: Any) -> Any:
        run = _run_of(self.list_tags_for_resource(file_system_id))
        if file_system_id not in refused and injected.is_late("mount targets", run):
            refused.add(file_system_id)
            code = "IncorrectFileSystemLifeCycleState"
            raise IncorrectFileSystemLifeCycleState(code, f"{file_system_id} is not yet ready for mount targets.")
        return create_target(self, file_system_id, *arguments, **named)

    efs.FileSystem.info_json = lambda self: _with_late_tags(describe(self), self.creation_time, injected)
    efs.EFSBackend.create_mount_target = create_late


def _of_fsx(injected: Faults) -> None:
    describe, delete = fsx.FileSystem.to_dict, fsx.FSxBackend.delete_file_system

    def is_creating(file_system: Any) -> bool:
        tags = file_system.backend.list_tags_for_resource(file_system.resource_arn)
        is_deleting = hasattr(file_system, "local_deleting")
        return not is_deleting and injected.late_s("deletion", _run_of(tags), file_system.local_born) > 0

    def described(self: Any) -> dict[str, Any]:
        answer = _with_late_tags(describe(self), self.local_born, injected)
        return answer | ({"Lifecycle": "CREATING"} if is_creating(self) else {})

    def delete_late(self: Any, file_system_id: str, **request: Any) -> Any:
        file_system = self.file_systems.get(file_system_id)
        if file_system is not None and is_creating(file_system):
            raise BadRequest("BadRequest", f"{file_system_id} is being created and cannot be deleted.")
        return delete(self, file_system_id, **request)

    fsx.FileSystem.to_dict = described
    fsx.FSxBackend.delete_file_system = delete_late


def _of_s3_files(injected: Faults) -> None:
    describe, create_target = s3_files.FileSystem.shown, s3_files.S3FilesBackend.create_target
    refused: set[str] = set()

    def shown(self: Any) -> dict[str, Any]:
        run = {tag["key"]: tag["value"] for tag in self.tags}.get(RUN_TAG)
        is_late = injected.is_asked_by_role and injected.late_s("tags", run, self.born) > 0
        return describe(self) | ({"tags": []} if is_late else {})

    def create_late(self: Any, request: dict[str, Any]) -> Any:
        name = request["fileSystemId"]
        if name not in refused and injected.is_late("mount targets", self.tags_of(name).get(RUN_TAG)):
            refused.add(name)
            raise s3_files.S3FilesError("ConflictException", f"{name} is not yet ready for mount targets.")
        return create_target(self, request)

    s3_files.FileSystem.shown = shown
    s3_files.S3FilesBackend.create_target = create_late


def _with_late_tags(answer: dict[str, Any], created_at: float, injected: Faults) -> dict[str, Any]:
    run = _run_of(answer.get("Tags", []))
    is_late = injected.is_asked_by_role and injected.late_s("tags", run, created_at) > 0
    return answer | ({"Tags": []} if is_late else {})


def _run_of(tags: Tags) -> str | None:
    return next((tag["Value"] for tag in tags if tag["Key"] == RUN_TAG), None)
