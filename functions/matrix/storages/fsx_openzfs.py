"""Amazon FSx for OpenZFS: one file system that all instances of a cell mount."""

import math
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from matrix.fields import limits
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
    DISK_THROUGHPUT,
    NETWORK_THROUGHPUT,
    OF_CLIENTS,
    FsxServersMetrics,
    cache_of_servers,
    limits_of_servers,
    of_file_system,
    offered_instead,
)
from matrix.storages.metrics import Burst
from matrix.terms.charges import Charge, Query, Usage
from matrix.terms.documents.parts import StorageFields
from matrix.terms.problems import Problems, Weight
from matrix.terms.use import Use

# Deployment types whose option in the price list a source confirms (infracost's filters, Apache-2.0, November 2026):
# their names in the book and in the list. HA has its own option: the book's price.
_LISTED = {
    "SINGLE_AZ_1": ("single_az", "Single-AZ"),
    "SINGLE_AZ_2": ("single_az_2", "Single-AZ_2"),
    "MULTI_AZ_1": ("multi_az", "Multi-AZ"),
}
_HA = ("single_az_ha", "")
SSD, TIERING = "SSD", "INTELLIGENT_TIERING"

# Codes and defaults are from published outputs of `aws service-quotas list-aws-default-service-quotas`, read in
# November 2026.
THROUGHPUT = Quota("fsx", "L-4EDE4065", "OpenZFS throughput capacity", "MB/s", 10_240)
CAPACITY = Quota("fsx", "L-88479C21", "OpenZFS SSD storage capacity", "GiB", 262_144)
DISK_IOPS = Quota("fsx", "L-E24B4DE4", "OpenZFS disk IOPS", "IOPS", 400_000)


_OF_FILE_SYSTEM = of_file_system("""
    ClientConnections                   Maximum connections
    NetworkThroughputUtilization        Maximum %
    CPUUtilization                      Maximum %
    MemoryUtilization                   Maximum %
    FileServerDiskThroughputUtilization Maximum %
    FileServerDiskThroughputBalance     Minimum %
    FileServerDiskIopsUtilization       Maximum %
    FileServerDiskIopsBalance           Minimum %
    FileServerCacheHitRatio             Average %
    DiskReadBytes                       Sum     bytes
    DiskWriteBytes                      Sum     bytes
    DiskReadOperations                  Sum     operations
    DiskWriteOperations                 Sum     operations
    DiskThroughputBalance               Minimum %
    DiskIopsUtilization                 Maximum %
""")
_LARGER = "raise throughputCapacityMBps"


_CEILINGS = CeilingWords(
    "FSx disk IOPS",
    "FSx throughput capacity",
    "provision more iops for the file system",
    "raise throughputCapacityMBps",
)

# Where the instances of published builds were, in the source's words and in names.
USED_FROM = {
    "any AZ": "used from all AZs",
    "file system's AZ": "used from its AZ",
    "each file system's AZ": "each used from its AZ",
}


class FsxOpenZfsMetrics(FsxServersMetrics):
    """Counts of FSx for OpenZFS by CloudWatch and by the kernel's NFS client (its guide, read in November 2026)."""

    of_file_system = (*OF_CLIENTS, *_OF_FILE_SYSTEM)
    limits = limits_of_servers(_LARGER, _CEILINGS.more_operations, _CEILINGS.operations)
    cache = cache_of_servers(_LARGER)

    def bytes_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return bytes with reads weighted by the limits of both: some file systems read more than they write."""
        read, written = use.get("nfs_read_bytes_per_s"), use.get("nfs_write_bytes_per_s")
        if read is None or written is None or "throughputCapacityMBps" not in storage:
            return super().bytes_of(storage, use)
        return written + read * written_mbps(storage) / float(storage["throughputCapacityMBps"])


class FsxOpenZfsStorage(Storage):
    """An Amazon FSx for OpenZFS file system on SSD or Intelligent-Tiering, shared by the instances of a cell."""

    traits: ClassVar[Traits] = Traits(
        existing_fields=(FILE_SYSTEM_ID,),
        bursts_by="throughputCapacityMBps",
        quotas=(THROUGHPUT, CAPACITY, DISK_IOPS),
        starter={"storageCapacityGiB": 512, "throughputCapacityMBps": 512},
        # Seconds that creating and deleting it takes, and may take (FSx guide: 10 minutes and more).
        create_and_delete_s=1_500.0,
        create_and_delete_most_s=7_200.0,
        words=Words(
            "FSx for OpenZFS",
            "FSx OpenZFS",
            {
                "fileSystems": "{} file systems, one in each zone",
                "deploymentType": "{}",
                "storageType": {TIERING: "Intelligent-Tiering"},
                "storageCapacityGiB": "{} GiB",
                "throughputCapacityMBps": "{} MB/s",
                "readCacheGiB": "read cache of {} GiB",
                "iops": "{} IOPS",
                "compression": "{}",
                "recordSizeKiB": "{} KiB records",
                "nfsVersion": "NFS {}",
                "nconnect": "{} connections",
                "placement": "instances in {}",
                "fileSystemId": "{}",
            },
            in_names={"fileSystems": "{} file systems", "placement": USED_FROM},
            in_ids={
                "fileSystems": "{}x",
                "deploymentType": "{}",
                "storageType": {TIERING: "tiering"},
                "storageCapacityGiB": "{}gib",
                "throughputCapacityMBps": "{}mbps",
                "readCacheGiB": "{}gib-cache",
                "iops": "{}iops",
                "compression": "{}",
                "recordSizeKiB": "{}k",
                "nfsVersion": "nfs{}",
                "nconnect": "nconnect{}",
                "fileSystemId": "{}",
            },
            usual={"storageType": SSD, "compression": "NONE", "recordSizeKiB": 128, "nfsVersion": "4.1"},
        ),
        ceilings=_CEILINGS,
        assumption=(
            "creating and deleting an FSx file system takes 25 minutes, in which it is billed; requests to"
            " Intelligent-Tiering are not in the estimate"
        ),
        metrics=FsxOpenZfsMetrics(),
        # A round trip within a zone and an intent log write.
        create_latency_s=0.001,
        sync_latency_s=0.002,
        # Its active file server is in one zone.
        is_in_one_zone=True,
        tools=frozenset({"mount.nfs"}),
    )

    type: Literal["fsx-openzfs"]
    """Kind of storage."""
    deployment_type: Literal["SINGLE_AZ_1", "SINGLE_AZ_2", "SINGLE_AZ_HA_1", "SINGLE_AZ_HA_2", "MULTI_AZ_1"] = (
        "SINGLE_AZ_1"
    )
    """Deployment type."""
    storage_type: Literal["SSD", "INTELLIGENT_TIERING"] = "SSD"
    """Storage class; INTELLIGENT_TIERING grows with its data, and is for MULTI_AZ_1 only."""
    storage_capacity_gib: Annotated[int | None, Field(alias="storageCapacityGiB", examples=[1024])] = None
    """SSD storage in GiB, only for storageType SSD."""
    read_cache_gib: Annotated[int | None, Field(alias="readCacheGiB", ge=0, examples=[512])] = None
    """SSD read cache of INTELLIGENT_TIERING in GiB, 0 for none. Required there, because it costs money."""
    throughput_capacity_mbps: Annotated[int, Field(alias="throughputCapacityMBps", examples=[4096])]
    """Throughput capacity in MB/s; the allowed values depend on the deployment type."""
    iops: Annotated[int | None, Field(examples=[20000])] = None
    """Provisioned SSD IOPS of storageType SSD; unless given, 3 per GiB."""
    compression: Literal["NONE", "LZ4", "ZSTD"] = "NONE"
    """Compression of the root volume; compressible data would measure the compressor."""
    record_size_kib: Annotated[int, Field(alias="recordSizeKiB")] = 128
    """Record size of the root volume in KiB, a power of two from 4 to 1024."""
    nfs_version: Literal["3", "4.0", "4.1", "4.2"] = "4.1"
    """NFS version of the mount; with 3, locks hold within each instance only."""
    nconnect: Annotated[int | None, Field(ge=1, le=16, examples=[16])] = None
    """TCP connections of each instance to the file system, 1 to 16; unless given, the kernel's one."""
    file_system_id: Annotated[FileSystemId | None, Field(examples=["fs-0123456789abcdef0"])] = None
    """Id of a file system that exists. The run works in a folder of its own and leaves the file system as it was."""
    file_systems: Annotated[int | None, Field(ge=2, le=6, examples=[2])] = None
    """Number of such file systems, one in each Availability Zone, each with its part of the fleet. Default: one."""

    @property
    def how_many(self) -> int:
        """Number of its file systems; size, throughput and IOPS are those of each."""
        return self.file_systems or 1

    @property
    def paid_iops(self) -> int:
        is_paid = not self.file_system_id and (self.iops or 0) > limits.FSX_IOPS_PER_GIB.value * (
            self.storage_capacity_gib or 0
        )
        return self.effective_iops if is_paid else 0

    @property
    def effective_iops(self) -> int:
        """Disk IOPS that it always has: those of its disks or, if these are fewer, of its file server."""
        return self._served_iops[0] * self.how_many

    @property
    def _served_iops(self) -> tuple[int, int]:
        """Disk IOPS of one file system: always, and while credits of its server last."""
        of_disks = math.inf if self.storage_type == TIERING else iops_of(self.document)
        always, most = (int(max(1, min(of_disks, of_server))) for of_server in server_iops(self.document))
        return always, most

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Bytes per second that all clients together may write."""
        return max(1.0, written_mbps(self.document)) * 1e6 * self.how_many

    @property
    def cache_bytes(self) -> float:
        """Size in bytes of the servers' memory, NVMe and read cache; 0 if not known."""
        return (self._server[0] * 1e9 + (self.read_cache_gib or 0) * 2**30) * self.how_many

    @property
    def bursts(self) -> list[Burst]:
        """Burst limits of its disks and its network; AWS does not say how long they last."""
        _, disk, network, always = self._server
        pairs = {DISK_THROUGHPUT: (self.throughput_capacity_mbps, disk), NETWORK_THROUGHPUT: (always, network)}
        bursts = [
            Burst(of, "bytes/s", sustained * 1e6 * self.how_many, most * 1e6 * self.how_many, None)
            for of, (sustained, most) in pairs.items()
            if most > sustained
        ]
        always_iops, most_iops = self._served_iops
        if most_iops > always_iops:
            several = self.how_many
            bursts.append(Burst(_CEILINGS.operations, "IOPS", several * always_iops, several * most_iops, None))
        return bursts

    @property
    def _server(self) -> tuple[float, float, float, float]:
        of_kind = limits.FSX_SERVERS[_servers(self.document)]
        return of_kind.get(self.throughput_capacity_mbps, (0.0, 0.0, 0.0, 0.0))

    @property
    def price_queries(self) -> list[Query]:
        """Its disks, throughput capacity and IOPS."""
        zone, option = _LISTED.get(self.deployment_type, _HA)
        if not option or self.storage_type == TIERING:
            return []
        fixed = (("fileSystemType", "OpenZFS"), ("deploymentOption", option))
        return [
            Query(f"fsx_{zone}_gib_month", "AmazonFSx", (("productFamily", "Storage"), ("storageType", "SSD"), *fixed)),
            Query(f"fsx_{zone}_mbps_month", "AmazonFSx", (("productFamily", "Provisioned Throughput"), *fixed)),
            Query(f"fsx_{zone}_iops_month", "AmazonFSx", (("productFamily", "Provisioned IOPS"), *fixed)),
        ]

    def charges(self, usage: Usage) -> Iterator[Charge]:
        """Yield its disks, its throughput capacity, and the IOPS above the included 3 per GiB."""
        if self.file_system_id:
            return  # the owner pays for all of it in any case, and traffic costs nothing
        if self.storage_type == TIERING:
            yield from self._charges_of_tiering(usage)
            return
        zone, _ = _LISTED.get(self.deployment_type, _HA)
        months = usage.months.times(self.how_many)
        yield Charge(f"fsx_{zone}_gib_month", months.times(self.storage_capacity_gib or 0))
        yield Charge(f"fsx_{zone}_mbps_month", months.times(self.throughput_capacity_mbps))
        if extra_iops := max(0, (self.iops or 0) - 3 * (self.storage_capacity_gib or 0)):
            yield Charge(f"fsx_{zone}_iops_month", months.times(extra_iops))

    def _charges_of_tiering(self, usage: Usage) -> Iterator[Charge]:
        """Yield its stored data while it exists, its throughput capacity and its read cache.

        Its requests are left out: the share of reads from the caches and the way in which writes are combined are not
        known before the run.
        """
        months = usage.months
        yield Charge("fsx_tiering_gib_month", usage.varying_gib_months)
        yield Charge("fsx_tiering_mbps_month", months.times(self.throughput_capacity_mbps))
        if self.read_cache_gib:
            yield Charge("fsx_tiering_cache_gib_month", months.times(self.read_cache_gib))

    @property
    def block_times(self) -> BlockTimes | None:
        """ "Few hundred microseconds" for a block of the mounts' rsize (FSx guide, performance)."""
        read_bytes_per_s = self.throughput_capacity_mbps * 1e6 * self.how_many
        return BlockTimes(0.000_5, 0.000_5, unit_bytes=2**20, read_bytes_per_s=read_bytes_per_s)

    @property
    def compressor(self) -> str | None:
        """Name of its root volume's compression."""
        return None if self.compression == "NONE" else self.compression

    @property
    def is_beyond_security_groups(self) -> bool:
        """Whether it is Multi-AZ, whose endpoint has an address that floats between its zones."""
        return self.deployment_type == "MULTI_AZ_1"

    @property
    def least_zones(self) -> int:
        """Multi-AZ has one server in each of two zones."""
        return 2 if self.deployment_type == "MULTI_AZ_1" else 1

    @property
    def is_free_between_zones(self) -> bool:
        """The price of Multi-AZ includes that traffic (FSx for OpenZFS pricing)."""
        return self.deployment_type == "MULTI_AZ_1"

    @classmethod
    def quota_uses(cls, document: StorageFields) -> Iterator[QuotaUse]:
        """Yield throughput, capacity and IOPS of all of its file systems."""
        several = int(document.get("fileSystems") or 1)
        yield QuotaUse(THROUGHPUT, several * document["throughputCapacityMBps"], "lower throughputCapacityMBps")
        if is_tiered(document):
            return  # it provisions neither storage nor IOPS; the code of the quota of read caches is not known
        yield QuotaUse(CAPACITY, several * document["storageCapacityGiB"], "lower storageCapacityGiB")
        yield QuotaUse(DISK_IOPS, several * iops_of(document), "lower iops or storageCapacityGiB")

    @property
    def slug(self) -> str:
        return super().slug.replace(self.type, "fsx")

    def capacity_gib(self, instance_type: str) -> float | None:
        """Return the GiB of SSD; None of Intelligent-Tiering, which grows."""
        return float(self.storage_capacity_gib * self.how_many) if self.storage_capacity_gib else None

    def refused_in(self, region: str) -> tuple[str, str, str] | None:
        """Return (field, reason, fix) if a region has fewer IOPS for each GiB."""
        few, capacity = int(limits.FSX_FEW_IOPS_PER_GIB.value), self.storage_capacity_gib or 0
        is_refused = region in limits.FSX_FEW_IOPS_REGIONS and (self.iops or 0) > few * capacity
        if not is_refused or self.file_system_id:
            return None
        return "iops", f"{region} has {few} IOPS/GiB at most", _fix_of_ratio(self, few)

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (
            storage_type_has_its_fields,
            capacity_is_offered,
            throughput_is_offered,
            iops_are_offered,
            record_size_is_offered,
            several_are_in_one_zone_each,
        )


def iops_of(document: StorageFields) -> int:
    """Return the SSD IOPS of one such file system: provisioned, or included with its storage."""
    included = limits.FSX_IOPS_PER_GIB.value * document.get("storageCapacityGiB", 0)
    return int(document.get("iops") or min(server_iops(document)[1], included))


def server_iops(document: StorageFields) -> tuple[float, float]:
    """Return the disk IOPS of one such file system's server: always, and in a burst."""
    always = limits.FSX_SERVER_IOPS_PER_MBPS.value * document["throughputCapacityMBps"]
    return always, max(always, limits.FSX_SERVER_BURST_IOPS[_servers(document)])


def _servers(document: StorageFields) -> str:
    """Return the kind of its server in the tables of limits."""
    if is_tiered(document):
        return "tiering"
    deployment_type = document.get("deploymentType", "SINGLE_AZ_1")
    if deployment_type.startswith("MULTI"):
        return "multi-az"
    return "first" if deployment_type in {"SINGLE_AZ_1", "SINGLE_AZ_HA_1"} else "second"


def is_tiered(document: StorageFields) -> bool:
    """Return whether a file system, as a matrix describes it, is Intelligent-Tiering."""
    return document.get("storageType") == TIERING


def written_mbps(document: StorageFields) -> float:
    """Return the limit of writes of one such file system in MB/s; some write less than they read."""
    mbps = float(document["throughputCapacityMBps"])
    if not is_tiered(document):
        return min(mbps, limits.FSX_MULTI_AZ_WRITE_MBPS.value) if _servers(document) == "multi-az" else mbps
    if mbps > limits.FSX_TIERING_SHARED_UP_TO_MBPS.value:
        return limits.FSX_TIERING_WRITE_MBPS.value
    return mbps * limits.FSX_TIERING_WRITE_SHARE.value


def storage_type_has_its_fields(part: FsxOpenZfsStorage) -> Problems:
    """Yield a problem for each field that the storage class requires or forbids."""
    if part.storage_type == SSD:
        if part.storage_capacity_gib is None:
            yield part.problem("storageCapacityGiB", "storageType SSD needs it", "write 64 or more")
        if part.read_cache_gib is not None:
            rule = "storageType SSD has no read cache of its own"
            yield part.problem("readCacheGiB", rule, "leave it out, or write storageType INTELLIGENT_TIERING")
        return
    if part.deployment_type != "MULTI_AZ_1":
        yield part.problem("deploymentType", "Intelligent-Tiering is MULTI_AZ_1 only", "write MULTI_AZ_1")
    for name, value in (("storageCapacityGiB", part.storage_capacity_gib), ("iops", part.iops)):
        if value is not None:
            yield part.problem(name, "Intelligent-Tiering grows with its data, and provisions none", "leave it out")
    if part.read_cache_gib is None:
        yield part.problem("readCacheGiB", "Intelligent-Tiering needs it", "write GiB, such as 512, or 0 for none")


def capacity_is_offered(part: FsxOpenZfsStorage) -> Problems:
    """Yield a problem if FSx does not offer this capacity."""
    span = limits.FSX_STORAGE_GIB
    if part.storage_capacity_gib is None:
        return
    if not span.least <= part.storage_capacity_gib <= span.most:
        nearest = min(max(part.storage_capacity_gib, span.least), span.most)
        rule = f"FSx for OpenZFS has {span.least} to {span.most:,} GiB"
        yield part.problem("storageCapacityGiB", rule, f"write {nearest}")


def throughput_is_offered(part: FsxOpenZfsStorage) -> Problems:
    """Yield a problem if the deployment type does not offer this throughput capacity."""
    offered = limits.FSX_THROUGHPUT_MBPS[part.deployment_type]
    mbps = part.throughput_capacity_mbps
    if mbps not in offered:
        rule = f"{part.deployment_type} has {', '.join(map(str, offered))} MB/s"
        # The model gives the HA types only as a range: within it an unlisted value is doubtful, outside it is wrong.
        is_listed = part.deployment_type in limits.FSX_THROUGHPUT_LISTED
        is_doubtful = not is_listed and offered[0] <= mbps <= offered[-1]
        fix = offered_instead(mbps, part.deployment_type, limits.FSX_THROUGHPUT_MBPS)
        yield part.problem("throughputCapacityMBps", rule, fix, weight=Weight.NOTE if is_doubtful else None)
    elif part.deployment_type == "SINGLE_AZ_HA_1" and mbps < limits.FSX_HA_1_LEAST_MBPS.value:
        rule = f"reports say that SINGLE_AZ_HA_1 starts at {limits.FSX_HA_1_LEAST_MBPS.value:.0f} MB/s"
        yield part.problem("throughputCapacityMBps", rule, "write 128 if it is refused", weight=Weight.NOTE)


def iops_are_offered(part: FsxOpenZfsStorage) -> Problems:
    """Yield a problem if provisioned IOPS are fewer than the included ones, or more than disks or server have."""
    iops, capacity = part.iops, part.storage_capacity_gib
    if iops is None or capacity is None:
        return
    per_mbps, most_per_gib = limits.FSX_SERVER_IOPS_PER_MBPS.value, int(limits.FSX_MOST_IOPS_PER_GIB.value)
    offered = limits.FSX_THROUGHPUT_MBPS[part.deployment_type]
    most, most_here = int(per_mbps * offered[-1]), int(server_iops(part.document)[1])
    included = min(most, int(limits.FSX_IOPS_PER_GIB.value) * capacity)
    if iops < included:
        rule = f"{capacity:,} GiB come with {included:,} IOPS (3 IOPS/GiB), and no fewer can be had"
        yield part.problem("iops", rule, f"write {included} or more, or leave it out")
    elif iops > most:
        rule = f"{part.deployment_type} has {most:,} IOPS at most"
        larger = [name for name, mbps in limits.FSX_THROUGHPUT_MBPS.items() if iops <= per_mbps * mbps[-1]]
        yield part.problem("iops", rule, f"write {most}{f', or deploymentType {larger[0]}' if larger else ''}")
    elif iops > most_per_gib * capacity:
        yield part.problem("iops", f"FSx has {most_per_gib:,} IOPS/GiB at most", _fix_of_ratio(part, most_per_gib))
    elif iops > most_here:
        mbps = next(mbps for mbps in offered if per_mbps * mbps >= iops)
        rule = (
            f"the file server of {part.throughput_capacity_mbps:,} MB/s has {most_here:,} disk IOPS at most, so that"
            " what is above costs money and is never reached, or FSx refuses it"
        )
        yield part.problem("iops", rule, f"write {most_here}, or throughputCapacityMBps {mbps}", weight=Weight.MONEY)


def _fix_of_ratio(part: FsxOpenZfsStorage, per_gib: int) -> str:
    iops, capacity = part.iops or 0, part.storage_capacity_gib or 0
    return f"write iops {per_gib * capacity}, or storageCapacityGiB {math.ceil(iops / per_gib)}"


def record_size_is_offered(part: FsxOpenZfsStorage) -> Problems:
    """Yield a problem if the record size is not a power of two within FSx's range."""
    if part.record_size_kib not in limits.FSX_RECORD_KIB:
        nearest = min(limits.FSX_RECORD_KIB, key=lambda value: abs(value - part.record_size_kib))
        rule = f"records have {', '.join(map(str, limits.FSX_RECORD_KIB))} KiB"
        yield part.problem("recordSizeKiB", rule, f"write {nearest}")


def several_are_in_one_zone_each(part: FsxOpenZfsStorage) -> Problems:
    """Yield a problem if several file systems would each be in two zones, or exist already."""
    if part.file_systems and part.file_system_id:
        rule = f"are made by the run; {part.file_system_id} is one that exists"
        yield part.problem("fileSystems", rule, "leave out one of both fields")
    if part.file_systems and part.deployment_type == "MULTI_AZ_1":
        rule = "MULTI_AZ_1 is in two zones already; several file systems have one each"
        yield part.problem("fileSystems", rule, "write deploymentType SINGLE_AZ_1 or SINGLE_AZ_2, or leave it out")
