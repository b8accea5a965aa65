"""Amazon EBS: a volume of its own for each instance."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints

from matrix.fields import limits
from matrix.fields.types import Rule
from matrix.storages.base import AttachedVolumes, BlockTimes, CeilingWords, Storage, Traits, Words
from matrix.storages.metrics import (
    FIVE_MINUTES_S,
    MINUTE_S,
    Burst,
    LimitUnit,
    Metric,
    StorageMetrics,
    WatchedLimit,
    metrics_table,
)
from matrix.terms.ceilings import INSTANCE_EBS, LARGER_EBS
from matrix.terms.charges import MIN_BILLED_S, MONTH_S, Amount, Charge, Query
from matrix.terms.documents.parts import StorageFields
from matrix.terms.problems import Problems, Weight
from matrix.terms.use import Use, disk_bytes, disk_operations

VolumeId = Annotated[str, StringConstraints(pattern=r"^vol-[0-9a-f]{8,17}$")]
SnapshotId = Annotated[str, StringConstraints(pattern=r"^snap-[0-9a-f]{8,17}$")]
# /dev/sdf to /dev/sdm: names that EC2 reserves for data volumes on every kind of instance.
MAX_RAID0 = 8

# Seconds of a read and of a write: "single-digit milliseconds", of io2 "under 500 µs" (EBS guide, performance).
# A larger block counts as several operations (EBS guide, I/O characteristics).
SSD_BLOCK_TIMES = BlockTimes(0.001, 0.001, unit_bytes=256 * 2**10)
_HDD_BLOCK_TIMES = BlockTimes(0.01, 0.01, unit_bytes=2**20)
BLOCK_TIMES = {
    "io2": BlockTimes(0.000_5, 0.000_5, SSD_BLOCK_TIMES.unit_bytes),
    "st1": _HDD_BLOCK_TIMES,
    "sc1": _HDD_BLOCK_TIMES,
}


def _gp3_only(limit: limits.Limit) -> Callable[[dict[str, Any]], int | None]:
    """Return a default for gp3: the value that it includes at any size, so that a plan has the created value."""
    return lambda fields: int(limit.value) if fields.get("volume_type") == "gp3" else None


# "An I/O request of 1 MiB or less counts as a 1 MiB I/O credit. However, if the I/Os are sequential, they are merged
# into 1 MiB I/O blocks" (EBS guide, HDD volumes).
HDD = frozenset({"st1", "sc1"})
# Only these volume types have credits.
BURSTING_TYPES = frozenset({"gp2", "st1", "sc1"})
# Throughput in MiB/s, by the formula of the published EBS benchmark: m1 = VolumeWriteBytes, m2 = VolumeReadBytes, Sum.
THROUGHPUT = Metric(
    "AWS/EBS", "Throughput", "Sum", "MiB/s", dimensions=("VolumeId",), expression="(({0}+{1})/1048576)/PERIOD({0})"
)

_ALWAYS = metrics_table(
    "AWS/EBS",
    ("VolumeId",),
    MINUTE_S,
    """
    VolumeWriteBytes     Sum     bytes
    VolumeReadBytes      Sum     bytes
    VolumeWriteOps       Sum     operations
    VolumeReadOps        Sum     operations
    VolumeTotalWriteTime Sum     s
    VolumeTotalReadTime  Sum     s
    VolumeIdleTime       Sum     s
    VolumeQueueLength    Average operations
    """,
)
_CREDITS = metrics_table("AWS/EBS", ("VolumeId",), MINUTE_S, "BurstBalance Minimum %")
_NITRO = metrics_table(
    "AWS/EBS",
    ("VolumeId", "InstanceId"),
    MINUTE_S,
    """
    VolumeIOPSExceededCheck       Maximum yes
    VolumeThroughputExceededCheck Maximum yes
    VolumeAvgReadLatency          Average ms
    VolumeAvgWriteLatency         Average ms
    """,
)
_OF_INSTANCE = (
    *metrics_table(
        "AWS/EC2",
        ("InstanceId",),
        MINUTE_S,
        """
        InstanceEBSIOPSExceededCheck       Maximum yes
        InstanceEBSThroughputExceededCheck Maximum yes
        """,
    ),
    *metrics_table(
        "AWS/EC2",
        ("InstanceId",),
        FIVE_MINUTES_S,
        """
        EBSIOBalance%   Minimum %
        EBSByteBalance% Minimum %
        """,
    ),
)


_CEILINGS = CeilingWords(
    "volume IOPS",
    "volume throughput",
    "provision more iops, stripe volumes with raid0, or use larger blocks",
    "provision more throughputMiBps (gp3; it may need more iops), or stripe volumes with raid0",
)

# IOPS and throughput of the other types are had by their size, or not at all.
_LARGER_HDD = "take a larger volume, from whose size they follow, stripe volumes with raid0, or take gp3"
_RAISED_BY = {
    **dict.fromkeys(HDD, (f"use larger requests; {_LARGER_HDD}", _LARGER_HDD)),
    "gp2": (
        "take gp3 with more iops, or a larger volume (3 IOPS for each GiB), or use larger blocks",
        "take gp3 with more throughputMiBps, or stripe volumes with raid0",
    ),
    **dict.fromkeys(
        ("io1", "io2"),
        (_CEILINGS.more_operations, "provision more iops, from which it follows, or stripe volumes with raid0"),
    ),
}


class EbsMetrics(StorageMetrics):
    """Counts of EBS volumes by CloudWatch and by the kernel.

    Sources: the user guides of EBS and EC2, and CloudWatch's table of supported metrics, read in November 2026.
    According to that table VolumeIOPSExceededCheck and similar metrics need VolumeId and InstanceId together.
    """

    has_volumes = True
    of_instance = _OF_INSTANCE
    bytes = {"read": ("AWS/EBS VolumeReadBytes", None), "written": ("AWS/EBS VolumeWriteBytes", None)}
    operations = {"reads": ("AWS/EBS VolumeReadOps", None), "writes": ("AWS/EBS VolumeWriteOps", None)}
    limits = (
        WatchedLimit(
            "AWS/EBS VolumeIOPSExceededCheck", "held", "volume IOPS", _CEILINGS.more_operations, counts="IOPS"
        ),
        WatchedLimit(
            "AWS/EBS VolumeThroughputExceededCheck", "held", "volume throughput", _CEILINGS.more_throughput,
            counts="bytes/s",
        ),
        WatchedLimit("AWS/EC2 InstanceEBSIOPSExceededCheck", "held", INSTANCE_EBS, LARGER_EBS, counts="IOPS"),
        WatchedLimit("AWS/EC2 InstanceEBSThroughputExceededCheck", "held", INSTANCE_EBS, LARGER_EBS, counts="bytes/s"),
        WatchedLimit(
            "AWS/EBS BurstBalance", "balance", "volume burst credits",
            "take gp3, or a larger volume, whose baseline is higher",
        ),
        WatchedLimit("AWS/EC2 EBSIOBalance%", "balance", INSTANCE_EBS, LARGER_EBS, counts="IOPS"),
        WatchedLimit("AWS/EC2 EBSByteBalance%", "balance", INSTANCE_EBS, LARGER_EBS, counts="bytes/s"),
    )  # fmt: skip
    counters = {"ebs": "disk"}

    def of_volume(self, volume_type: str | None) -> tuple[Metric, ...]:
        """Return the metrics of a volume, with those of its burst credits if the type has credits."""
        return (*_ALWAYS, *(_CREDITS if volume_type in BURSTING_TYPES else ()), *_NITRO, THROUGHPUT)

    def is_limited_by_operations(self, storage: StorageFields) -> bool:
        """Return False for HDD volumes, which count sequential requests by their bytes."""
        return storage.get("volumeType") not in HDD

    def is_limited_at_random(self, storage: StorageFields) -> bool:
        """Return True for HDD volumes."""
        return storage.get("volumeType") in HDD

    def raised_by(self, storage: StorageFields) -> Mapping[str, str]:
        """Return the ways of its volume type."""
        ways = _RAISED_BY.get(str(storage.get("volumeType")))
        return dict(zip((_CEILINGS.operations, _CEILINGS.throughput), ways, strict=True)) if ways else {}

    def operations_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return the operations that the kernel sent to the disk, after caches and merging."""
        del storage
        return disk_operations(use)

    def bytes_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return the bytes that the kernel sent to the disk."""
        del storage
        return disk_bytes(use)


class EbsStorage(Storage):
    """An Amazon EBS volume, or several as RAID-0; each instance of a cell gets its own."""

    traits: ClassVar[Traits] = Traits(
        is_shared=False,
        has_device=True,
        existing_fields=("volumeId",),
        opened_by="mayWrite true",
        # Two instances that write the same file system destroy it, and only io1 and io2 can be attached to several.
        most_instances=1,
        bursts_by="volumeType",
        starter={"volumeType": "gp3", "sizeGiB": 100},
        words=Words(
            "EBS",
            "EBS",
            {
                "volumeType": "{}",
                "sizeGiB": "{} GiB",
                "iops": "{} IOPS",
                "throughputMiBps": "{} MiB/s",
                "raid0": "RAID-0 of {}",
                "snapshotId": "from {}",
                "volumeInitializationRate": "loaded at {} MiB/s",
                "fastSnapshotRestore": {True: "fast restored"},
                "volumeId": "{}",
                "mayWrite": {True: "written"},
            },
            in_names={"raid0": "{} volumes as RAID-0"},
            in_ids={
                "volumeType": "{}",
                "sizeGiB": "{}gib",
                "iops": "{}iops",
                "throughputMiBps": "{}mibps",
                "raid0": "raid0x{}",
                "snapshotId": "{}",
                "volumeInitializationRate": "loaded{}mibps",
                "fastSnapshotRestore": {True: "fast-restored"},
                "volumeId": "{}",
                "mayWrite": {True: "written"},
            },
            named_by=("volumeType",),
            usual={"mayWrite": False, "fastSnapshotRestore": False},
        ),
        ceilings=_CEILINGS,
        metrics=EbsMetrics(),
        # A create in a local journalled file system needs no network round trip.
        create_latency_s=0.0001,
        sync_latency_s=0.001,  # of SSDs, measured: 17 s for 2,048 of 1 MiB, gp2
    )

    type: Literal["ebs"]
    """Kind of storage."""
    volume_type: Annotated[Literal["gp2", "gp3", "io1", "io2", "st1", "sc1"], Field(examples=["gp3"])]
    """Volume type."""
    size_gib: Annotated[int, Field(alias="sizeGiB", examples=[200])]
    """Size in GiB."""
    iops: Annotated[int | None, Field(examples=[16000])] = Field(default_factory=_gp3_only(limits.GP3_BASE_IOPS))
    """Provisioned IOPS: required for io1 and io2, 3000 for gp3 unless given, not for others."""
    throughput_mibps: Annotated[int | None, Field(alias="throughputMiBps", examples=[1000])] = Field(
        default_factory=_gp3_only(limits.GP3_BASE_THROUGHPUT)
    )
    """Provisioned throughput in MiB/s: for gp3 only, 125 unless given."""
    raid0: Annotated[int | None, Field(ge=2, le=MAX_RAID0, examples=[2])] = None
    """Number of such volumes to stripe over (2 to 8, mdadm); size, iops and throughput are those of each volume."""
    snapshot_id: Annotated[SnapshotId | None, Field(examples=["snap-0123456789abcdef0"])] = None
    """Snapshot that each instance's volume is made from, such as one that holds a filled cache."""
    volume_initialization_rate: Annotated[int | None, Field(examples=[300])] = None
    """Rate in MiB/s, from 100 to 300, at which EBS loads the blocks of the snapshot after the volume's creation."""
    fast_snapshot_restore: bool | None = None
    """The snapshot has fast snapshot restore, which you have enabled: the volumes are loaded when they are created."""
    volume_id: Annotated[VolumeId | None, Field(examples=["vol-0123456789abcdef0"])] = None
    """Id of a volume that exists, for fleets of one instance. It is attached and never deleted."""
    may_write: bool | None = None
    """Allow writes to a volume that exists, in a folder of the run. Default: it is mounted read-only."""

    @property
    def volumes(self) -> int:
        """Number of volumes that are created and deleted with one instance: 0 for an existing volume."""
        return 0 if self.volume_id else self._members

    @property
    def is_filled(self) -> bool:
        return self.snapshot_id is not None or super().is_filled

    @property
    def loading_bytes_per_s(self) -> float:
        """Bytes per second of first reads of a volume from a snapshot."""
        if self.snapshot_id is None or self.fast_snapshot_restore:
            return math.inf
        return (self.volume_initialization_rate or limits.EBS_LAZY_MIBPS.value) * 2**20

    @property
    def fast_restores(self) -> int:
        """Volumes that full credits of its snapshot restore fast at once, if the snapshot is as large as the volume."""
        credits_ = int(limits.EBS_FAST_RESTORE_GIB.value // self.size_gib)
        return max(1, min(int(limits.MAX_EBS_FAST_RESTORES.value), credits_))

    @property
    def _members(self) -> int:
        return self.raid0 or 1

    @classmethod
    def is_written_in(cls, document: StorageFields) -> bool:
        """Return False for an existing volume, unless the matrix allows the run to write it."""
        return "volumeId" not in document or bool(document.get("mayWrite"))

    @classmethod
    def is_in_one_zone(cls, document: StorageFields) -> bool:
        """Return whether it is an existing volume: its instance must be in the volume's zone."""
        return "volumeId" in document

    @property
    def paid_iops(self) -> int:
        is_paid = not self.volume_id and any("iops" in name for name, _ in self._provisioned())
        return self.effective_iops if is_paid else 0

    @property
    def merges_sequential(self) -> bool:
        return self.volume_type in HDD

    @property
    def effective_iops(self) -> int:
        """Sustained IOPS of an instance's volumes together (gp2: with their burst, HDD: of 1 MiB)."""
        return self._members * self._volume_iops

    @property
    def _volume_iops(self) -> int:
        if self.volume_type == "gp2":
            # 3 IOPS per GiB, at least 100, at most 16,000; below 1,000 GiB it bursts to 3,000 (EBS guide, gp2).
            return max(3_000, min(16_000, 3 * self.size_gib))
        if self.volume_type == "gp3":
            return max(1, self.iops or 1)
        return max(1, self.iops or int(self._volume_bytes_per_s / 2**20))

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Most bytes per second of an instance's volumes together (burst of HDD and gp2 included)."""
        return self._members * self._volume_bytes_per_s

    def attached(self, instance_type: str) -> AttachedVolumes:
        """Return the volumes of an instance of the fleet."""
        is_hdd = self.volume_type in limits.HDD_MIBPS_PER_TIB
        iops = None if is_hdd else float(self.effective_iops)
        is_provisioned = self.volume_type in {"io1", "io2"}
        return AttachedVolumes(instance_type, self._members, iops, self.bandwidth_bytes_per_s, is_provisioned)

    @property
    def _volume_bytes_per_s(self) -> float:
        tib = self.size_gib / 1_024
        mibps = {
            "gp3": self.throughput_mibps or 1,
            "gp2": 250 if self.size_gib > 170 else 128,  # noqa: PLR2004 (EBS guide, gp2: 128 MiB/s up to 170 GiB)
            # 256 KiB per I/O up to 500 MiB/s; beyond 32,000 IOPS 16 KiB per I/O: 1,000 MiB/s at 64,000 (EBS guide).
            "io1": max(min(500.0, (self.iops or 100) * 0.25), (self.iops or 100) / 64),
            "io2": min(4_000.0, (self.iops or 100) * 0.25),
            "st1": min(500.0, 250 * tib),
            "sc1": min(250.0, 80 * tib),
        }[self.volume_type]
        return max(mibps, 1.0) * 2**20

    @property
    def bursts(self) -> list[Burst]:
        """Burst limits of an instance's volumes, above their sustained limits."""
        if self.volume_type == "gp2":
            most = limits.GP2_MOST_IOPS.value
            always = max(limits.GP2_LEAST_IOPS.value, min(most, limits.GP2_IOPS_PER_GIB.value * self.size_gib))
            pair, balance = (always, max(always, limits.GP2_BURST_IOPS.value)), limits.GP2_CREDITS.value
            return self._bursts("volume IOPS", "IOPS", pair, balance)
        if self.volume_type in limits.HDD_MIBPS_PER_TIB:
            tib = self.size_gib / 1_024
            per_tib, burst_per_tib, most = limits.HDD_MIBPS_PER_TIB[self.volume_type]
            pair = min(most, per_tib * tib) * 2**20, min(most, burst_per_tib * tib) * 2**20
            return self._bursts("volume throughput", "bytes/s", pair, tib * 2**40)
        return []

    def _bursts(self, of: str, counts: LimitUnit, pair: tuple[float, float], balance: float) -> list[Burst]:
        sustained, most = pair
        if most <= sustained:
            return []
        return [Burst(of, counts, self._members * sustained, self._members * most, self._members * balance)]

    @property
    def sync_latency_s(self) -> float:
        return 0.01 if self.volume_type in HDD else self.traits.sync_latency_s

    @property
    def price_queries(self) -> list[Query]:
        """Queries for the price of the volume type's size, and of its provisioned IOPS and throughput."""
        return volume_queries(self.volume_type)

    def volume_charges(self, count: int, each_s: Amount) -> Iterator[Charge]:
        """Yield charges for the size, provisioned IOPS and throughput above the included ones, and a loading rate.

        That is charged by the snapshot's data, which are assumed to fill the volume.
        """
        if self.volume_id:
            return  # its owner pays for it in any case
        months = each_s.at_least(MIN_BILLED_S).times(count / MONTH_S)
        yield Charge(f"ebs_{self.volume_type}_gib_month", months.times(self.size_gib))
        for name, units in self._provisioned():
            yield Charge(name, months.times(units))
        if self.volume_initialization_rate:
            most = count * self.size_gib * self.volume_initialization_rate
            yield Charge("ebs_initialization_gib_mibps", Amount(0.0, most, most))

    def _provisioned(self) -> list[tuple[str, int]]:
        if self.volume_type == "gp3":
            extra_iops = max(0, (self.iops or 3_000) - 3_000)
            extra_mibps = max(0, (self.throughput_mibps or 125) - 125)
            extras = [("ebs_gp3_iops_month", extra_iops), ("ebs_gp3_mibps_month", extra_mibps)]
            return [(name, units) for name, units in extras if units]
        if self.volume_type == "io1":
            return [("ebs_io1_iops_month", self.iops or 0)]
        return io2_tiers(self.iops or 0) if self.volume_type == "io2" else []

    @property
    def block_times(self) -> BlockTimes | None:
        """Latencies by volume type, from the EBS guide."""
        return BLOCK_TIMES.get(self.volume_type, SSD_BLOCK_TIMES)

    @classmethod
    def volumes_of(cls, document: StorageFields, count: int) -> Iterator[tuple[int, StorageFields]]:
        """Yield one volume for each instance, or all volumes of its RAID-0."""
        if "volumeId" not in document:
            yield count * (document.get("raid0") or 1), document

    @property
    def slug(self) -> str:
        return super().slug.replace("-125mibps", "")  # of gp3 unless given

    def capacity_gib(self, instance_type: str) -> float | None:
        """Return the GiB of one instance's volumes."""
        return float(self.size_gib * self._members)

    @classmethod
    def tools(cls, document: StorageFields) -> frozenset[str]:
        if "volumeId" in document:
            return frozenset()  # its file system exists, and nothing is created
        return frozenset({"mkfs.xfs", "mdadm"} if document.get("raid0") else {"mkfs.xfs"})

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (
            snapshot_is_of_one_volume,
            what_exists_is_one_volume,
            size_is_offered,
            iops_are_offered,
            iops_fit_the_size,
            throughput_is_offered,
            throughput_fits_the_iops,
        )


def io2_tiers(iops: int) -> list[tuple[str, int]]:
    """Return how many of a volume's IOPS are billed at each tier of io2."""
    tiers = (("ebs_io2_iops_month", 0, 32_000), ("ebs_io2_iops_month_above_32000", 32_000, 64_000))
    split = [(name, max(0, min(iops, most) - least)) for name, least, most in tiers]
    split.append(("ebs_io2_iops_month_above_64000", max(0, iops - 64_000)))
    return [(name, billed) for name, billed in split if billed]


def volume_queries(kind: str) -> list[Query]:
    """Return the price-list products of a type of volume."""
    of_kind = ("volumeApiName", kind)
    queries = [Query(f"ebs_{kind}_gib_month", "AmazonEC2", (("productFamily", "Storage"), of_kind))]
    iops = {"gp3": "VolumeP-IOPS.gp3", "io1": "VolumeP-IOPS.piops", "io2": "VolumeP-IOPS.io2"}
    if kind in iops:
        operation = (("productFamily", "System Operation"), of_kind)
        queries.append(Query(f"ebs_{kind}_iops_month", "AmazonEC2", operation, iops[kind]))
    if kind == "io2":
        for tier, above in (("tier2", 32_000), ("tier3", 64_000)):
            name = f"ebs_io2_iops_month_above_{above}"
            queries.append(Query(name, "AmazonEC2", operation, f"VolumeP-IOPS.io2.{tier}"))
    if kind == "gp3":
        throughput = (("productFamily", "Provisioned Throughput"), of_kind)
        per_mib = 1 / 1_024  # listed by the GiB/s
        queries.append(Query("ebs_gp3_mibps_month", "AmazonEC2", throughput, "VolumeP-Throughput.gp3", per_mib))
    return queries


def size_is_offered(part: EbsStorage) -> Problems:
    """Yield a problem if the volume type does not offer this size."""
    span = limits.EBS_SIZE_GIB[part.volume_type]
    if not span.least <= part.size_gib <= span.most:
        nearest = min(max(part.size_gib, span.least), span.most)
        rule = f"{part.volume_type} volumes have {span.least:,} to {span.most:,} GiB"
        yield part.problem("sizeGiB", rule, f"write {nearest}")


def iops_are_offered(part: EbsStorage) -> Problems:
    """Yield a problem if IOPS are missing, not available for the type, or outside of its range."""
    span = limits.EBS_IOPS.get(part.volume_type)
    if span is None:
        if part.iops is not None:
            yield part.problem("iops", f"IOPS cannot be provisioned for {part.volume_type}", "leave it out, or use gp3")
        return
    if part.iops is None:
        if part.volume_type in {"io1", "io2"}:
            yield part.problem("iops", f"{part.volume_type} needs its IOPS", f"write {span.least:,} to {span.most:,}")
        return
    if not span.least <= part.iops <= span.most:
        nearest = min(max(part.iops, span.least), span.most)
        yield part.problem("iops", f"{part.volume_type} has {span.least:,} to {span.most:,} IOPS", f"write {nearest}")


def iops_fit_the_size(part: EbsStorage) -> Problems:
    """Yield a problem if a volume is too small for its IOPS."""
    ratio = limits.EBS_IOPS_PER_GIB.get(part.volume_type)
    if ratio is None or part.iops is None or part.size_gib <= 0:
        return
    always = limits.GP3_BASE_IOPS.value if part.volume_type == "gp3" else 100
    if part.iops > always and part.iops > ratio.value * part.size_gib:
        needed = math.ceil(part.iops / ratio.value)
        allowed = int(max(always, ratio.value * part.size_gib))
        yield part.problem(
            "iops",
            f"needs at least {needed} GiB ({ratio.value:.0f} IOPS/GiB), got {part.size_gib}",
            f"write iops {allowed}, or sizeGiB {needed}",
            weight=None if ratio.is_firm else Weight.NOTE,
        )


def throughput_is_offered(part: EbsStorage) -> Problems:
    """Yield a problem if throughput is given for another type than gp3, or outside of its range."""
    if part.throughput_mibps is None:
        return
    span = limits.GP3_THROUGHPUT_MIBPS
    if part.volume_type != "gp3":
        rule = f"throughput cannot be provisioned for {part.volume_type}"
        yield part.problem("throughputMiBps", rule, "leave it out, or use gp3")
    elif not span.least <= part.throughput_mibps <= span.most:
        nearest = min(max(part.throughput_mibps, span.least), span.most)
        rule = f"gp3 has {span.least:,} to {span.most:,} MiB/s"
        yield part.problem("throughputMiBps", rule, f"write {nearest}")


def throughput_fits_the_iops(part: EbsStorage) -> Problems:
    """Yield a problem if gp3 has too few IOPS for its throughput."""
    if part.volume_type != "gp3" or part.throughput_mibps is None or part.iops is None:
        return
    iops = part.iops
    ratio = limits.GP3_MIBPS_PER_IOPS.value
    if part.throughput_mibps > ratio * iops:
        needed = math.ceil(part.throughput_mibps / ratio)
        yield part.problem(
            "throughputMiBps",
            f"needs at least {needed:,} IOPS ({ratio} MiB/s per IOPS), got {iops:,}",
            f"write throughputMiBps {int(max(ratio * iops, 125))}, or iops {needed}",
        )


def snapshot_is_of_one_volume(part: EbsStorage) -> Problems:
    """Yield problems of a snapshot and of how its blocks are loaded, and a warning about slow first reads."""
    rate, span = part.volume_initialization_rate, limits.EBS_INITIALIZATION_MIBPS
    if part.snapshot_id is None:
        asked = {"volumeInitializationRate": rate, "fastSnapshotRestore": part.fast_snapshot_restore}
        for field in (name for name, value in asked.items() if value):
            yield part.problem(field, "is about volumes from a snapshot", "write snapshotId, or leave it out")
        return
    if part.raid0 is not None:
        yield part.problem("snapshotId", "one snapshot does not hold a stripe of several volumes", "leave out raid0")
    if rate is not None and not span.least <= rate <= span.most:
        rule = f"EBS loads snapshots at {span.least} to {span.most} MiB/s"
        yield part.problem("volumeInitializationRate", rule, f"write {min(max(rate, span.least), span.most)}")
    elif rate is not None and part.fast_snapshot_restore:
        rule = "with a rate EBS does not use fast snapshot restore"
        yield part.problem("volumeInitializationRate", rule, "leave out this or fastSnapshotRestore")
    elif not part.fast_snapshot_restore:
        rule = "its blocks are fetched from S3 when they are first read, which is slow and would be measured"
        fix = "write volumeInitializationRate, or enable fast snapshot restore and write fastSnapshotRestore true"
        if rate is not None:
            rule = (
                f"it is loaded for {part.size_gib * 1_024 / rate:,.0f} s after its creation; until then reads are slow"
            )
            fix = "measure first and second reads apart, as events/volume-from-snapshot.json does"
        yield part.problem("snapshotId", rule, fix, weight=Weight.UNFAIR)


def what_exists_is_one_volume(part: EbsStorage) -> Problems:
    """Yield a problem for fields that only new volumes have, and for permission to write a volume that is not named."""
    if part.volume_id is None:
        if part.may_write:
            rule = "is about a volume that exists; each volume of a run is written"
            yield part.problem("mayWrite", rule, "leave it out, or write volumeId")
        return
    if part.raid0 is not None:
        yield part.problem("raid0", f"{part.volume_id} is one volume, and no stripe", "leave out raid0")
    if part.snapshot_id is not None:
        rule = f"{part.volume_id} exists, so that no volume is made from a snapshot"
        yield part.problem("snapshotId", rule, "leave out snapshotId or volumeId")
