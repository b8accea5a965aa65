"""Amazon FSx for NetApp ONTAP: a file system, on it a storage virtual machine (SVM), in that a volume.

Each is created as soon as the one before exists, and deleted in the reverse order. SVM and volume get the tags of the
file system in their creating calls; neither costs anything by itself, so the receipt lists the file system.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from aws.stack import encryption, network
from aws.stack.clients import client, listed
from aws.storages import fsx
from aws.storages.base import Copy, Existing, Refusal, refuse_another
from matrix.storages.base import FILE_SYSTEM_ID
from matrix.storages.fsx_ontap import MULTI, PATH, VOLUME_SHARE
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part
from matrix.terms.errors import FileSystemFailed

# nconnect: EC2 limits one TCP connection to 5 Gbps, and several distribute the load over the servers' processors.
MOUNT_OPTIONS = "rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2"
KIND = "ONTAP"
THERE, FAILED = ("CREATED", "AVAILABLE"), ("FAILED", "MISCONFIGURED", "DELETING")
SVM_NAME, VOLUME_NAME = "matrix", "matrix"


class FsxOntap(fsx.Fsx):
    CREATION_LIMIT_S = 5_400

    def create(self, token: str, storage: Part, tags: list[dict[str, str]], *_: object) -> str:
        """Create the file system, or get the one that an earlier call with this token created; return its id."""
        subnets = network.subnets()[: 2 if storage["deploymentType"] == MULTI else 1]
        configuration: dict[str, Any] = {
            "DeploymentType": storage["deploymentType"],
            "HAPairs": storage["haPairs"],
            "ThroughputCapacityPerHAPair": storage["throughputMBpsPerHaPair"],
            "AutomaticBackupRetentionDays": 0,
            **fsx.iops_and_zones(storage, subnets),
        }
        return fsx.create(
            token,
            tags,
            FileSystemType=KIND,
            StorageType="SSD",
            StorageCapacity=storage["storageCapacityGiB"],
            **encryption.by_key(),
            SubnetIds=subnets,
            OntapConfiguration=configuration,
        )

    def is_ready(self, resource_id: str, storage: Part) -> bool:
        """Return whether instances can mount the volume; creates the SVM and the volume as soon as FSx allows it.

        Raises FileSystemFailed with FSx's own reason if one of the three cannot become available.
        """
        if not super().is_ready(resource_id, storage):
            return False
        if storage.get(FILE_SYSTEM_ID):
            return True  # its owner has created its volume, and Plan matrix has checked it
        tags = fsx.describe(resource_id)["Tags"]
        svms = _svms(resource_id)
        if not svms:
            client("fsx").create_storage_virtual_machine(
                ClientRequestToken=_token(resource_id, "svm"),
                FileSystemId=resource_id,
                Name=SVM_NAME,
                RootVolumeSecurityStyle="UNIX",
                Tags=tags,
            )
            return False
        [svm] = svms
        if not _is_there(svm, f"SVM {svm['StorageVirtualMachineId']}"):
            return False
        volumes = _volumes(resource_id)
        if not volumes:
            _create_volume(resource_id, svm["StorageVirtualMachineId"], storage, tags)
            return False
        return _is_there(volumes[0], f"volume {volumes[0]['VolumeId']}")

    def refusals(self, storage: Part, *_: object) -> Iterator[Refusal]:
        """Yield why an existing one cannot be measured: deleted, of a run, different, out of reach, no volume."""
        resource_id, path = storage[FILE_SYSTEM_ID], storage["junctionPath"]
        of_file_system = list(
            fsx.refusals(
                storage, fsx.Wanted(_is_measured, "ONTAP of the second generation on SSD", _fields, "port 2049")
            )
        )
        yield from of_file_system
        if any(refusal.field == FILE_SYSTEM_ID and not refusal.is_doubt for refusal in of_file_system):
            return
        volumes = _at(resource_id, path)
        if len(volumes) != 1:
            there = sorted(
                {each["OntapConfiguration"].get("JunctionPath", "") for each in _volumes(resource_id)} - {""}
            )
            rule = f"{len(volumes) or 'no'} volumes of {resource_id} are there"
            yield Refusal("junctionPath", path, rule, f"write one of {', '.join(there)}" if there else "make a volume")
            return
        [volume] = volumes
        if volume["Lifecycle"] not in THERE:
            fix = "write one that is available"
            yield Refusal("junctionPath", path, f"{volume['VolumeId']} is {volume['Lifecycle']}", fix)
        settings = volume["OntapConfiguration"]
        if settings.get("VolumeStyle", storage["volumeStyle"]) != storage["volumeStyle"]:
            rule = f"{volume['VolumeId']} has another"
            yield Refusal("volumeStyle", storage["volumeStyle"], rule, f"write {settings['VolumeStyle']}")
        if settings.get("StorageEfficiencyEnabled"):
            rule = f"{volume['VolumeId']} is compressed and deduplicated, so that data which can be shows that, too"
            yield Refusal("junctionPath", path, rule, "compare it with such volumes only", is_doubt=True)

    def mount(self, resource_id: str, storage: Part) -> Mount:
        """Return how an instance mounts the volume: at the address of its SVM."""
        path = storage.get("junctionPath") or PATH
        [volume] = _at(resource_id, path)
        svm_id = volume["OntapConfiguration"]["StorageVirtualMachineId"]
        [svm] = [each for each in _svms(resource_id) if each["StorageVirtualMachineId"] == svm_id]
        options = f"nfsvers={storage['nfsVersion']},nconnect={storage['nconnect']},{MOUNT_OPTIONS}"
        return {"kind": "nfs", "source": f"{svm['Endpoints']['Nfs']['DNSName']}:{path}", "options": options}

    def existing(self) -> Iterator[Existing]:
        return fsx.existing(KIND)

    def delete(self, resource_id: str) -> bool:
        """Take the deletion one step further: volumes, SVMs, the file system. Return whether it is deleted.

        Raises FileSystemFailed if FSx gave up a deletion: a resource in state DELETING is then CREATED again, with
        FSx's reason.
        """
        service = client("fsx")
        try:
            file_system = fsx.describe(resource_id)
        except service.exceptions.FileSystemNotFound:
            return True
        refuse_another("FSx", resource_id, file_system.get("Tags", []))
        if volumes := _volumes(resource_id):
            for volume in volumes:
                request = {"OntapConfiguration": {"SkipFinalBackup": True}}
                _start(volume, "VolumeId", partial(service.delete_volume, **request), service.exceptions.VolumeNotFound)
            return False
        if svms := _svms(resource_id):
            unknown = service.exceptions.StorageVirtualMachineNotFound
            for svm in svms:
                _start(svm, "StorageVirtualMachineId", service.delete_storage_virtual_machine, unknown)
            return False
        return fsx.delete(resource_id)

    def copies(self, resource_ids: Sequence[str]) -> Iterator[Copy]:
        """Yield the backups of their volumes: FSx does not back up file systems of ONTAP as a whole."""
        if not resource_ids:
            return
        of_ontap = [{"Name": "file-system-type", "Values": [KIND]}]
        for backup in listed("fsx", "describe_backups", "Backups", Filters=of_ontap):
            of = backup.get("Volume", {}).get("FileSystemId") or backup.get("FileSystem", {}).get("FileSystemId")
            if of in resource_ids:
                yield self.copy(backup, of)


def _create_volume(resource_id: str, svm: str, storage: Part, tags: list[dict[str, str]]) -> None:
    """Create the volume without compression and tiering, because both would distort the measurement."""
    client("fsx").create_volume(
        ClientRequestToken=_token(resource_id, "volume"),
        VolumeType=KIND,
        Name=VOLUME_NAME,
        Tags=tags,
        OntapConfiguration={
            "StorageVirtualMachineId": svm,
            "JunctionPath": PATH,
            "SizeInBytes": int(storage["storageCapacityGiB"] * VOLUME_SHARE) * 2**30,
            "StorageEfficiencyEnabled": False,
            "SecurityStyle": "UNIX",
            "TieringPolicy": {"Name": "NONE"},
            "SnapshotPolicy": "none",
            "VolumeStyle": storage["volumeStyle"],
            # A backup plan of the account may create backups: the stack's roles can delete only those with its tags.
            "CopyTagsToBackups": True,
        },
    )


def _token(resource_id: str, part: str) -> str:
    return hashlib.sha256(f"{resource_id}/{part}".encode()).hexdigest()[:60]


def _is_there(described: Mapping[str, Any], what: str) -> bool:
    state = described["Lifecycle"]
    if state in FAILED:
        raise FileSystemFailed(f"FSx {what} is {state}: {_reason(described) or 'FSx gives no reason'}")
    return state in THERE


def _reason(described: Mapping[str, Any]) -> str:
    return str(described.get("LifecycleTransitionReason", {}).get("Message", ""))


def _svms(resource_id: str) -> list[fsx.Described]:
    return list(fsx.of_file_system("describe_storage_virtual_machines", "StorageVirtualMachines", resource_id))


def _volumes(resource_id: str) -> list[fsx.Described]:
    """Return the volumes except the root volumes of SVMs, which are created and deleted with the SVMs."""
    volumes = fsx.of_file_system("describe_volumes", "Volumes", resource_id)
    return [each for each in volumes if not each.get("OntapConfiguration", {}).get("StorageVirtualMachineRoot")]


def _at(resource_id: str, path: str) -> list[fsx.Described]:
    return [each for each in _volumes(resource_id) if each["OntapConfiguration"].get("JunctionPath") == path]


def _is_measured(file_system: fsx.Described) -> bool:
    deployment = file_system.get("OntapConfiguration", {}).get("DeploymentType", "")
    is_ssd = file_system["FileSystemType"] == KIND and file_system["StorageType"] == "SSD"
    return is_ssd and deployment.endswith("_2")


def _fields(file_system: fsx.Described) -> dict[str, object]:
    settings = file_system["OntapConfiguration"]
    pairs = settings.get("HAPairs", 1)
    return {
        "deploymentType": settings["DeploymentType"],
        "haPairs": pairs,
        "storageCapacityGiB": file_system["StorageCapacity"],
        "throughputMBpsPerHaPair": settings.get("ThroughputCapacityPerHAPair")
        or settings.get("ThroughputCapacity", 0) // pairs,
        "iops": fsx.provisioned_iops(settings),
    }


def _start(described: Mapping[str, Any], key: str, delete: Callable[..., object], unknown: type[Exception]) -> None:
    """Request a deletion that has not started, or start it again: then raise FileSystemFailed with its reason."""
    state, name, service = described["Lifecycle"], described[key], client("fsx")
    if state == "DELETING":
        return
    try:
        delete(**{key: name})
    except unknown:
        return  # by an attempt whose response was lost
    except service.exceptions.BadRequest:
        # FSx does not document whether it deletes a resource in creation. If it refuses, the next poll tries again.
        if state not in ("CREATING", "PENDING"):
            raise
    if state in THERE and _reason(described):
        raise FileSystemFailed(f"FSx could not delete {name}, and tries again: {_reason(described)}")


cloud = FsxOntap()
