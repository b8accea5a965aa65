"""Amazon FSx for OpenZFS."""

from collections.abc import Callable, Iterator
from typing import Any

from aws.stack import encryption, network
from aws.storages import fsx
from aws.storages.base import Existing, Refusal
from matrix.storages.fsx_openzfs import CAPACITY, DISK_IOPS, SSD, THROUGHPUT, TIERING, is_tiered
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part

MOUNT_OPTIONS = "rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2"
KIND = "OPENZFS"


class FsxOpenZfs(fsx.Fsx):
    # FSx says "up to 15 minutes" for a Single-AZ file system and takes up to 30 for Multi-AZ.
    CREATION_LIMIT_S = 3600

    def create(self, token: str, storage: Part, tags: list[dict[str, str]], _run: str, _name: str, zone: int) -> str:
        """Create the file system, or get the one that an earlier call with this token created; return its id."""
        in_zones = 2 if storage["deploymentType"].startswith("MULTI_AZ") else 1
        subnets = network.subnets()[zone : zone + in_zones]
        configuration: dict[str, Any] = {
            "DeploymentType": storage["deploymentType"],
            "ThroughputCapacity": storage["throughputCapacityMBps"],
            "AutomaticBackupRetentionDays": 0,
            # A backup plan of the account may create backups: the stack's roles can delete only those with its tags.
            "CopyTagsToBackups": True,
            "CopyTagsToVolumes": True,
            "RootVolumeConfiguration": {
                "DataCompressionType": storage["compression"],
                "RecordSizeKiB": storage["recordSizeKiB"],
                # The security group limits access to port 2049; with that access the fleet's root may write.
                "NfsExports": [
                    {"ClientConfigurations": [{"Clients": "*", "Options": ["rw", "crossmnt", "no_root_squash"]}]}
                ],
            },
            **fsx.iops_and_zones(storage, subnets),
        }
        if is_tiered(storage):
            configuration["ReadCacheConfiguration"] = fsx.read_cache(storage)
        capacity = {} if is_tiered(storage) else {"StorageCapacity": storage["storageCapacityGiB"]}
        return fsx.create(
            token,
            tags,
            FileSystemType=KIND,
            StorageType=storage.get("storageType", SSD),
            **encryption.by_key(),
            **capacity,
            SubnetIds=subnets,
            OpenZFSConfiguration=configuration,
        )

    def refusals(self, storage: Part, *_: object) -> Iterator[Refusal]:
        """Yield reasons why an existing one cannot be measured: deleted, of a run, not as described, out of reach."""
        return fsx.refusals(
            storage, fsx.Wanted(_is_measured, "OpenZFS on SSD or Intelligent-Tiering", _fields, "port 2049")
        )

    def mount(self, resource_id: str, storage: Part) -> Mount:
        """Return how an instance mounts its root volume."""
        options = [f"nfsvers={storage['nfsVersion']}", MOUNT_OPTIONS]
        # The server answers a lock of version 3 by a call to the instance, which security groups block: locks stay
        # within each instance, as in the published builds.
        options += ["mountproto=tcp", "nolock"] if storage["nfsVersion"] == "3" else []
        # nfs(5): from Linux 5.3 on; without it the kernel opens one connection.
        options += [f"nconnect={storage['nconnect']}"] if storage.get("nconnect") else []
        return {"kind": "nfs", "source": f"{fsx.describe(resource_id)['DNSName']}:/fsx", "options": ",".join(options)}

    def existing(self) -> Iterator[Existing]:
        return fsx.existing(KIND)

    def delete(self, resource_id: str) -> bool:
        """Start the deletion without the final backup that FSx would take by default. Return whether it is deleted."""
        how = {"SkipFinalBackup": True, "Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"]}
        return fsx.delete(resource_id, OpenZFSConfiguration=how)

    def in_use(self) -> dict[str, Callable[[], float]]:
        """Return functions that read the account's use of each quota by its OpenZFS file systems."""
        return {
            THROUGHPUT.code: lambda: sum(
                float(each["OpenZFSConfiguration"]["ThroughputCapacity"]) for each in fsx.of_kind(KIND)
            ),
            CAPACITY.code: lambda: sum(float(each.get("StorageCapacity", 0)) for each in fsx.of_kind(KIND)),
            DISK_IOPS.code: lambda: sum(map(_iops, fsx.of_kind(KIND))),
        }


def _is_measured(file_system: fsx.Described) -> bool:
    return file_system["FileSystemType"] == KIND and file_system["StorageType"] in (SSD, TIERING)


def _fields(file_system: fsx.Described) -> dict[str, object]:
    settings = file_system["OpenZFSConfiguration"]
    is_tiering = file_system["StorageType"] == TIERING
    return {
        "deploymentType": settings["DeploymentType"],
        "storageType": file_system["StorageType"],
        "storageCapacityGiB": None if is_tiering else file_system["StorageCapacity"],
        "readCacheGiB": settings.get("ReadCacheConfiguration", {}).get("SizeGiB", 0) if is_tiering else None,
        "throughputCapacityMBps": settings["ThroughputCapacity"],
        "iops": fsx.provisioned_iops(settings),
    }


def _iops(file_system: fsx.Described) -> float:
    return float(file_system["OpenZFSConfiguration"].get("DiskIopsConfiguration", {}).get("Iops") or 0)


cloud = FsxOpenZfs()
