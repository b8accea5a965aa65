"""Amazon FSx for NetApp ONTAP: one volume that all instances of a cell mount by NFS."""

import math
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from matrix.fields.types import FileSystemId, Rule
from matrix.storages.base import (
    FILE_SYSTEM_ID,
    BlockTimes,
    CeilingWords,
    Quota,
    QuotaUse,
    Storage,
    Traits,
    Words,
)
from matrix.storages.fsx import (
    OF_CLIENTS,
    FsxServersMetrics,
    cache_of_servers,
    limits_of_servers,
    of_file_system,
    offered_instead,
)
from matrix.terms.charges import Charge, Query, Usage
from matrix.terms.documents.parts import StorageFields
from matrix.terms.problems import Problems, Weight

SINGLE, MULTI = "SINGLE_AZ_2", "MULTI_AZ_2"
FLEXVOL, FLEXGROUP = "FLEXVOL", "FLEXGROUP"
# CreateFileSystem's model: ThroughputCapacityPerHAPair, StorageCapacity, DiskIopsConfiguration, HAPairs.
THROUGHPUT_MBPS = {SINGLE: (1_536, 3_072, 6_144), MULTI: (384, 768, 1_536, 3_072, 6_144)}
MIN_GIB, MAX_GIB, MAX_IOPS = 1_024, 524_288, 200_000  # of each HA pair
# The most is what the guide says of a smaller SSD tier; a public program met it at CreateFileSystem (2026).
IOPS_PER_GIB, MOST_IOPS_PER_GIB = 3, 50
# SSD IOPS that an HA pair reaches for each MB/s: 12,500 at 384, 200,000 at 6,144. The guide's table of the second
# generation as a public program repeats it; whether small pairs burst above it, it does not say.
SERVER_IOPS_PER_MBPS = 12_500 / 384
# AWS advises to use no more than 80 % of the SSD tier; ONTAP reserves 5 % of a volume for snapshots (FSx for ONTAP
# guide, storage capacity, and the snapshot reserve of a new volume).
VOLUME_SHARE, SNAPSHOT_SHARE = 0.8, 0.05
PATH = "/matrix"

# By deployment type: its prices in the book, and its option in the price list (three public programs that query the
# list agree on it, November 2026). Single-AZ_2N and Multi-AZ are the first generation.
_LISTED = {SINGLE: ("single", "Single-AZ_2N-2"), MULTI: ("multi", "Multi-AZ-2")}

# Defaults: FSx for ONTAP guide, quotas. Codes are from published outputs of `aws service-quotas list-service-quotas`,
# four of which agree, read in November 2026; two of 2026 have twice the SSD as the default.
FILE_SYSTEMS = Quota("fsx", "L-C28C1403", "ONTAP file systems", "file systems", 100)
CAPACITY = Quota("fsx", "L-E2C89679", "ONTAP SSD storage capacity", "GiB", 524_288)
THROUGHPUT = Quota("fsx", "L-C5F860DD", "ONTAP throughput capacity", "MB/s", 10_240)
DISK_IOPS = Quota("fsx", "L-57578687", "ONTAP SSD IOPS", "IOPS", 1_000_000)

JunctionPath = Annotated[str, StringConstraints(max_length=255, pattern=r"^(/\w[\w.-]*)+$")]


_OF_FILE_SYSTEM = of_file_system("""
    NetworkThroughputUtilization        Maximum %
    CPUUtilization                      Maximum %
    FileServerDiskThroughputUtilization Maximum %
    FileServerDiskIopsUtilization       Maximum %
    FileServerCacheHitRatio             Average %
    DiskReadBytes                       Sum     bytes
    DiskWriteBytes                      Sum     bytes
    DiskReadOperations                  Sum     operations
    DiskWriteOperations                 Sum     operations
    DiskIopsUtilization                 Maximum %
""")


_CEILINGS = CeilingWords(
    "FSx SSD IOPS",
    "FSx throughput capacity",
    "provision more iops for the file system",
    "raise throughputMBpsPerHaPair, or haPairs with a FLEXGROUP volume",
)


class FsxOntapMetrics(FsxServersMetrics):
    """Counts of FSx for NetApp ONTAP by CloudWatch and by the kernel's NFS client (its guide, file system metrics).

    With FileSystemId alone CloudWatch adds up the counts of the servers. A utilization has one value a minute for each
    server or aggregate: the largest is that of the busiest one.
    """

    of_file_system = (*OF_CLIENTS, *_OF_FILE_SYSTEM)
    limits = limits_of_servers(_CEILINGS.more_throughput, _CEILINGS.more_operations, _CEILINGS.operations)
    cache = cache_of_servers(_CEILINGS.more_throughput)


class FsxOntapStorage(Storage):
    """A volume on an Amazon FSx for NetApp ONTAP file system of the second generation, shared by the instances."""

    traits: ClassVar[Traits] = Traits(
        existing_fields=(FILE_SYSTEM_ID,),
        quotas=(FILE_SYSTEMS, CAPACITY, THROUGHPUT, DISK_IOPS),
        starter={"storageCapacityGiB": 1024, "throughputMBpsPerHaPair": 1536},
        # No source gives a duration: others wait up to 40 minutes for the file system, and minutes for SVM and volume.
        create_and_delete_s=3_600.0,
        create_and_delete_most_s=10_800.0,
        words=Words(
            "FSx for NetApp ONTAP",
            "FSx ONTAP",
            {
                "deploymentType": "{}",
                "haPairs": "{} HA pairs",
                "storageCapacityGiB": "{} GiB",
                "throughputMBpsPerHaPair": "{} MB/s each pair",
                "iops": "{} IOPS",
                "volumeStyle": "{}",
                "nfsVersion": "NFS {}",
                "nconnect": "{} connections",
                "placement": "instances in {}",
                "fileSystemId": "{}",
                "junctionPath": "at {}",
            },
            in_names={"placement": "{}"},
            in_ids={
                "deploymentType": "{}",
                "haPairs": "{}pairs",
                "storageCapacityGiB": "{}gib",
                "throughputMBpsPerHaPair": "{}mbps",
                "iops": "{}iops",
                "volumeStyle": "{}",
                "nfsVersion": "nfs{}",
                "nconnect": "nconnect{}",
                "fileSystemId": "{}",
                "junctionPath": "{}",
            },
            usual={"haPairs": 1, "volumeStyle": FLEXVOL, "nfsVersion": "4.1", "nconnect": 16},
        ),
        ceilings=_CEILINGS,
        assumption="creating and deleting an FSx for ONTAP file system takes an hour, in which it is billed",
        metrics=FsxOntapMetrics(),
        # "Sub-millisecond" on SSD (FSx for ONTAP guide, performance).
        create_latency_s=0.001,
        sync_latency_s=0.001,
        # Its active file servers are in one zone.
        is_in_one_zone=True,
        tools=frozenset({"mount.nfs"}),
    )

    type: Literal["fsx-ontap"]
    """Kind of storage."""
    deployment_type: Literal["SINGLE_AZ_2", "MULTI_AZ_2"] = "SINGLE_AZ_2"
    """Deployment type of the second generation."""
    ha_pairs: Annotated[int, Field(ge=1, le=12, examples=[2])] = 1
    """Pairs of file servers, 1 to 12; more than one for SINGLE_AZ_2 only."""
    storage_capacity_gib: Annotated[int, Field(alias="storageCapacityGiB", examples=[1024])]
    """SSD storage of all HA pairs together in GiB, at least 1024 for each."""
    throughput_mbps_per_ha_pair: Annotated[int, Field(alias="throughputMBpsPerHaPair", examples=[3072])]
    """Throughput capacity of each HA pair in MB/s; the allowed values depend on the deployment type."""
    iops: Annotated[int | None, Field(examples=[20000])] = None
    """Provisioned SSD IOPS of all HA pairs together; unless given, 3 per GiB."""
    volume_style: Literal["FLEXVOL", "FLEXGROUP"] = "FLEXVOL"
    """Style of the volume: FLEXVOL is on one HA pair, FLEXGROUP spread over all."""
    nfs_version: Literal["4.1", "4.2"] = "4.1"
    """NFS version of the mount."""
    nconnect: Annotated[int, Field(ge=1, le=16, examples=[1])] = 16
    """TCP connections of each instance to the file system, 1 to 16."""
    file_system_id: Annotated[FileSystemId | None, Field(examples=["fs-0123456789abcdef0"])] = None
    """Id of a file system that exists. The run works in a folder of its own and leaves the file system as it was."""
    junction_path: Annotated[JunctionPath | None, Field(examples=["/vol1"])] = None
    """Junction path of the volume to measure, only with fileSystemId."""

    @property
    def _pairs_used(self) -> int:
        return self.ha_pairs if self.volume_style == FLEXGROUP else 1

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Bytes per second of all clients together: the throughput capacity of the HA pairs that store the volume."""
        return max(1.0, self._pairs_used * self.throughput_mbps_per_ha_pair * 1e6)

    @property
    def paid_iops(self) -> int:
        is_paid = not self.file_system_id and (self.iops or 0) > IOPS_PER_GIB * self.storage_capacity_gib
        return self.effective_iops if is_paid else 0

    @property
    def effective_iops(self) -> int:
        """SSD IOPS of the HA pairs that store the volume, or those that their servers reach, if these are fewer.

        FSx distributes the IOPS of the file system evenly over its pairs.
        """
        of_pair = min(iops_of(self.document) / self.ha_pairs, self.server_iops)
        return max(1, int(of_pair * self._pairs_used))

    @property
    def server_iops(self) -> float:
        """SSD IOPS that the servers of one HA pair reach."""
        return SERVER_IOPS_PER_MBPS * self.throughput_mbps_per_ha_pair

    @property
    def block_times(self) -> BlockTimes | None:
        """The same latencies for a block of up to 1 MiB, the rsize of the mounts; a larger one takes several."""
        return BlockTimes(0.001, 0.001, unit_bytes=2**20)

    @property
    def price_queries(self) -> list[Query]:
        """Its disks, throughput capacity and IOPS."""
        zone, option = _LISTED[self.deployment_type]
        fixed = (("fileSystemType", "ONTAP"), ("deploymentOption", option))
        disks = (("productFamily", "Storage"), ("storageType", "SSD"), *fixed)
        return [
            Query(f"fsx_ontap_{zone}_gib_month", "AmazonFSx", disks),
            Query(f"fsx_ontap_{zone}_mbps_month", "AmazonFSx", (("productFamily", "Provisioned Throughput"), *fixed)),
            Query(f"fsx_ontap_{zone}_iops_month", "AmazonFSx", (("productFamily", "Provisioned IOPS"), *fixed)),
        ]

    def charges(self, usage: Usage) -> Iterator[Charge]:
        """Yield its disks, its throughput capacity, and the IOPS above the included 3 per GiB."""
        if self.file_system_id:
            return  # the owner pays for all of it in any case
        zone, _ = _LISTED[self.deployment_type]
        yield Charge(f"fsx_ontap_{zone}_gib_month", usage.months.times(self.storage_capacity_gib))
        mbps = self.ha_pairs * self.throughput_mbps_per_ha_pair
        yield Charge(f"fsx_ontap_{zone}_mbps_month", usage.months.times(mbps))
        if extra_iops := max(0, (self.iops or 0) - IOPS_PER_GIB * self.storage_capacity_gib):
            yield Charge(f"fsx_ontap_{zone}_iops_month", usage.months.times(extra_iops))

    @property
    def is_beyond_security_groups(self) -> bool:
        """An existing Multi-AZ one may have its endpoint at any address; those of a run are in 198.19.0.0/16."""
        return self.deployment_type == MULTI and self.file_system_id is not None

    @property
    def least_zones(self) -> int:
        """Multi-AZ has one server in each of two zones."""
        return 2 if self.deployment_type == MULTI else 1

    @property
    def is_free_between_zones(self) -> bool:
        """Whether its price includes that traffic: Multi-AZ does, as for OpenZFS (FSx pricing)."""
        return self.deployment_type == MULTI

    @classmethod
    def quota_uses(cls, document: StorageFields) -> Iterator[QuotaUse]:
        """Yield one file system, and the SSD, throughput and IOPS of all its HA pairs."""
        mbps = int(document.get("haPairs", 1)) * document["throughputMBpsPerHaPair"]
        yield QuotaUse(FILE_SYSTEMS, 1.0)
        yield QuotaUse(CAPACITY, document["storageCapacityGiB"], "lower storageCapacityGiB")
        yield QuotaUse(THROUGHPUT, mbps, "lower throughputMBpsPerHaPair or haPairs")
        yield QuotaUse(DISK_IOPS, iops_of(document), "lower iops or storageCapacityGiB")

    def capacity_gib(self, instance_type: str) -> float | None:
        """Return the size in GiB of a run's volume; the free space of an existing one is not known."""
        share = VOLUME_SHARE * (1 - SNAPSHOT_SHARE)
        return None if self.file_system_id else float(self.storage_capacity_gib * share)

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (
            pairs_are_offered,
            capacity_is_offered,
            throughput_is_offered,
            iops_are_offered,
            the_volume_uses_all_pairs,
            what_exists_is_named_whole,
        )


def iops_of(document: StorageFields) -> int:
    """Return the SSD IOPS of such a file system: the provisioned ones, or those included with its storage."""
    most = MAX_IOPS * int(document.get("haPairs", 1))
    return int(document.get("iops") or min(most, IOPS_PER_GIB * document.get("storageCapacityGiB", 0)))


def pairs_are_offered(part: FsxOntapStorage) -> Problems:
    """Yield a problem if a Multi-AZ file system would have more than its one HA pair."""
    if part.deployment_type == MULTI and part.ha_pairs > 1:
        yield part.problem("haPairs", "MULTI_AZ_2 has one HA pair", "write 1, or deploymentType SINGLE_AZ_2")


def capacity_is_offered(part: FsxOntapStorage) -> Problems:
    """Yield a problem if this number of HA pairs does not offer this capacity."""
    least, most = MIN_GIB * part.ha_pairs, MAX_GIB * part.ha_pairs
    if not least <= part.storage_capacity_gib <= most:
        nearest = min(max(part.storage_capacity_gib, least), most)
        rule = f"{part.ha_pairs} HA pair{'s' * (part.ha_pairs > 1)} have {least:,} to {most:,} GiB"
        yield part.problem("storageCapacityGiB", rule, f"write {nearest}")


def throughput_is_offered(part: FsxOntapStorage) -> Problems:
    """Yield a problem if the deployment type does not offer this throughput capacity."""
    offered, mbps = THROUGHPUT_MBPS[part.deployment_type], part.throughput_mbps_per_ha_pair
    if mbps not in offered:
        rule = f"each HA pair of {part.deployment_type} has {', '.join(map(str, offered))} MB/s"
        fix = offered_instead(mbps, part.deployment_type, THROUGHPUT_MBPS)
        yield part.problem("throughputMBpsPerHaPair", rule, fix)


def iops_are_offered(part: FsxOntapStorage) -> Problems:
    """Yield a problem if provisioned IOPS are fewer than the included ones, or more than SSD or servers have."""
    if part.iops is None:
        return
    gib, pairs = part.storage_capacity_gib, part.ha_pairs
    least, most, served = IOPS_PER_GIB * gib, MAX_IOPS * pairs, int(part.server_iops * pairs)
    if part.iops > most:
        yield part.problem("iops", f"each HA pair has at most {MAX_IOPS:,} IOPS", f"write {most}")
    elif part.iops > MOST_IOPS_PER_GIB * gib:
        fix = f"write {MOST_IOPS_PER_GIB * gib}, or storageCapacityGiB {math.ceil(part.iops / MOST_IOPS_PER_GIB)}"
        yield part.problem("iops", f"FSx has at most {MOST_IOPS_PER_GIB} IOPS/GiB", fix)
    elif part.iops < min(least, most):
        rule = f"{gib:,} GiB come with {least:,} IOPS (3 IOPS/GiB), and no fewer can be had"
        yield part.problem("iops", rule, f"write {least} or more, or leave it out")
    elif part.iops > served:
        rule = (
            f"{pairs} HA pair{'s' * (pairs > 1)} of {part.throughput_mbps_per_ha_pair:,} MB/s reach {served:,} IOPS:"
            " what is above costs money and is not reached"
        )
        fix = f"write {served}, or a larger throughputMBpsPerHaPair"
        yield part.problem("iops", rule, fix, weight=Weight.MONEY)
    elif part.iops < min(least * pairs, most):
        rule = f"the API's reference asks for 3 IOPS/GiB times HA pairs, {least * pairs:,}; the guide for {least:,}"
        yield part.problem("iops", rule, f"write {least * pairs} if FSx refuses it", weight=Weight.MONEY)


def the_volume_uses_all_pairs(part: FsxOntapStorage) -> Problems:
    """Yield a warning if some paid HA pairs store nothing of the volume."""
    if part.ha_pairs > 1 and part.volume_style == FLEXVOL:
        rule = f"a FLEXVOL volume is on one of {part.ha_pairs} HA pairs, and the others are paid for and not used"
        yield part.problem("volumeStyle", rule, "write FLEXGROUP", weight=Weight.MONEY)


def what_exists_is_named_whole(part: FsxOntapStorage) -> Problems:
    """Yield a problem if only one of an existing file system and its volume is named."""
    if part.file_system_id and not part.junction_path:
        yield part.problem("junctionPath", f"which volume of {part.file_system_id} is to be measured?", 'write "/vol1"')
    if part.junction_path and not part.file_system_id:
        rule = f"a run makes its own volume, at {PATH}"
        yield part.problem("junctionPath", rule, "leave it out, or write fileSystemId")
