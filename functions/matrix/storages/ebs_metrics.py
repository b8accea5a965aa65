"""Counts of EBS volumes by CloudWatch and by the kernel.

Sources: the user guides of EBS and EC2, and CloudWatch's table of supported metrics, read in November 2026. According
to that table VolumeIOPSExceededCheck and similar metrics need VolumeId and InstanceId together.
"""

from matrix.storages.ebs import EbsStorage
from matrix.storages.metrics import (
    FIVE_MINUTES_S,
    MINUTE_S,
    Metric,
    StorageMetrics,
    WatchedLimit,
    layer_pairs,
    metrics_table,
)
from matrix.terms.ceilings import INSTANCE_EBS, LARGER_EBS
from matrix.terms.documents.parts import StorageFields
from matrix.terms.use import Use, disk_bytes, disk_operations

# AWS counts operations of these volumes in MiB, not in requests, so their throughput is the limit.
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
_CEILINGS = EbsStorage.ceilings


class EbsMetrics(StorageMetrics):
    """The volumes of each instance."""

    has_volumes = True
    of_instance = _OF_INSTANCE
    bytes = {"read": ("AWS/EBS VolumeReadBytes", None), "written": ("AWS/EBS VolumeWriteBytes", None)}
    operations = {"reads": ("AWS/EBS VolumeReadOps", None), "writes": ("AWS/EBS VolumeWriteOps", None)}
    limits = (
        WatchedLimit("AWS/EBS VolumeIOPSExceededCheck", "held", "volume IOPS", _CEILINGS.more_operations),
        WatchedLimit("AWS/EBS VolumeThroughputExceededCheck", "held", "volume throughput", _CEILINGS.more_throughput),
        WatchedLimit("AWS/EC2 InstanceEBSIOPSExceededCheck", "held", INSTANCE_EBS, LARGER_EBS),
        WatchedLimit("AWS/EC2 InstanceEBSThroughputExceededCheck", "held", INSTANCE_EBS, LARGER_EBS),
        WatchedLimit(
            "AWS/EBS BurstBalance", "balance", "volume burst credits",
            "take gp3, or a larger volume, whose baseline is higher",
        ),
        WatchedLimit("AWS/EC2 EBSIOBalance%", "balance", INSTANCE_EBS, LARGER_EBS),
        WatchedLimit("AWS/EC2 EBSByteBalance%", "balance", INSTANCE_EBS, LARGER_EBS),
    )  # fmt: skip
    layers = tuple(
        layer_pairs(
            "volume in CloudWatch",
            read_bytes="AWS/EBS VolumeReadBytes",
            write_bytes="AWS/EBS VolumeWriteBytes",
            read_operations="AWS/EBS VolumeReadOps",
            write_operations="AWS/EBS VolumeWriteOps",
        )
    )
    reached_by = "NVMe"
    counters = {"ebs": "disk"}

    def of_volume(self, volume_type: str | None) -> tuple[Metric, ...]:
        """Return the metrics of a volume, with those of its burst credits if the type has credits."""
        return (*_ALWAYS, *(_CREDITS if volume_type in BURSTING_TYPES else ()), *_NITRO, THROUGHPUT)

    def is_limited_by_operations(self, storage: StorageFields) -> bool:
        """Return False for HDD volumes."""
        return storage.get("volumeType") not in HDD

    def operations_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return the operations that the kernel sent to the disk, after caches and merging."""
        del storage
        return disk_operations(use)

    def bytes_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return the bytes that the kernel sent to the disk."""
        del storage
        return disk_bytes(use)


METRICS = EbsMetrics()
