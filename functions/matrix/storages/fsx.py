"""CloudWatch metrics with equal names for all kinds of FSx, and the burst that limits writes."""

from collections.abc import Mapping, Sequence

from matrix.storages.metrics import (
    MINUTE_S,
    Burst,
    Metric,
    ServerCache,
    StorageMetrics,
    WatchedLimit,
    metrics_table,
)
from matrix.terms.documents.parts import StorageFields
from matrix.terms.use import Use, total

# The burst limit that applies to writes, but not to reads from the server's cache.
DISK_THROUGHPUT = "FSx disk throughput"
NETWORK_THROUGHPUT = "FSx network"
_DISK = "FSx disk"


def of_file_system(text: str) -> tuple[Metric, ...]:
    """Return the metrics of a file system per minute from a table with name, statistic and unit."""
    return metrics_table("AWS/FSx", ("FileSystemId",), MINUTE_S, text)


OF_CLIENTS = of_file_system("""
    DataReadBytes       Sum bytes
    DataWriteBytes      Sum bytes
    DataReadOperations  Sum operations
    DataWriteOperations Sum operations
    MetadataOperations  Sum operations
""")


class FsxMetrics(StorageMetrics):
    """The servers that all instances mount."""

    bytes = {"read": ("AWS/FSx DataReadBytes", None), "written": ("AWS/FSx DataWriteBytes", None)}
    operations = {
        "reads": ("AWS/FSx DataReadOperations", None),
        "writes": ("AWS/FSx DataWriteOperations", None),
        "metadata": ("AWS/FSx MetadataOperations", None),
    }
    counts_written = "nfs_write_bytes_per_s"
    """Name of the figure with the bytes that an instance's mount has written."""

    def burst_rate(self, storage: StorageFields, burst: Burst, use: Use) -> float | None:
        """Return the written bytes for the burst of the disks, because reads may come from the server's cache."""
        if burst.of == DISK_THROUGHPUT:
            return use.get(self.counts_written)
        return super().burst_rate(storage, burst, use)


class FsxServersMetrics(FsxMetrics):
    """The servers of OpenZFS and ONTAP, which instances mount by NFS: they have caches, and disks behind them."""

    counters = {"nfs": "nfs"}

    def connections(self, storage: StorageFields) -> int:
        """Return those of its mount: the kernel's one, unless more are asked for."""
        return int(storage.get("nconnect") or 1)

    def burst_rate(self, storage: StorageFields, burst: Burst, use: Use) -> float | None:
        """Return requests of the mounts for the burst of IOPS: of a read nobody says whether the cache answered it."""
        if burst.counts == "IOPS":
            return total(use, ("nfs_read_operations_per_s", "nfs_write_operations_per_s"))
        return super().burst_rate(storage, burst, use)


def limits_of_servers(larger: str, more_iops: str, iops: str) -> tuple[WatchedLimit, ...]:
    """Return how near such servers are to their limits; `larger` and `more_iops` say how to raise these.

    `iops` is the name of their burst of IOPS. Utilizations are of what they have always, without credits.
    """
    return (
        WatchedLimit(
            "AWS/FSx FileServerDiskThroughputUtilization",
            "share",
            _DISK,
            larger,
            is_behind_cache=True,
            credits_left="AWS/FSx FileServerDiskThroughputBalance",
            burst=DISK_THROUGHPUT,
        ),
        WatchedLimit(
            "AWS/FSx FileServerDiskIopsUtilization",
            "share",
            _DISK,
            larger,
            is_behind_cache=True,
            credits_left="AWS/FSx FileServerDiskIopsBalance",
            burst=iops,
        ),
        WatchedLimit("AWS/FSx DiskIopsUtilization", "share", _DISK, more_iops, is_behind_cache=True),
        WatchedLimit("AWS/FSx NetworkThroughputUtilization", "share", NETWORK_THROUGHPUT, larger),
        WatchedLimit("AWS/FSx CPUUtilization", "share", "FSx CPU", larger),
    )


def cache_of_servers(larger: str) -> ServerCache:
    """Return the cache of such servers; `larger` says how to enlarge it."""
    return ServerCache(
        "AWS/FSx FileServerCacheHitRatio",
        "AWS/FSx DataReadBytes",
        "AWS/FSx DataWriteBytes",
        "FSx cache",
        f"{larger}, which enlarges the cache, or read less at a time than the cache holds",
    )


def offered_instead(mbps: int, deployment_type: str, offered: Mapping[str, Sequence[int]]) -> str:
    """Return the fix for a throughput (MB/s) that a deployment type does not offer: the nearest, or types that do."""
    # Half-way between two values the larger one: a benchmark that requested more should not get less.
    nearest = min(offered[deployment_type], key=lambda value: (abs(value - mbps), -value))
    others = [other for other, values in offered.items() if mbps in values]
    return f"write {nearest}" + (f", or a deploymentType that has {mbps}: {', '.join(others)}" if others else "")
