"""Amazon FSx for Lustre on SSD or Intelligent-Tiering: several servers that all instances of a cell mount."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from matrix.fields.types import FileSystemId, Rule
from matrix.storages.base import FILE_SYSTEM_ID, BlockTimes, CeilingWords, Quota, QuotaUse, Storage, Traits, Words
from matrix.storages.fsx import DISK_THROUGHPUT, NETWORK_THROUGHPUT, OF_CLIENTS, FsxMetrics, of_file_system
from matrix.storages.metrics import Burst
from matrix.terms.charges import Charge, Usage
from matrix.terms.documents.parts import StorageFields
from matrix.terms.problems import Problems
from matrix.terms.use import Use

SCRATCH, PERSISTENT = "SCRATCH_2", "PERSISTENT_2"
SSD, TIERING = "SSD", "INTELLIGENT_TIERING"
# Capacities are 1,200 GiB, 2,400 GiB and multiples of that (service model, CreateFileSystem StorageCapacity), which the
# guide calls 1.2 TiB, 2.4 TiB …: "a 2.4-TiB file system, provisioning 50 MB/s/TiB, yields 120 MB/s" (service model).
MIN_GIB, STEP_GIB = 1_200, 2_400
GIB_PER_TIB = 1_000
METADATA_IOPS = (1_500, 3_000, 6_000, 12_000)  # and multiples of the last (service model)
MAX_METADATA_IOPS = 192_000
# Operations per second per provisioned metadata IOPS: 2 files created, opened or closed, 1 deleted, 0.1 directories
# created or renamed, 0.2 removed (FSx guide, file system metadata performance, as others quote it).
CREATES_PER_IOPS = 2
COST_IN_CREATES = {"creates": 1.0, "unlinks": 2.0, "directories": 20.0, "rmdirs": 10.0}
# The guide has no metadata IOPS for SCRATCH_2; the plan uses those of a PERSISTENT_2 of the same size.
# Of Intelligent-Tiering: metadata IOPS and throughput capacity (service model, CreateFileSystem), and GiB of read cache
# for each step of throughput capacity (API reference, LustreReadCacheConfiguration).
TIERING_METADATA_IOPS = (6_000, 12_000)
STEP_MBPS, MAX_MBPS = 4_000, 2_000_000
MIN_CACHE_GIB, MAX_CACHE_GIB = 32, 131_072


@dataclass(frozen=True)
class Speed:
    """MB/s for each TiB: of the servers' network and of their disks, always and from credits; and GiB of memory.

    Of Intelligent-Tiering for each 4,000 MB/s of throughput capacity. FSx guide, performance characteristics of SSD
    storage and of Intelligent-Tiering, read in November 2026.
    """

    network: int
    network_burst: int
    memory_gib: float
    disk: int
    disk_burst: int
    read_weight: float = 1.0  # units of the write limit that a byte of a read uses


SPEEDS = {
    # "200 (read), 100 (write)" of the disks.
    None: Speed(200, 1_300, 6.7, 100, 100, read_weight=0.5),
    125: Speed(320, 1_300, 3.4, 125, 500),
    250: Speed(640, 1_300, 6.8, 250, 500),
    500: Speed(1_300, 1_300, 13.7, 500, 500),
    1_000: Speed(2_600, 2_600, 27.3, 1_000, 1_000),
}
# "76.8 GB" of memory. The disks are those of its SSD cache, whose write speed the guide does not give.
TIERING_SPEED = Speed(12_500, 12_500, 76.8e9 / 2**30, 4_000, 4_000)
# Codes and defaults are from published outputs of `aws service-quotas list-aws-default-service-quotas`; the defaults
# are also in the FSx guide, service quotas (both read in November 2026).
COUNTS = {
    SCRATCH: Quota("fsx", "L-C48231E5", "Lustre Scratch file systems", "file systems", 100),
    PERSISTENT: Quota("fsx", "L-FD6F2F22", "Lustre Persistent_2 file systems", "file systems", 100),
}
CAPACITIES = {
    SCRATCH: Quota("fsx", "L-AD2FC696", "Lustre Scratch storage capacity", "GiB", 100_800),
    PERSISTENT: Quota("fsx", "L-8F1B9C74", "Lustre Persistent_2 storage capacity", "GiB", 100_800),
}
# Codes are from a public program that counts these; defaults from the FSx guide, service quotas, as others quote it.
TIERING_THROUGHPUT = Quota(
    "fsx", "L-0CD18A5D", "Lustre Persistent Intelligent-Tiering throughput capacity", "MB/s", 100_000
)
TIERING_CACHE = Quota(
    "fsx", "L-B7391FCE", "Lustre Persistent Intelligent-Tiering SSD read cache storage capacity", "GiB", 100_800
)


class FsxLustreMetrics(FsxMetrics):
    """Counts of FSx for Lustre by CloudWatch and by the instances' Lustre client (its guide, read in November 2026).

    The guide also has the utilization of servers and targets. It does not say whether CloudWatch keeps these metrics
    for the whole file system, so they determine no bottleneck.
    """

    of_file_system = (*OF_CLIENTS, *of_file_system("FreeDataStorageCapacity Sum bytes"))
    counters = {"lustre": "lustre"}
    operations_unit = "creates/s, as which metadata operations count"
    counts_written = "lustre_write_bytes_per_s"

    def operations_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return metadata operations in units of creates; None for SCRATCH_2, whose rates AWS does not publish."""
        counted = {name: use.get(f"lustre_{name}_per_s") for name in COST_IN_CREATES}
        if storage.get("deploymentType") != PERSISTENT or None in counted.values():
            return None
        return sum(cost * (counted[name] or 0.0) for name, cost in COST_IN_CREATES.items())

    def bytes_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return bytes with reads weighted by the disks' limits of reads and writes."""
        read, written = use.get("lustre_read_bytes_per_s"), use.get("lustre_write_bytes_per_s")
        if read is None or written is None:
            return use.get("bytes_per_s")
        return written + read * speed_of(storage).read_weight


class FsxLustreStorage(Storage):
    """An Amazon FSx for Lustre file system on SSD or Intelligent-Tiering, shared by the instances of a cell."""

    traits: ClassVar[Traits] = Traits(
        existing_fields=(FILE_SYSTEM_ID,),
        bursts_by="deploymentType",
        limits_count=", of creates and opens",
        quotas=(*COUNTS.values(), *CAPACITIES.values(), TIERING_THROUGHPUT, TIERING_CACHE),
        starter={"storageCapacityGiB": MIN_GIB},
        # Seconds that creating and deleting it takes, and may take: people report 2 to 8 minutes and 5 to 6.
        create_and_delete_s=900.0,
        create_and_delete_most_s=3_600.0,
        words=Words(
            "FSx for Lustre",
            "FSx Lustre",
            {
                "deploymentType": "{}",
                "storageType": {TIERING: "Intelligent-Tiering"},
                "storageCapacityGiB": "{} GiB",
                "throughputMBpsPerTiB": "{} MB/s per TiB",
                "throughputCapacityMBps": "{} MB/s",
                "readCacheGiB": "read cache of {} GiB",
                "metadataIops": "{} metadata IOPS",
                "stripeCount": "{} stripes",
                "stripeSizeMiB": "stripes of {} MiB",
                "compression": "{}",
                "placement": "instances in {}",
                "fileSystemId": "{}",
            },
            in_names={"placement": "{}"},
            in_ids={
                "deploymentType": "{}",
                "storageType": {TIERING: "tiering"},
                "storageCapacityGiB": "{}gib",
                "throughputMBpsPerTiB": "{}mbps-per-tib",
                "throughputCapacityMBps": "{}mbps",
                "readCacheGiB": "{}gib-cache",
                "metadataIops": "{}metadata-iops",
                "stripeCount": "{}stripes",
                "stripeSizeMiB": "{}mib-stripes",
                "compression": "{}",
                "fileSystemId": "{}",
            },
            usual={"compression": "NONE"},
        ),
        ceilings=CeilingWords(
            "FSx metadata IOPS",
            "FSx disk throughput",
            "provision more metadataIops for a PERSISTENT_2 file system, or use fewer and larger files",
            "raise storageCapacityGiB or throughputMBpsPerTiB, of Intelligent-Tiering throughputCapacityMBps",
        ),
        assumption=(
            "creating and deleting an FSx for Lustre file system takes 15 minutes, in which it is billed; all"
            " operations are planned at the rate of creates, the only one that AWS publishes; Intelligent-Tiering is"
            " planned as if its memory and read cache answered each read, and its requests are not in the estimate"
        ),
        metrics=FsxLustreMetrics(),
        # "Sub-ms" (FSx guide, latencies per file operation).
        create_latency_s=0.001,
        sync_latency_s=0.001,
        # All its servers are in one subnet.
        is_in_one_zone=True,
        tools=frozenset({"lctl", "lfs"}),
    )

    type: Literal["fsx-lustre"]
    """Kind of storage."""
    deployment_type: Literal["SCRATCH_2", "PERSISTENT_2"] = "SCRATCH_2"
    """Deployment type: without replicas, or replicated within its zone."""
    # Documents omit the default, so that those of SSD did not change when Intelligent-Tiering was added.
    storage_type: Annotated[Literal["SSD", "INTELLIGENT_TIERING"], Field(exclude_if=lambda value: value == SSD)] = "SSD"
    """Storage class; INTELLIGENT_TIERING grows with its data, and is for PERSISTENT_2 only."""
    storage_capacity_gib: Annotated[int | None, Field(alias="storageCapacityGiB", examples=[1200])] = None
    """SSD storage in GiB, for storageType SSD only: 1200, 2400, or a multiple of 2400; all its speeds grow with it."""
    throughput_mbps_per_tib: Annotated[
        Literal[125, 250, 500, 1000] | None, Field(alias="throughputMBpsPerTiB", examples=[250])
    ] = None
    """Throughput in MB/s for each TiB, for PERSISTENT_2 on SSD and only for it; SCRATCH_2 has 200."""
    throughput_capacity_mbps: Annotated[int | None, Field(alias="throughputCapacityMBps", examples=[4000])] = None
    """Throughput capacity of INTELLIGENT_TIERING in MB/s: 4000, or a multiple of it up to 2000000."""
    read_cache_gib: Annotated[int | None, Field(alias="readCacheGiB", ge=0, examples=[512])] = None
    """SSD read cache of INTELLIGENT_TIERING in GiB, 0 for none. Required there, because it costs money."""
    metadata_iops: Annotated[int | None, Field(examples=[6000])] = None
    """Provisioned metadata IOPS of PERSISTENT_2; unless given, those of its SSD. INTELLIGENT_TIERING: 6000 or 12000."""
    stripe_count: Annotated[int | None, Field(ge=-1, le=2_000, examples=[4])] = None
    """Number of targets that each file is spread over, -1 for all. Default: FSx's."""
    stripe_size_mib: Annotated[int | None, Field(alias="stripeSizeMiB", ge=1, le=2_048, examples=[4])] = None
    """MiB of a file on one target before the next target follows. Default: FSx's."""
    compression: Literal["NONE", "LZ4"] = "NONE"
    """Compression by the servers; compressible data would measure the compressor."""
    file_system_id: Annotated[FileSystemId | None, Field(examples=["fs-0123456789abcdef0"])] = None
    """Id of a file system that exists. The run works in a folder of its own and leaves the file system as it was."""

    @property
    def _units(self) -> float:
        """Number of units that its speeds are multiplied by: TiB, or 4,000 MB/s of throughput capacity."""
        if self.storage_type == TIERING:
            return (self.throughput_capacity_mbps or STEP_MBPS) / STEP_MBPS
        return (self.storage_capacity_gib or MIN_GIB) / GIB_PER_TIB

    @property
    def _speed(self) -> Speed:
        return speed_of(self.document)

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Sustained bytes per second that all clients together may write."""
        return max(1.0, self._speed.disk * self._units) * 1e6

    @property
    def effective_iops(self) -> int:
        """Files that all clients together may create, open or close in a second."""
        return CREATES_PER_IOPS * (self.metadata_iops or included_iops(self.storage_capacity_gib or MIN_GIB))

    @property
    def cache_bytes(self) -> float:
        return (self._speed.memory_gib * self._units + (self.read_cache_gib or 0)) * 2**30

    @property
    def bursts(self) -> list[Burst]:
        """Burst limits of its disks and its network; AWS does not say how long they last."""
        speed = self._speed
        pairs = {
            DISK_THROUGHPUT: (speed.disk, speed.disk_burst),
            NETWORK_THROUGHPUT: (speed.network, speed.network_burst),
        }
        return [
            Burst(of, "bytes/s", sustained * self._units * 1e6, most * self._units * 1e6, None)
            for of, (sustained, most) in pairs.items()
            if most > sustained
        ]

    @property
    def block_times(self) -> BlockTimes | None:
        """The same latencies for a block; a client requests up to 1 MiB of a target at once, its default stripe.

        Its IOPS are those of the metadata servers: AWS publishes none for data.
        """
        return BlockTimes(0.001, 0.001, unit_bytes=2**20, is_free_of_iops=True)

    def charges(self, usage: Usage) -> Iterator[Charge]:
        """Yield its capacity, whose price includes the throughput, and metadata IOPS above the included ones."""
        if self.file_system_id:
            return  # the owner pays for all of it in any case, and traffic costs nothing
        if self.storage_type == TIERING:
            yield from self._charges_of_tiering(usage)
            return
        tier, gib = self.throughput_mbps_per_tib or "scratch", self.storage_capacity_gib or 0
        yield Charge(f"fsx_lustre_{tier}_gib_month", usage.months.times(gib))
        if extra := max(0, (self.metadata_iops or 0) - included_iops(gib)):
            yield Charge("fsx_lustre_metadata_iops_month", usage.months.times(extra))

    def _charges_of_tiering(self, usage: Usage) -> Iterator[Charge]:
        """Yield its stored data while it exists, its throughput capacity, its read cache and all metadata IOPS.

        No source says that some metadata IOPS are included. Its requests are left out: the share of reads from the
        caches and the way in which writes are combined are not known before the run, and no price of requests was
        found.
        """
        months = usage.months
        yield Charge("fsx_lustre_tiering_gib_month", usage.varying_gib_months)
        yield Charge("fsx_lustre_tiering_mbps_month", months.times(self.throughput_capacity_mbps or 0))
        yield Charge("fsx_lustre_metadata_iops_month", months.times(self.metadata_iops or 0))
        if self.read_cache_gib:
            yield Charge("fsx_lustre_tiering_cache_gib_month", months.times(self.read_cache_gib))

    @property
    def compressor(self) -> str | None:
        """Name of the compression by its servers."""
        return None if self.compression == "NONE" else self.compression

    def refused_by_image(self, os: str) -> tuple[str, str] | None:
        """Return that Ubuntu's client comes from a repository that cannot be pinned, with another kernel."""
        if os != "ubuntu-22.04":
            return None
        rule = (
            "has no Lustre client of its own; FSx's repository has one for some kernels only, and AWS publishes neither"
            " hashes of its packages nor the fingerprint of its key"
        )
        return rule, "write al2023, which has the package lustre-client"

    @classmethod
    def quota_uses(cls, document: StorageFields) -> Iterator[QuotaUse]:
        """Yield one file system of its deployment type, and its capacity, or its throughput and its read cache."""
        kind = document["deploymentType"]
        yield QuotaUse(COUNTS[kind], 1.0)
        if is_tiered(document):
            yield QuotaUse(TIERING_THROUGHPUT, document["throughputCapacityMBps"], "lower throughputCapacityMBps")
            yield QuotaUse(TIERING_CACHE, document["readCacheGiB"], "lower readCacheGiB")
            return
        yield QuotaUse(CAPACITIES[kind], document["storageCapacityGiB"], "lower storageCapacityGiB")

    @property
    def slug(self) -> str:
        return super().slug.replace("--1stripes", "-allstripes")  # -1: on all servers

    def capacity_gib(self, instance_type: str) -> float | None:
        """Return the GiB of SSD; None of Intelligent-Tiering, which grows."""
        return float(self.storage_capacity_gib) if self.storage_capacity_gib else None

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (
            storage_class_has_its_fields,
            capacity_is_offered,
            throughput_goes_with_deployment,
            metadata_iops_are_offered,
            tiering_is_offered,
            stripes_are_some,
        )


def speed_of(document: StorageFields) -> Speed:
    """Return the speeds of a file system as a matrix describes it; without a throughput, the least one counts."""
    if is_tiered(document):
        return TIERING_SPEED
    if document.get("deploymentType", SCRATCH) == SCRATCH:
        return SPEEDS[None]
    return SPEEDS[document.get("throughputMBpsPerTiB") or 125]


def is_tiered(document: StorageFields) -> bool:
    """Return whether a file system, as a matrix describes it, is Intelligent-Tiering."""
    return document.get("storageType") == TIERING


def included_iops(gib: int) -> int:
    """Return the metadata IOPS that come with a capacity, in mode AUTOMATIC (FSx guide, as others quote it)."""
    if gib < 2_400:  # noqa: PLR2004
        return 1_500
    if gib < 4_800:  # noqa: PLR2004
        return 3_000
    if gib < 12_000:  # noqa: PLR2004
        return 6_000
    return 12_000 * max(1, gib // 24_000)


def storage_class_has_its_fields(part: FsxLustreStorage) -> Problems:
    """Yield a problem for each field that the storage class requires or forbids."""
    if part.storage_type == SSD:
        if part.storage_capacity_gib is None:
            yield part.problem("storageCapacityGiB", "storageType SSD needs it", "write 1200, 2400 or a multiple")
        others = (("throughputCapacityMBps", part.throughput_capacity_mbps), ("readCacheGiB", part.read_cache_gib))
        for name, value in others:
            if value is not None:
                rule, fix = "storageType SSD has none", "leave it out, or write storageType INTELLIGENT_TIERING"
                yield part.problem(name, rule, fix)
        return
    if part.deployment_type != PERSISTENT:
        yield part.problem("deploymentType", f"Intelligent-Tiering is {PERSISTENT} only", f"write {PERSISTENT}")
    for name, value in (
        ("storageCapacityGiB", part.storage_capacity_gib),
        ("throughputMBpsPerTiB", part.throughput_mbps_per_tib),
    ):
        if value is not None:
            rule = "Intelligent-Tiering grows with its data, and has throughputCapacityMBps"
            yield part.problem(name, rule, "leave it out, or write storageType SSD")
    for name, value, fix in (
        ("throughputCapacityMBps", part.throughput_capacity_mbps, "write 4000 or a multiple of it"),
        ("readCacheGiB", part.read_cache_gib, "write GiB, such as 512, or 0 for none"),
        ("metadataIops", part.metadata_iops, "write 6000 or 12000"),
    ):
        if value is None:
            yield part.problem(name, "Intelligent-Tiering needs it", fix)


def tiering_is_offered(part: FsxLustreStorage) -> Problems:
    """Yield a problem if Intelligent-Tiering does not offer this throughput capacity, or this read cache with it."""
    mbps, cache = part.throughput_capacity_mbps, part.read_cache_gib
    if part.storage_type != TIERING or mbps is None:
        return
    if mbps % STEP_MBPS or not 0 < mbps <= MAX_MBPS:
        nearest = min(max(-(-mbps // STEP_MBPS) * STEP_MBPS, STEP_MBPS), MAX_MBPS)
        rule = f"Intelligent-Tiering has {STEP_MBPS:,} MB/s and multiples of it up to {MAX_MBPS:,}"
        yield part.problem("throughputCapacityMBps", rule, f"write {nearest}")
        return
    least, most = (gib * mbps // STEP_MBPS for gib in (MIN_CACHE_GIB, MAX_CACHE_GIB))
    if cache and not least <= cache <= most:
        rule = f"{mbps:,} MB/s take a read cache of {least:,} to {most:,} GiB, or none"
        yield part.problem("readCacheGiB", rule, f"write {min(max(cache, least), most)}, or 0 for none")


def capacity_is_offered(part: FsxLustreStorage) -> Problems:
    """Yield a problem if FSx does not offer this capacity."""
    gib = part.storage_capacity_gib
    if gib is None or part.storage_type == TIERING:
        return
    if gib != MIN_GIB and (gib < STEP_GIB or gib % STEP_GIB):
        nearest = MIN_GIB if gib <= MIN_GIB else -(-gib // STEP_GIB) * STEP_GIB
        rule = "FSx for Lustre has 1,200 GiB, 2,400 GiB and multiples of 2,400"
        yield part.problem("storageCapacityGiB", rule, f"write {nearest}")


def throughput_goes_with_deployment(part: FsxLustreStorage) -> Problems:
    """Yield a problem if PERSISTENT_2 on SSD has no throughput, or SCRATCH_2 has one."""
    if part.storage_type == TIERING:
        return
    if part.deployment_type == PERSISTENT and part.throughput_mbps_per_tib is None:
        yield part.problem("throughputMBpsPerTiB", "PERSISTENT_2 needs it", "write 125, 250, 500 or 1000")
    if part.deployment_type == SCRATCH and part.throughput_mbps_per_tib is not None:
        rule = "SCRATCH_2 has 200 MB/s per TiB, and no other"
        yield part.problem("throughputMBpsPerTiB", rule, "leave it out, or write deploymentType PERSISTENT_2")


def metadata_iops_are_offered(part: FsxLustreStorage) -> Problems:
    """Yield a problem if metadata IOPS cannot be provisioned, or not this number."""
    iops = part.metadata_iops
    if iops is None:
        return
    if part.storage_type == TIERING:
        if iops not in TIERING_METADATA_IOPS:
            nearest = min(TIERING_METADATA_IOPS, key=lambda value: (abs(value - iops), -value))
            yield part.problem("metadataIops", "Intelligent-Tiering has 6000 or 12000", f"write {nearest}")
        return
    if part.deployment_type == SCRATCH:
        rule = "SCRATCH_2 has no provisioned metadata IOPS"
        yield part.problem("metadataIops", rule, "leave it out, or write deploymentType PERSISTENT_2")
    elif iops not in METADATA_IOPS and (iops % METADATA_IOPS[-1] or not 0 < iops <= MAX_METADATA_IOPS):
        offered = (*METADATA_IOPS, *range(24_000, MAX_METADATA_IOPS + 1, METADATA_IOPS[-1]))
        nearest = min(offered, key=lambda value: (abs(value - iops), -value))
        rule = f"FSx provisions 1500, 3000, 6000, 12000 and multiples of 12000 up to {MAX_METADATA_IOPS}"
        yield part.problem("metadataIops", rule, f"write {nearest}")


def stripes_are_some(part: FsxLustreStorage) -> Problems:
    """Yield a problem for a stripe count of 0, with which lfs uses its default."""
    if part.stripe_count == 0:
        yield part.problem("stripeCount", "a file has at least one stripe", "write 1 or more, -1, or leave it out")
