"""Counts of FSx for NetApp ONTAP by CloudWatch and by the kernel's NFS client (its guide, file system metrics).

With FileSystemId alone CloudWatch adds up the counts of the servers. A utilization has one value a minute for each
server or aggregate: the largest is that of the busiest one.
"""

from matrix.storages.fsx import OF_CLIENTS, FsxServersMetrics, cache_of_servers, limits_of_servers, of_file_system
from matrix.storages.fsx_ontap import FsxOntapStorage

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


class FsxOntapMetrics(FsxServersMetrics):
    """The servers that all instances mount, their caches and their disks."""

    of_file_system = (*OF_CLIENTS, *_OF_FILE_SYSTEM)
    limits = limits_of_servers(_LARGER, FsxOntapStorage.ceilings.more_operations)
    cache = cache_of_servers(_LARGER)


METRICS = FsxOntapMetrics()
