"""What CloudWatch and the kernel's NFS client count of FSx for NetApp ONTAP (its guide, file system metrics).

With FileSystemId alone CloudWatch adds up what the servers do, and of a share each server or aggregate has a value a
minute: the largest is that of the fullest one.
"""

from storages.fsx.metrics import (
    OF_CLIENTS,
    FsxServersMetrics,
    cache_of_servers,
    limits_of_servers,
    of_file_system,
)
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


class FsxOntapMetrics(FsxServersMetrics):
    """The servers that all instances mount, their caches and their disks."""

    of_file_system = (*OF_CLIENTS, *_OF_FILE_SYSTEM)
    limits = limits_of_servers(_LARGER, FsxOntapStorage.ceilings.more_operations)
    cache = cache_of_servers(_LARGER)


METRICS = FsxOntapMetrics()
