"""Counts of FSx for OpenZFS by CloudWatch and by the kernel's NFS client (its guide, read in November 2026)."""

from matrix.storages.fsx import OF_CLIENTS, FsxServersMetrics, cache_of_servers, limits_of_servers, of_file_system
from matrix.storages.fsx_openzfs import FsxOpenZfsStorage, is_tiered, written_mbps
from matrix.terms.documents.parts import StorageFields
from matrix.terms.use import Use

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


class FsxOpenZfsMetrics(FsxServersMetrics):
    """The server that all instances mount, its cache and its disks."""

    of_file_system = (*OF_CLIENTS, *_OF_FILE_SYSTEM)
    clients = "AWS/FSx ClientConnections"
    limits = limits_of_servers(_LARGER, FsxOpenZfsStorage.ceilings.more_operations)
    cache = cache_of_servers(_LARGER)

    def bytes_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return bytes with reads weighted by the limits of reads and writes: Intelligent-Tiering allows more reads."""
        read, written = use.get("nfs_read_bytes_per_s"), use.get("nfs_write_bytes_per_s")
        if read is None or written is None or not is_tiered(storage):
            return super().bytes_of(storage, use)
        return written + read * written_mbps(storage) / float(storage["throughputCapacityMBps"])


METRICS = FsxOpenZfsMetrics()
