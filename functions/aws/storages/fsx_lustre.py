"""Amazon FSx for Lustre."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from aws.stack import encryption, network
from aws.storages import fsx
from aws.storages.base import Existing, Refusal
from matrix.storages.fsx_lustre import (
    CAPACITIES,
    COUNTS,
    PERSISTENT,
    SCRATCH,
    SSD,
    TIERING,
    TIERING_CACHE,
    TIERING_THROUGHPUT,
    is_tiered,
)
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part

KIND = "LUSTRE"
# FSx's default is 2.10, which the client of Amazon Linux 2023 does not support (FSx guide, client compatibility).
VERSION = "2.15"
# FSx guide, mounting from an EC2 instance. flock: locks are valid for the whole fleet, as they are with NFS.
MOUNT_OPTIONS = "noatime,flock"
PORTS = "ports 988 and 1018 to 1023"


class FsxLustre(fsx.Fsx):
    # Minutes, according to users' reports; FSx gives no figure.
    CREATION_LIMIT_S = 3_600

    def create(self, token: str, storage: Part, tags: list[dict[str, str]], _run: str, _name: str, zone: int) -> str:
        """Create the file system, or get the one that an earlier call with this token created; return its id."""
        # FSx's default type is SCRATCH_1.
        configuration: dict[str, Any] = {
            "DeploymentType": storage["deploymentType"],
            "DataCompressionType": storage["compression"],
        }
        key = {}
        if storage["deploymentType"] == PERSISTENT:
            iops = storage.get("metadataIops")
            configuration |= {
                **_throughput(storage),
                "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": iops} if iops else {"Mode": "AUTOMATIC"},
                "AutomaticBackupRetentionDays": 0,
                # A backup plan of the account may create backups: the stack's roles delete only those with its tags.
                "CopyTagsToBackups": True,
            }
            key = encryption.by_key()  # scratch file systems are always encrypted by FSx's own key
        capacity = {} if is_tiered(storage) else {"StorageCapacity": storage["storageCapacityGiB"]}
        return fsx.create(
            token,
            tags,
            FileSystemType=KIND,
            FileSystemTypeVersion=VERSION,
            StorageType=storage.get("storageType", SSD),
            **key,
            **capacity,
            SubnetIds=network.subnets()[zone : zone + 1],
            LustreConfiguration=configuration,
        )

    def refusals(self, storage: Part, *_: object) -> Iterator[Refusal]:
        """Yield reasons why an existing one cannot be measured: deleted, of a run, not as described, out of reach."""
        words = f"Lustre {VERSION}, {SCRATCH} or {PERSISTENT}, on SSD or on Intelligent-Tiering"
        words += " with a read cache of known size"
        return fsx.refusals(storage, fsx.Wanted(_is_measured, words, _fields, PORTS))

    def mount(self, resource_id: str, storage: Part) -> Mount:
        """Return how an instance mounts it, and how its files are striped over the targets."""
        described = fsx.describe(resource_id)
        source = f"{described['DNSName']}@tcp:/{described['LustreConfiguration']['MountName']}"
        mounted: Mount = {"kind": "lustre", "source": source, "options": MOUNT_OPTIONS}
        stripes = []
        if storage.get("stripeCount"):
            stripes += ["-c", str(storage["stripeCount"])]
        if storage.get("stripeSizeMiB"):
            stripes += ["-S", f"{storage['stripeSizeMiB']}M"]
        if stripes:
            mounted["stripes"] = stripes
        return mounted

    def existing(self) -> Iterator[Existing]:
        return fsx.existing(KIND)

    def delete(self, resource_id: str) -> bool:
        """Start the deletion; FSx takes no final backup of Lustre by default. Return whether it is deleted."""
        return fsx.delete(resource_id)

    def in_use(self) -> dict[str, Callable[[], float]]:
        """Return functions that read the account's use of each quota by its Lustre file systems."""
        return {
            **{quota.code: partial(_count, kind) for kind, quota in COUNTS.items()},
            **{quota.code: partial(_gib, kind) for kind, quota in CAPACITIES.items()},
            TIERING_THROUGHPUT.code: lambda: sum(float(each["ThroughputCapacity"]) for each in _tiered()),
            TIERING_CACHE.code: lambda: sum(
                float(each.get("DataReadCacheConfiguration", {}).get("SizeGiB") or 0) for each in _tiered()
            ),
        }


def _throughput(storage: Part) -> dict[str, Any]:
    """Return the arguments for a persistent one's speed: throughput per TiB, or throughput capacity and read cache."""
    if not is_tiered(storage):
        return {"PerUnitStorageThroughput": storage["throughputMBpsPerTiB"]}
    cache = fsx.read_cache(storage)
    return {"ThroughputCapacity": storage["throughputCapacityMBps"], "DataReadCacheConfiguration": cache}


def _is_measured(file_system: fsx.Described) -> bool:
    return (
        file_system["FileSystemType"] == KIND
        and (file_system["StorageType"] == SSD or _has_a_known_cache(file_system))
        # 2.12 works with the stack's client, too.
        and file_system.get("FileSystemTypeVersion") in ("2.12", VERSION)
        and file_system["LustreConfiguration"]["DeploymentType"] in COUNTS
    )


def _has_a_known_cache(file_system: fsx.Described) -> bool:
    """Return whether it is Intelligent-Tiering and FSx reports its read cache's size, which FSx may choose itself."""
    cache = file_system["LustreConfiguration"].get("DataReadCacheConfiguration", {})
    return file_system["StorageType"] == TIERING and ("SizeGiB" in cache or cache.get("SizingMode") == "NO_CACHE")


def _fields(file_system: fsx.Described) -> dict[str, object]:
    settings = file_system["LustreConfiguration"]
    metadata, cache = settings.get("MetadataConfiguration", {}), settings.get("DataReadCacheConfiguration", {})
    is_tiering = file_system["StorageType"] == TIERING
    return {
        "deploymentType": settings["DeploymentType"],
        "storageType": TIERING if is_tiering else None,  # documents omit SSD, the default
        "storageCapacityGiB": None if is_tiering else file_system["StorageCapacity"],
        "throughputCapacityMBps": settings.get("ThroughputCapacity"),
        "readCacheGiB": cache.get("SizeGiB", 0) if is_tiering else None,
        "throughputMBpsPerTiB": settings.get("PerUnitStorageThroughput"),
        "metadataIops": metadata["Iops"] if metadata.get("Mode") == "USER_PROVISIONED" else None,
        "compression": settings.get("DataCompressionType", "NONE"),
    }


def _count(deployment_type: str) -> float:
    return float(len(_of(deployment_type)))


def _gib(deployment_type: str) -> float:
    return float(sum(each["StorageCapacity"] for each in _of(deployment_type) if each["StorageType"] != TIERING))


def _tiered() -> list[dict[str, Any]]:
    """Return the settings of the file systems on Intelligent-Tiering."""
    return [each["LustreConfiguration"] for each in fsx.of_kind(KIND) if each["StorageType"] == TIERING]


def _of(deployment_type: str) -> list[fsx.Described]:
    """Return the file systems of a type; the quotas of scratch count both of its generations."""
    family = deployment_type.partition("_")[0] if deployment_type == SCRATCH else deployment_type
    return [each for each in fsx.of_kind(KIND) if each["LustreConfiguration"]["DeploymentType"].startswith(family)]


cloud = FsxLustre()
