"""S3 Files, which moto lacks: the calls that Storage Matrix makes, answered by botocore's model of the service.

File systems and mount targets take time to appear and disappear; each file system has a folder, as in EFS. A file is
exported with its content once it has not changed for EXPORT_AFTER_S. It is put into the bucket only when somebody lists
the bucket, so exports take no processor time from a measurement. Until then DeleteFileSystem refuses, unless it is told
to lose the data. Deletions are not exported. tests/judge checks requests against AWS's model; this module checks only
the guide's prerequisites for the bucket.
"""

import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from moto.core.base_backend import BackendDict
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse, EmptyResult
from moto.ec2.models import ec2_backends
from moto.efs.models import efs_backends
from moto.s3.models import S3Backend, s3_backends

from local.corrections.folders import Folders
from local.corrections.own_services import OwnBackend, register

SERVICE = "s3files"
DEFAULT_RULES = {
    "importDataRules": [{"prefix": "", "trigger": "ON_DIRECTORY_FIRST_ACCESS", "sizeLessThan": 131_072}],
    "expirationDataRules": [{"daysAfterLastAccess": 30}],
}
PAGE_SIZE = 100
# On AWS about 60 s (S3 user guide, S3 Files performance).
EXPORT_AFTER_S = 5.0
Document = dict[str, Any]


class S3FilesError(ServiceException):
    """A refusal with the members of the model's errors."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.errorCode = code


def _missing(what: str) -> S3FilesError:
    return S3FilesError("ResourceNotFoundException", f"{what} does not exist.")


def _conflict(message: str) -> S3FilesError:
    return S3FilesError("ConflictException", message)


class _Aging:
    """A resource with the states creating, available, deleting, and then gone."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self.born = time.time()
        self._deleted_at: float | None = None

    def delete(self) -> None:
        self._deleted_at = self._deleted_at or time.time()

    @property
    def status(self) -> str | None:
        """None after the deletion."""
        if self._deleted_at is not None:
            return "deleting" if time.time() - self._deleted_at < self._delay_s else None
        return "creating" if time.time() - self.born < self._delay_s else "available"


class FileSystem(_Aging):
    """A file system and its creation parameters."""

    def __init__(self, facts: Document, tags: list[Document], delay_s: float) -> None:
        super().__init__(delay_s)
        self.facts, self.tags, self.policy = facts, tags, ""
        self.exported: dict[str, tuple[int, int]] = {}  # when each object's file was changed (ns), and its bytes
        self.rules: Document = {**DEFAULT_RULES, "latestVersionNumber": 1}

    def shown(self) -> Document:
        return {**self.facts, "creationTime": self.born, "status": self.status, "tags": self.tags}


class MountTarget(_Aging):
    def __init__(self, facts: Document, delay_s: float) -> None:
        super().__init__(delay_s)
        self.facts = facts

    def shown(self) -> Document:
        return {**self.facts, "status": self.status}


class S3FilesBackend(OwnBackend):
    """The file systems of an account in a region."""

    URL = rf"https?://{SERVICE}\.(.+)\.(api\.aws|amazonaws\.com)"
    folders: Folders
    delay_s: float

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._file_systems: dict[str, FileSystem] = {}
        self._targets: dict[str, MountTarget] = {}
        self._lock = threading.Lock()

    def arn(self, name: str) -> str:
        """Return the ARN of a file system."""
        return f"arn:{self.partition}:{SERVICE}:{self.region_name}:{self.account_id}:file-system/{name}"

    def file_systems(self) -> list[FileSystem]:
        """Return the existing file systems; each has a folder while it is available or being deleted."""
        for name, file_system in list(self._file_systems.items()):
            if file_system.status is None:
                del self._file_systems[name]
                self.folders.delete(name)
            elif file_system.status == "available":
                self.folders.create(name)
        return list(self._file_systems.values())

    def find(self, name: str) -> FileSystem | None:
        self.file_systems()
        return self._file_systems.get(name.rpartition("/")[2])

    def tags_of(self, name: str) -> dict[str, str]:
        """Return the tags of a file system by id; empty for an unknown id."""
        known = self._file_systems.get(name)
        return {tag["key"]: tag["value"] for tag in known.tags} if known else {}

    def file_system_of(self, target: str) -> str | None:
        """Return the file system id of a mount target; None for an unknown target."""
        self.targets()
        return self._targets[target].facts["fileSystemId"] if target in self._targets else None

    def file_system(self, name: str) -> FileSystem:
        """Return one by id or ARN, or refuse."""
        found = self.find(name)
        if found is None:
            raise _missing(f"File system {name}")
        return found

    def targets(self, file_system: str | None = None) -> list[MountTarget]:
        """Return the existing mount targets, of all file systems or of one."""
        self._targets = {name: target for name, target in self._targets.items() if target.status}
        wanted = (file_system or "").rpartition("/")[2]
        return [target for target in self._targets.values() if wanted in ("", target.facts["fileSystemId"])]

    def target(self, name: str) -> MountTarget:
        self.targets()
        if name not in self._targets:
            raise _missing(f"Mount target {name}")
        return self._targets[name]

    def create(self, request: Document) -> FileSystem:
        """Create a file system, or return the one created with the same token."""
        with self._lock:
            token = request.get("clientToken") or str(uuid.uuid4())
            for known in self.file_systems():
                if known.facts["clientToken"] == token:
                    return known
            self._check_bucket(request["bucket"].rpartition(":")[2])
            name = f"fs-{uuid.uuid4().hex[:17]}"
            tags = request.get("tags", [])
            kept = {key: request[key] for key in ("bucket", "prefix", "roleArn", "kmsKeyId") if request.get(key)}
            own = {"fileSystemId": name, "fileSystemArn": self.arn(name), "ownerId": self.account_id}
            named = [tag["value"] for tag in tags if tag["key"] == "Name"]
            made = FileSystem(
                {**kept, **own, **({"name": named[0]} if named else {}), "clientToken": token}, tags, self.delay_s
            )
            self._file_systems[name] = made
            return made

    def _check_bucket(self, bucket: str) -> None:
        buckets = s3_backends[self.account_id][self.partition].buckets
        if bucket not in buckets:
            raise _missing(f"Bucket {bucket}")
        if buckets[bucket].region_name != self.region_name:
            raise S3FilesError("ValidationException", f"Bucket {bucket} is in another region.")
        if not buckets[bucket].is_versioned:
            raise S3FilesError("ValidationException", f"Versioning is not enabled on bucket {bucket}.")

    def create_target(self, request: Document) -> MountTarget:
        """Create a mount target in a subnet, one in each zone."""
        file_system = self.file_system(request["fileSystemId"])
        if file_system.status != "available":
            raise _conflict(f"{request['fileSystemId']} is {file_system.status}.")
        ec2 = ec2_backends[self.account_id][self.region_name]
        subnet = ec2.get_subnet(request["subnetId"])
        with self._lock:
            zone = subnet.availability_zone_id
            if any(zone == target.facts["availabilityZoneId"] for target in self.targets(request["fileSystemId"])):
                raise _conflict(f"There is a mount target in {zone} already.")
            groups = request.get("securityGroups") or []
            interface = ec2.create_network_interface(subnet, private_ip_address=[], group_ids=groups)
            target = MountTarget(
                {
                    "mountTargetId": f"fsmt-{uuid.uuid4().hex[:17]}",
                    "fileSystemId": file_system.facts["fileSystemId"],
                    "subnetId": subnet.id,
                    "vpcId": subnet.vpc_id,
                    "availabilityZoneId": zone,
                    "ownerId": self.account_id,
                    "ipv4Address": interface.private_ip_address,
                    "networkInterfaceId": interface.id,
                    "securityGroups": groups,
                },
                self.delay_s,
            )
            self._targets[target.facts["mountTargetId"]] = target
            return target

    def delete_target(self, name: str) -> None:
        """Start to delete a mount target and its interface."""
        target = self.target(name)
        target.delete()
        interfaces = ec2_backends[self.account_id][self.region_name].enis
        interfaces.pop(target.facts["networkInterfaceId"], None)

    def delete(self, name: str, *, is_forced: bool) -> None:
        """Start to delete a file system without mount targets and, unless forced, without data still to export."""
        file_system = self.file_system(name)
        if self.targets(name):
            raise _conflict(f"{name} has mount targets.")
        folder = self.folders.folder(file_system.facts["fileSystemId"])
        if not is_forced and any(_is_waiting(path) for path in _files_below(folder)):
            raise _conflict(f"{name} has data that are not yet exported to S3.")
        file_system.delete()

    def export(self, bucket: str, prefix: str) -> None:
        """Put the files below a prefix of a bucket there that have not changed for a while."""
        for file_system in self.file_systems():
            root = file_system.facts.get("prefix", "")
            if file_system.status != "available" or not root or not prefix.startswith(root):
                continue
            if file_system.facts["bucket"].rpartition(":")[2] != bucket:
                continue
            folder = self.folders.folder(file_system.facts["fileSystemId"])
            for path in _files_below(folder / prefix.removeprefix(root).rpartition("/")[0]):
                self._export_file(file_system, path, bucket, f"{root}{path.relative_to(folder)}")

    def _export_file(self, file_system: FileSystem, path: Path, bucket: str, key: str) -> None:
        try:
            state = (path.stat().st_mtime_ns, path.stat().st_size)
            if _is_waiting(path) or file_system.exported.get(key) == state:
                return
            content = path.read_bytes()
        except OSError:
            return  # removed meanwhile
        s3_backends[self.account_id][self.partition].put_object(bucket, key, content)
        file_system.exported[key] = state


def _files_below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _is_waiting(path: Path) -> bool:
    return time.time() - path.stat().st_mtime < EXPORT_AFTER_S


# In the regions of EFS, on which S3 Files runs, because botocore has no list for it.
s3files_backends = BackendDict(S3FilesBackend, efs_backends.service_name)


class S3FilesResponse(BaseResponse):
    """Answers, which moto writes by botocore's model."""

    def __init__(self) -> None:
        super().__init__(service_name=SERVICE)
        self.automated_parameter_parsing = True

    @property
    def backend(self) -> S3FilesBackend:
        """The account and region of the request."""
        return s3files_backends[self.current_account][self.region]

    def create_file_system(self) -> ActionResult:
        """PUT /file-systems."""
        return ActionResult(self.backend.create(dict(self.params)).shown())

    def get_file_system(self) -> ActionResult:
        """GET /file-systems/{fileSystemId}."""
        return ActionResult(self.backend.file_system(self._get_param("fileSystemId")).shown())

    def list_file_systems(self) -> ActionResult:
        """GET /file-systems."""
        bucket = self._get_param("bucket")
        there = [each.shown() for each in self.backend.file_systems() if bucket in (None, each.facts["bucket"])]
        # A list has neither tags nor prefix.
        left_out = ("tags", "prefix", "clientToken", "kmsKeyId")
        rows = [{key: value for key, value in shown.items() if key not in left_out} for shown in there]
        return ActionResult(self._page("fileSystems", rows))

    def delete_file_system(self) -> ActionResult:
        """DELETE /file-systems/{fileSystemId}."""
        self.backend.delete(self._get_param("fileSystemId"), is_forced=bool(self._get_param("forceDelete")))
        return EmptyResult()

    def create_mount_target(self) -> ActionResult:
        """PUT /mount-targets."""
        return ActionResult(self.backend.create_target(dict(self.params)).shown())

    def list_mount_targets(self) -> ActionResult:
        """GET /mount-targets."""
        name = self._get_param("fileSystemId")
        self.backend.file_system(name)
        # A list has no security groups.
        shown = [target.shown() for target in self.backend.targets(name)]
        rows = [{key: value for key, value in row.items() if key != "securityGroups"} for row in shown]
        return ActionResult(self._page("mountTargets", rows))

    def delete_mount_target(self) -> ActionResult:
        """DELETE /mount-targets/{mountTargetId}."""
        self.backend.delete_target(self._get_param("mountTargetId"))
        return EmptyResult()

    def get_synchronization_configuration(self) -> ActionResult:
        """GET /file-systems/{fileSystemId}/synchronization-configuration."""
        return ActionResult(self.backend.file_system(self._get_param("fileSystemId")).rules)

    def put_synchronization_configuration(self) -> ActionResult:
        """PUT /file-systems/{fileSystemId}/synchronization-configuration."""
        file_system = self.backend.file_system(self._get_param("fileSystemId"))
        latest = file_system.rules["latestVersionNumber"]
        if self._get_param("latestVersionNumber") != latest:
            raise _conflict(f"The latest version is {latest}.")
        rules = {name: self._get_param(name) for name in DEFAULT_RULES}
        file_system.rules = {**rules, "latestVersionNumber": latest + 1}
        return EmptyResult()

    def get_file_system_policy(self) -> ActionResult:
        """GET /file-systems/{fileSystemId}/policy."""
        file_system = self.backend.file_system(self._get_param("fileSystemId"))
        if not file_system.policy:
            raise _missing(f"A policy of {file_system.facts['fileSystemId']}")
        shown = {"fileSystemId": file_system.facts["fileSystemId"], "policy": file_system.policy}
        return ActionResult(shown)

    def put_file_system_policy(self) -> ActionResult:
        """PUT /file-systems/{fileSystemId}/policy."""
        self.backend.file_system(self._get_param("fileSystemId")).policy = self._get_param("policy")
        return EmptyResult()

    def _page(self, name: str, rows: list[Document]) -> Document:
        start = int(self._get_param("nextToken") or 0)
        end = start + int(self._get_param("maxResults") or PAGE_SIZE)
        return {name: rows[start:end], **({"nextToken": str(end)} if end < len(rows) else {})}


def install(folders: Folders, delay_s: float) -> None:
    """Make moto answer the service, with life cycles whose steps take `delay_s`."""
    S3FilesBackend.folders, S3FilesBackend.delay_s = folders, delay_s
    listed = S3Backend.list_objects

    def listed_after_export(self: Any, bucket: Any, prefix: str | None, *rest: Any, **named: Any) -> Any:
        for backend in s3files_backends[self.account_id].values() if prefix else ():
            backend.export(bucket.name, prefix or "")
        return listed(self, bucket, prefix, *rest, **named)

    S3Backend.list_objects = listed_after_export
    register(SERVICE, s3files_backends, S3FilesResponse)
