"""Amazon EFS: one file system that all instances of a cell mount."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from matrix.fields import limits
from matrix.fields.types import FileSystemId, Rule
from matrix.storages.base import (
    FILE_SYSTEM_ID,
    BlockTimes,
    CeilingWords,
    Limit,
    Quota,
    QuotaUse,
    ServiceLimits,
    Storage,
    Traits,
    Words,
)
from matrix.storages.metrics import (
    MINUTE_S,
    Burst,
    ClientCap,
    MeteredThroughput,
    StorageMetrics,
    WatchedLimit,
    metrics_table,
)
from matrix.terms.charges import Amount, Charge, Query, Usage, metered_by_mounts
from matrix.terms.documents.parts import StorageFields
from matrix.terms.problems import Problems, Weight
from matrix.terms.use import Use, nfs_operations, total

# Code and default are from published outputs of `aws service-quotas list-aws-default-service-quotas`, read in November
# 2026.
FILE_SYSTEMS = Quota("elasticfilesystem", "L-848C634D", "File systems per account", "file systems", 1_000)
# EFS meters reads at a third of their bytes with bursting or provisioned throughput (EFS guide, performance).
READ_WEIGHT = 1 / 3
# Elastic reads of a Regional file system in the slowest region (EFS guide, performance summary: 20 to 60 GiB/s).
ELASTIC_READ_GIBPS = 20
# Elastic reads and writes of a Regional file system in the quickest regions (EFS guide, quotas that you can increase).
MOST_READ_GIBPS, MOST_WRITTEN_GIBPS = 60, 5


MIB = 2.0**20

_OF_FILE_SYSTEM = metrics_table(
    "AWS/EFS",
    ("FileSystemId",),
    MINUTE_S,
    """
    TotalIOBytes        Sum     bytes
    DataReadIOBytes     Sum     bytes
    DataWriteIOBytes    Sum     bytes
    DataReadIOBytes     SampleCount operations
    DataWriteIOBytes    SampleCount operations
    MetadataIOBytes     Sum     bytes
    MetadataIOBytes     SampleCount operations
    MeteredIOBytes      Sum     bytes
    PermittedThroughput Minimum bytes/s
    BurstCreditBalance  Minimum bytes
    PercentIOLimit      Maximum %
    ClientConnections   Sum     connections
    """,
)


_CEILINGS = CeilingWords(
    "EFS IOPS limit",
    "EFS permitted throughput",
    "use throughputMode elastic, which allows the most operations, or fewer and larger files",
    "raise provisionedThroughputMiBps, or use throughputMode elastic",
)


class EfsMetrics(StorageMetrics):
    """Counts of EFS by CloudWatch and by the kernel's NFS client (EFS guide, metrics, read in November 2026)."""

    of_file_system = _OF_FILE_SYSTEM
    bytes = {
        "read": ("AWS/EFS DataReadIOBytes", None),
        "written": ("AWS/EFS DataWriteIOBytes", None),
        "metadata": ("AWS/EFS MetadataIOBytes", None),
    }
    # "SampleCount / PERIOD" is IOPS (EFS guide, metric math).
    operations = {
        "reads": ("AWS/EFS DataReadIOBytes", "SampleCount"),
        "writes": ("AWS/EFS DataWriteIOBytes", "SampleCount"),
        "metadata": ("AWS/EFS MetadataIOBytes", "SampleCount"),
    }
    limits = (
        WatchedLimit("AWS/EFS PercentIOLimit", "share", "EFS IOPS limit", _CEILINGS.more_operations, counts="IOPS"),
    )
    metered = MeteredThroughput(
        "AWS/EFS MeteredIOBytes",
        "AWS/EFS PermittedThroughput",
        "AWS/EFS BurstCreditBalance",
        "EFS burst credits",
        "use throughputMode elastic or provisioned, or store more data",
    )
    counters = {"nfs": "nfs", "efs": "nfs"}
    operations_unit = "writes/s, as which requests count"

    def operations_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return requests per second in units of writes: a read uses a smaller part of EFS's limit.

        No source gives the part of a metadata request; it counts as a read.
        """
        if nfs_operations(use) is None:
            return None
        modes = (
            _mode(storage),
            storage.get("deployment", "regional"),
            storage.get("performanceMode", "generalPurpose"),
        )
        reads, writes = most_operations(*modes)
        others = total(use, ("nfs_read_operations_per_s", "nfs_other_operations_per_s")) or 0.0
        return use.get("nfs_write_operations_per_s", 0.0) + others * writes / reads

    def bytes_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return bytes with reads weighted as EFS meters them."""
        read, written = use.get("nfs_read_bytes_per_s"), use.get("nfs_write_bytes_per_s")
        if read is None or written is None:
            return use.get("bytes_per_s")
        return written + read * (1.0 if _mode(storage) == "elastic" else READ_WEIGHT)

    def client_cap(self, storage: StorageFields) -> ClientCap:
        """Return 1,500 MiB/s with elastic throughput through efs-utils (TLS or IAM mounts), else 500 MiB/s."""
        is_helped = bool(storage.get("tls") or storage.get("iam"))
        is_elastic = _mode(storage) == "elastic" and storage.get("deployment") != "oneZone"
        mibps = limits.EFS_CLIENT_ELASTIC_MIBPS if is_helped and is_elastic else limits.EFS_CLIENT_MIBPS
        advice = "spread the work over more instances, or mount with efs-utils 2.0 and elastic throughput (1,500 MiB/s)"
        return ClientCap("EFS per-client cap", mibps.value * MIB, advice)

    def lives_on_credits(self, storage: StorageFields) -> bool:
        """Return whether its throughput is bursting."""
        return _mode(storage) == "bursting"


def _mode(storage: StorageFields) -> str:
    return str(storage.get("throughputMode", "elastic"))


class EfsStorage(Storage):
    """An Amazon EFS file system, shared by the instances of a cell."""

    traits: ClassVar[Traits] = Traits(
        existing_fields=(FILE_SYSTEM_ID,),
        bursts_by="throughputMode",
        starter={"throughputMode": "elastic"},
        limits_count=", of writes",
        quotas=(FILE_SYSTEMS,),
        # Seconds that creating and deleting it takes, and may take (EFS guide: minutes).
        create_and_delete_s=210.0,
        create_and_delete_most_s=2_700.0,
        words=Words(
            "EFS",
            "EFS",
            {
                "performanceMode": "performance mode {}",
                "throughputMode": "throughput mode {}",
                "provisionedThroughputMiBps": "{} MiB/s",
                "deployment": {"oneZone": "One Zone"},
                "tls": {True: "TLS"},
                "iam": {True: "IAM"},
                "fileSystemId": "{}",
            },
            in_names={"throughputMode": "{}", "performanceMode": {"maxIO": "maxIO"}},
            in_ids={
                "performanceMode": {"maxIO": "maxio"},
                "deployment": {"oneZone": "onezone"},
                "throughputMode": "{}",
                "provisionedThroughputMiBps": "{}",
                "tls": {True: "tls"},
                "iam": {True: "iam"},
                "fileSystemId": "{}",
            },
            named_by=("throughputMode", "performanceMode", "deployment", "tls", "iam"),
        ),
        ceilings=_CEILINGS,
        assumption=(
            "creating and deleting an EFS file system takes 3.5 minutes; elastic bytes may be half or double, and a "
            "request below 32 KiB is metered as 32 KiB"
        ),
        metrics=EfsMetrics(),
        # Published: 1,024 files in 11.8 s, zero-byte table, 1 thread.
        create_latency_s=0.012,
        # Published: 2,048 blocks of 1 MiB in 85.5 s, tutorial step 3.7.
        sync_latency_s=0.04,
    )

    type: Literal["efs"]
    """Kind of storage."""
    performance_mode: Literal["generalPurpose", "maxIO"] = "generalPurpose"
    """Performance mode; maxIO is for Regional file systems with bursting or provisioned throughput."""
    throughput_mode: Literal["bursting", "elastic", "provisioned"] = "elastic"
    """Throughput mode."""
    provisioned_throughput_mibps: Annotated[int | None, Field(alias="provisionedThroughputMiBps", examples=[1024])] = (
        None
    )
    """Throughput in MiB/s, only for throughputMode provisioned."""
    deployment: Literal["regional", "oneZone"] = "regional"
    """In all Availability Zones of the region, or in one."""
    tls: bool = False
    """Encrypt in transit: mounted by the mount helper of amazon-efs-utils, through a proxy on each instance."""
    iam: bool = False
    """Authorise instances by IAM, and refuse all others and every connection without TLS; needs tls."""
    file_system_id: Annotated[FileSystemId | None, Field(examples=["fs-0123456789abcdef0"])] = None
    """Id of a file system that exists. The run works in a folder of its own and leaves the file system as it was."""

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Bytes per second that all clients together may write (EFS guide, performance summary, slowest region)."""
        mibps = {"elastic": 1_024.0, "bursting": 100.0, "provisioned": max(1.0, self.provisioned_throughput_mibps or 1)}
        return mibps[self.throughput_mode] * 2**20

    @property
    def effective_iops(self) -> int:
        """Writes per second of the whole file system."""
        return most_operations(self.throughput_mode, self.deployment, self.performance_mode)[1]

    @property
    def service_limits(self) -> ServiceLimits:
        """The default quotas of elastic throughput, by which bytes are billed."""
        if self.throughput_mode != "elastic":
            return ServiceLimits()
        reads, writes = most_operations(self.throughput_mode, self.deployment, self.performance_mode)
        return ServiceLimits(Limit(MOST_READ_GIBPS * 2**30, reads), Limit(MOST_WRITTEN_GIBPS * 2**30, writes))

    @property
    def bursts(self) -> list[Burst]:
        """Burst limits of an empty file system."""
        return self.bursts_keeping(0.0)

    def bursts_keeping(self, gib: float) -> list[Burst]:
        """Return its limits when it stores `gib` GiB: each TiB sustains 50 MiB/s and bursts to 100 MiB/s."""
        if self.throughput_mode != "bursting":
            return []
        tib = gib / 1_024
        sustained = max(limits.EFS_LEAST_MIBPS.value, limits.EFS_MIBPS_PER_TIB.value * tib) * 2**20
        # With less than 1 TiB both limits are those of 1 TiB.
        most = limits.EFS_BURST_MIBPS.value * max(1.0, tib) * 2**20
        credits_bytes = limits.EFS_CREDITS_TIB.value * max(1.0, tib) * 2**40
        return [Burst("EFS throughput", "bytes/s", sustained, most, credits_bytes)]

    @property
    def is_throughput_published(self) -> bool:
        """Elastic throughput has no fixed limit: AWS says 20 to 60 GiB/s of reads and 1 to 5 of writes, by region."""
        return self.throughput_mode != "elastic"

    @property
    def is_billed_by_use(self) -> bool:
        """Elastic throughput is billed by the byte."""
        return self.throughput_mode == "elastic"

    def metered_bytes(
        self, counted: Mapping[str, float], a_byte: tuple[float | None, float | None]
    ) -> tuple[Amount, Amount] | None:
        """Return what EFS meters of it."""
        return metered_by_mounts(counted, a_byte)

    @property
    def only_in_its_zone(self) -> str | None:
        """The DNS name of a One Zone file system resolves only in its own zone.

        "DNS resolution for file system DNS names requires that the Amazon EFS file system has a mount target in the
        same Availability Zone as the client instance" (EFS user guide, Mounting on Amazon EC2 with a DNS name).
        """
        return "EFS One Zone is found by its name in its own zone only" if self.deployment == "oneZone" else None

    @property
    def price_queries(self) -> list[Query]:
        """Queries for the prices of its storage and of its throughput mode.

        The attributes were checked against infracost's filters (Apache-2.0), November 2026.
        """
        usage = "TimedStorage-Z-ByteHrs" if self.deployment == "oneZone" else "TimedStorage-ByteHrs"
        kept = Query(self._kept, "AmazonEFS", (("productFamily", "Storage"),), usage)
        if self.throughput_mode == "elastic":
            moved = (("read", "Read"), ("write", "Write"))
            usage = "ETDataAccess-Bytes"
            return [
                kept,
                *(Query(f"efs_elastic_{way}_gib", "AmazonEFS", (("accessType", word),), usage) for way, word in moved),
            ]
        if self.throughput_mode != "provisioned":
            return [kept]
        throughput = (("productFamily", "Provisioned Throughput"),)
        return [kept, Query("efs_provisioned_mibps_month", "AmazonEFS", throughput, "ProvisionedTP-MiBpsHrs")]

    def charges(self, usage: Usage) -> Iterator[Charge]:
        """Yield the charges of its storage and of its throughput mode."""
        yield Charge(self._kept, usage.varying_gib_months)
        if self.throughput_mode == "elastic":
            read = usage.read_bytes.and_also(usage.read_padding)
            written = usage.written_bytes.and_also(usage.written_padding)
            yield Charge("efs_elastic_read_gib", read.times(1 / 2**30))
            yield Charge("efs_elastic_write_gib", written.times(1 / 2**30))
        # The owner of an existing one pays for provisioned throughput in any case.
        if self.throughput_mode == "provisioned" and not self.file_system_id:
            yield Charge("efs_provisioned_mibps_month", usage.months.times(self.provisioned_throughput_mibps or 0))

    @property
    def _kept(self) -> str:
        return f"efs_{'one_zone' if self.deployment == 'oneZone' else 'regional'}_gib_month"

    @property
    def block_times(self) -> BlockTimes | None:
        """About 1 ms and 2.7 ms for a block of the mounts' rsize (EFS guide, performance).

        From the Korean and Chinese editions, read on 23 November 2026; older English ones say "as low as 250 µs" for
        reads.
        """
        reads, _ = most_operations(self.throughput_mode, self.deployment, self.performance_mode)
        is_elastic = self.throughput_mode == "elastic" and self.deployment == "regional"
        read_bytes_per_s = ELASTIC_READ_GIBPS * 2**30 if is_elastic else self.bandwidth_bytes_per_s / READ_WEIGHT
        return BlockTimes(0.001, 0.002_7, unit_bytes=2**20, read_iops=reads, read_bytes_per_s=read_bytes_per_s)

    @classmethod
    def quota_uses(cls, document: StorageFields) -> Iterator[QuotaUse]:
        """Yield one file system."""
        yield QuotaUse(FILE_SYSTEMS, 1.0)

    @classmethod
    def is_in_one_zone(cls, document: StorageFields) -> bool:
        """Return whether it is One Zone: a Regional one has a mount target in each zone."""
        return document.get("deployment") == "oneZone"

    @classmethod
    def tools(cls, document: StorageFields) -> frozenset[str]:
        is_helped = document.get("tls") or document.get("iam")
        return frozenset({"mount.nfs", "mount.efs"} if is_helped else {"mount.nfs"})

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (
            iam_has_tls,
            performance_mode_goes_with_throughput,
            performance_mode_goes_with_deployment,
            provisioned_has_its_figure,
            provisioned_is_offered,
        )


def most_operations(throughput_mode: str, deployment: str, performance_mode: str) -> tuple[int, int]:
    """Return the reads and the writes per second of a file system (EFS guide, performance summary, November 2026).

    With elastic throughput these are the limits of frequently accessed data, before AWS raises the quota. A mixture of
    reads and writes gets a part of each limit.
    """
    if performance_mode == "maxIO":
        return 500_000, 500_000
    if deployment == "oneZone":
        return 35_000, 7_000
    return {"elastic": (250_000, 50_000), "bursting": (35_000, 7_000), "provisioned": (55_000, 25_000)}[throughput_mode]


def performance_mode_goes_with_throughput(part: EfsStorage) -> Problems:
    """Yield a problem for maxIO with elastic throughput."""
    if part.performance_mode == "maxIO" and part.throughput_mode == "elastic":
        by_default = "" if "throughput_mode" in part.model_fields_set else " (the default throughputMode)"
        rule = f"cannot have elastic throughput{by_default}"
        yield part.problem("performanceMode", rule, "write generalPurpose, or throughputMode bursting or provisioned")


def performance_mode_goes_with_deployment(part: EfsStorage) -> Problems:
    """Yield a problem for maxIO in one zone."""
    if part.performance_mode == "maxIO" and part.deployment == "oneZone":
        fix = "write deployment regional, or performanceMode generalPurpose"
        yield part.problem("deployment", "a One Zone file system cannot be maxIO", fix)


def provisioned_has_its_figure(part: EfsStorage) -> Problems:
    """Yield a problem if only one of provisioned mode and its throughput is given."""
    is_provisioned = part.throughput_mode == "provisioned"
    if is_provisioned and part.provisioned_throughput_mibps is None:
        span = limits.EFS_PROVISIONED_MIBPS
        rule = "throughputMode provisioned needs its throughput"
        yield part.problem("provisionedThroughputMiBps", rule, f"write {span.least} to {span.most:,} MiB/s")
    if not is_provisioned and part.provisioned_throughput_mibps is not None:
        rule = f"throughputMode {part.throughput_mode} has no provisioned throughput"
        yield part.problem("provisionedThroughputMiBps", rule, "leave it out, or write throughputMode provisioned")


def provisioned_is_offered(part: EfsStorage) -> Problems:
    """Yield a problem if the throughput is outside of EFS's range."""
    mibps = part.provisioned_throughput_mibps
    span = limits.EFS_PROVISIONED_MIBPS
    if mibps is None:
        return
    if not span.least <= mibps <= span.most:
        nearest = min(max(mibps, span.least), span.most)
        rule = f"EFS provisions {span.least} to {span.most:,} MiB/s"
        yield part.problem("provisionedThroughputMiBps", rule, f"write {nearest}")
    elif mibps > limits.EFS_PROVISIONED_USUAL_MIBPS.value:
        rule = f"above {limits.EFS_PROVISIONED_USUAL_MIBPS.value:,.0f} MiB/s the quota depends on the region"
        yield part.problem(
            "provisionedThroughputMiBps", rule, "check the account's EFS quota first", weight=Weight.NOTE
        )


def iam_has_tls(part: EfsStorage) -> Problems:
    """Yield a problem for IAM without TLS."""
    if part.iam and not part.tls:
        yield part.problem("iam", "the mount helper authorises by IAM over TLS only", "write tls true beside it")
