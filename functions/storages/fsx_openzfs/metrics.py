"""What CloudWatch and the kernel's NFS client count of FSx for OpenZFS (its guide, read in November 2026)."""

from collections.abc import Iterator

from matrix.terms.use import Use
from storages.contracts.bursts import Burst
from storages.contracts.metrics import (
    MINUTE_S,
    Document,
    LayerPair,
    ServerCache,
    StorageMetrics,
    WatchedLimit,
    layer_pairs,
    metrics_table,
)
from storages.fsx_openzfs.model import DISK_THROUGHPUT, FsxOpenZfsStorage

_OF_FILE_SYSTEM = metrics_table(
    "AWS/FSx",
    ("FileSystemId",),
    MINUTE_S,
    """
    DataReadBytes                       Sum     bytes
    DataWriteBytes                      Sum     bytes
    DataReadOperations                  Sum     operations
    DataWriteOperations                 Sum     operations
    MetadataOperations                  Sum     operations
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
    """,
)
_DISK = "FSx disk"
_LARGER = "raise throughputCapacityMBps"


def _layers() -> Iterator[LayerPair]:
    yield from layer_pairs(
        "FSx server",
        read_bytes="AWS/FSx DataReadBytes",
        write_bytes="AWS/FSx DataWriteBytes",
        read_operations="AWS/FSx DataReadOperations",
        write_operations="AWS/FSx DataWriteOperations",
    )
    for way in ("Read", "Write"):
        for counts in ("Bytes", "Operations"):
            disks, server = (f"AWS/FSx {whose}{way}{counts}" for whose in ("Disk", "Data"))
            yield LayerPair(way.lower(), counts.lower(), "FSx server", "FSx disks", disks, above_metric=server)


class FsxOpenZfsMetrics(StorageMetrics):
    """The server that all instances mount, its cache and its disks."""

    of_file_system = _OF_FILE_SYSTEM
    bytes = {"read": ("AWS/FSx DataReadBytes", None), "written": ("AWS/FSx DataWriteBytes", None)}
    operations = {
        "reads": ("AWS/FSx DataReadOperations", None),
        "writes": ("AWS/FSx DataWriteOperations", None),
        "metadata": ("AWS/FSx MetadataOperations", None),
    }
    # Limits of FSx's IOPS are those of its disks.
    disks = {
        "MB/s": (("AWS/FSx DiskReadBytes", None), ("AWS/FSx DiskWriteBytes", None)),
        "IOPS": (("AWS/FSx DiskReadOperations", None), ("AWS/FSx DiskWriteOperations", None)),
    }
    clients = "AWS/FSx ClientConnections"
    limits = (
        WatchedLimit("AWS/FSx FileServerDiskThroughputUtilization", "share", _DISK, _LARGER, is_behind_cache=True),
        WatchedLimit("AWS/FSx FileServerDiskIopsUtilization", "share", _DISK, _LARGER, is_behind_cache=True),
        WatchedLimit(
            "AWS/FSx DiskIopsUtilization", "share", _DISK, FsxOpenZfsStorage.ceilings.more_operations,
            is_behind_cache=True,
        ),
        WatchedLimit("AWS/FSx NetworkThroughputUtilization", "share", "FSx network", _LARGER),
        WatchedLimit("AWS/FSx CPUUtilization", "share", "FSx CPU", _LARGER),
    )  # fmt: skip
    cache = ServerCache(
        "AWS/FSx FileServerCacheHitRatio",
        "AWS/FSx DataReadBytes",
        "AWS/FSx DataWriteBytes",
        "FSx cache",
        f"{_LARGER}, which enlarges the cache, or read less at a time than the cache holds",
    )
    layers = tuple(_layers())
    reached_by = "NFS"
    counters = {"nfs": "nfs"}

    def burst_rate(self, storage: Document, burst: Burst, use: Use) -> float | None:
        """Return what is written where the burst is that of the disks: reads may come from the server's cache."""
        if burst.of == DISK_THROUGHPUT:
            return use.get("nfs_write_bytes_per_s")
        return super().burst_rate(storage, burst, use)


METRICS = FsxOpenZfsMetrics()
