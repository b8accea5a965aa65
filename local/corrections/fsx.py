"""Corrections to moto's FSx: life cycles, tokens, and complete responses.

CREATING → AVAILABLE → DELETING → gone, ClientRequestToken is idempotent, unknown ids are FileSystemNotFound. OpenZFS
has its RootVolumeId and Lustre its MountName, each a network interface in each of its subnets. Groups that keep
servers from each other are refused. Backups copy the tags if requested, and responses have the members of FSx's model.
Values that FSx refuses are judged in tests/judge/prose.py.
"""

import json
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

from moto.core.exceptions import ServiceException
from moto.ec2.models import ec2_backends
from moto.fsx import models
from moto.fsx.responses import FSxResponse

from local.corrections import fsx_ontap
from local.corrections.folders import Folders, later

Document = dict[str, Any]
USER_INITIATED = "USER_INITIATED"


class FsxError(ServiceException):
    """A refusal by one of the errors of the model."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)


def install(folders: Folders, delay_s: float) -> None:
    """Apply all corrections; each step of a life cycle takes `delay_s`."""
    _age(folders, delay_s)
    _create_once(folders, delay_s)
    _delete_slowly(folders, delay_s)
    _copy_tags_to_backups()
    _answer_as_fsx()
    fsx_ontap.install(delay_s, FsxError)


def _default_version(settings: Document) -> str:
    if settings.get("DeploymentType") != "PERSISTENT_2":
        return "2.10"
    return "2.15" if settings.get("MetadataConfiguration") else "2.12"


def _lustre_answer(file_system: Any) -> Document:
    """Return the members that a description of Lustre has beyond the request."""
    settings = dict(file_system.lustre_configuration or {})
    deployment = settings.setdefault("DeploymentType", "SCRATCH_1")
    name = "fsx" if deployment == "SCRATCH_1" else file_system.file_system_id.removeprefix("fs-")[:8]
    metadata = settings.get("MetadataConfiguration")
    if metadata and "Iops" not in metadata:
        settings["MetadataConfiguration"] = {**metadata, "Iops": min(12_000, file_system.storage_capacity * 5 // 4)}
    return {"MountName": name, "DataCompressionType": "NONE", **settings}


def _age(folders: Folders, delay_s: float) -> None:
    describe = models.FileSystem.to_dict

    def describe_with_age(self: Any) -> dict[str, Any]:
        born = getattr(self, "local_born", 0.0)
        is_young = time.time() - born < delay_s
        lifecycle = "DELETING" if hasattr(self, "local_deleting") else "CREATING" if is_young else "AVAILABLE"
        if lifecycle == "AVAILABLE":
            folders.create(self.file_system_id)
        answer = {**describe(self), "Lifecycle": lifecycle, "CreationTime": born, "OwnerId": self.backend.account_id}
        # Requests have both, FSx's responses do not (botocore's model of it).
        answer.pop("SecurityGroupIds", None)
        if zfs := answer.pop("OpenZFSConfiguration", None):
            root_volume = f"fsvol-{self.file_system_id.removeprefix('fs-'):0>17}"
            known = {name: value for name, value in zfs.items() if name != "RootVolumeConfiguration"}
            answer["OpenZFSConfiguration"] = {**known, "RootVolumeId": root_volume}
        if self.file_system_type == "LUSTRE":
            answer["LustreConfiguration"] = _lustre_answer(self)
            answer["FileSystemTypeVersion"] = self.local_version
        return {**answer, "NetworkInterfaceIds": list(getattr(self, "local_interfaces", []))}

    models.FileSystem.to_dict = describe_with_age


def _create_once(folders: Folders, delay_s: float) -> None:
    create, describe = models.FSxBackend.create_file_system, models.FSxBackend.describe_file_systems
    created: dict[str, tuple[Any, dict]] = {}
    lock = threading.Lock()

    def create_once(self: Any, client_request_token: str | None, **parameters: Any) -> Any:
        token = client_request_token or str(uuid.uuid4())
        with lock:
            if token in created:
                file_system, first = created[token]
                if parameters != first:
                    message = f"The client request token {token} was used before with other parameters."
                    raise FsxError("IncompatibleParameterError", message)
                return file_system
            _refuse_groups(self, parameters)
            file_system = create(self, client_request_token=token, **parameters)
            file_system.local_born = time.time()
            settings = parameters.get("lustre_configuration") or {}
            file_system.local_version = parameters.get("file_system_type_version") or _default_version(settings)
            file_system.local_interfaces = _interfaces(self, file_system)
            created[token] = (file_system, parameters)
        later(delay_s, folders.create, file_system.file_system_id)
        return file_system

    def describe_known(self: Any, file_system_ids: list[str] | None = None, **page: Any) -> Any:
        for file_system_id in file_system_ids or []:
            if file_system_id not in self.file_systems:
                raise FsxError("FileSystemNotFound", f"File system '{file_system_id}' does not exist.")
        return describe(self, file_system_ids=file_system_ids, **page)

    models.FSxBackend.create_file_system = create_once
    models.FSxBackend.describe_file_systems = describe_known


def _refuse_groups(backend: Any, parameters: Document) -> None:
    """Refuse security groups of which none lets in itself or a subnet (troubleshooting in OpenZFS's guide)."""
    port = {"OPENZFS": 2049, "LUSTRE": 988}.get(parameters["file_system_type"])
    ec2 = ec2_backends[backend.account_id][backend.region_name]
    subnets = [
        known[name] for known in ec2.subnets.values() for name in parameters["subnet_ids"] or [] if name in known
    ]
    named = [ec2.get_security_group_from_id(name) for name in parameters["security_group_ids"] or []]
    groups = [group for group in named if group]
    blocks = {subnet.cidr_block for subnet in subnets}
    if port and groups and not any(_lets_in_servers(group, port, blocks) for group in groups):
        message = (
            f"The security groups do not permit inbound traffic on TCP port {port} among the file system's servers."
        )
        raise FsxError("InvalidNetworkSettings", message)


def _lets_in_servers(group: Any, port: int, blocks: set[str]) -> bool:
    return any(
        rule.ip_protocol == "-1" or (rule.ip_protocol == "tcp" and rule.from_port <= port <= rule.to_port)
        for rule in group.ingress_rules
        if rule.source_group.get("GroupId") == group.id or rule.ip_range.get("CidrIp") in {*blocks, "0.0.0.0/0"}
    )


def _interfaces(backend: Any, file_system: Any) -> list[str]:
    """Make a network interface in each subnet that EC2 knows, and return their ids."""
    ec2 = ec2_backends[backend.account_id][backend.region_name]
    known = {name: subnet for zone in ec2.subnets.values() for name, subnet in zone.items()}
    subnets = [known[name] for name in file_system.subnet_ids or [] if name in known]
    groups = file_system.security_group_ids or []
    return [ec2.create_network_interface(each, private_ip_address=[], group_ids=groups).id for each in subnets]


def _delete_slowly(folders: Folders, delay_s: float) -> None:
    delete = models.FSxBackend.delete_file_system

    def finish(backend: Any, file_system_id: str) -> None:
        file_system = backend.file_systems.pop(file_system_id, None)
        for interface in getattr(file_system, "local_interfaces", []):
            ec2_backends[backend.account_id][backend.region_name].enis.pop(interface, None)
        folders.delete(file_system_id)

    def delete_slowly(self: Any, file_system_id: str, **request: Any) -> Any:
        file_system = self.file_systems.get(file_system_id)
        if file_system is None:
            raise FsxError("FileSystemNotFound", f"File system '{file_system_id}' does not exist.")
        fsx_ontap.refuse_deletion(self, file_system_id, FsxError)
        answer = delete(self, file_system_id, **request)
        self.file_systems[file_system_id] = file_system
        if not hasattr(file_system, "local_deleting"):
            file_system.local_deleting = True
            later(delay_s, finish, self, file_system_id)
        return answer

    models.FSxBackend.delete_file_system = delete_slowly


def _copy_tags_to_backups() -> None:
    create = models.FSxBackend.create_backup

    def create_tagged(self: Any, file_system_id: str, *rest: Any, **named: Any) -> Any:
        backup = create(self, file_system_id, *rest, **named)
        file_system = backup.local_file_system = self.file_systems[file_system_id]
        # The list of backups is filtered by these two attributes, which moto declares but does not set.
        backup.file_system_type, backup.backup_type = file_system.file_system_type, USER_INITIATED
        is_tagged = self.tagger.has_tags(backup.resource_arn)
        settings = file_system.open_zfs_configuration or file_system.lustre_configuration or {}
        if not is_tagged and settings.get("CopyTagsToBackups"):
            tags = self.tagger.list_tags_for_resource(file_system.resource_arn)["Tags"]
            self.tagger.tag_resource(backup.resource_arn, tags)
        return backup

    models.FSxBackend.create_backup = create_tagged


def _answer_as_fsx() -> None:
    """Give backups the members that FSx's have, and no answer members that it has not, or nulls."""
    describe = models.Backup.to_dict

    def describe_backup(self: Any) -> dict[str, Any]:
        answer = {**describe(self), "Type": USER_INITIATED, "FileSystem": self.local_file_system.to_dict()}
        return {name: value for name, value in answer.items() if name not in ("FileSystemId", "ClientRequestToken")}

    models.Backup.to_dict = describe_backup
    for name in ("describe_file_systems", "delete_file_system", "describe_backups"):
        setattr(FSxResponse, name, _without_nulls(getattr(FSxResponse, name)))


def _without_nulls(answer: Callable[[Any], str]) -> Callable[[Any], str]:
    def without(self: Any) -> str:
        # moto's answers to a deletion have members of a final backup that the model has not.
        answered = {name: value for name, value in json.loads(answer(self)).items() if value is not None}
        return json.dumps({name: value for name, value in answered.items() if name != "LustreResponse"})

    return without
