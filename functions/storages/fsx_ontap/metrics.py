"""What CloudWatch and the kernel's NFS client count of FSx for NetApp ONTAP (its guide, file system metrics).

With FileSystemId alone CloudWatch adds up what the servers do, and of a share each server or aggregate has a value a
minute: the largest is that of the fullest one.
"""

from storages.contracts.metrics import ServerCache, WatchedLimit
from storages.fsx.metrics import DISK_LAYERS, DISKS, OF_CLIENTS, FsxMetrics, of_file_system
from storages.fsx_ontap.model import FsxOntapStorage

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
_LARGER = FsxOntapStorage.ceilings.more_throughput


class FsxOntapMetrics(FsxMetrics):
    """The servers that all instances mount, their caches and their disks."""

    of_file_system = (*OF_CLIENTS, *_OF_FILE_SYSTEM)
    disks = DISKS
    limits = (
        WatchedLimit("AWS/FSx FileServerDiskThroughputUtilization", "share", "FSx disk", _LARGER, is_behind_cache=True),
        WatchedLimit("AWS/FSx FileServerDiskIopsUtilization", "share", "FSx disk", _LARGER, is_behind_cache=True),
        WatchedLimit(
            "AWS/FSx DiskIopsUtilization", "share", "FSx disk", FsxOntapStorage.ceilings.more_operations,
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
    layers = (*FsxMetrics.layers, *DISK_LAYERS)
    reached_by = "NFS"
    counters = {"nfs": "nfs"}


METRICS = FsxOntapMetrics()
