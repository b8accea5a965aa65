"""Counts of S3 Files by CloudWatch and the kernel's NFS client (S3 user guide, CloudWatch, read in November 2026)."""

from matrix.storages.metrics import MINUTE_S, ClientCap, StorageMetrics, layer_pairs, metrics_table
from matrix.storages.s3_files import CLIENT_READ_GIBPS, READ_IOPS, WRITE_IOPS
from matrix.terms.documents.parts import StorageFields
from matrix.terms.use import Use, nfs_operations, total

# Ages and pending exports show whether written data had reached the bucket by then.
_OF_FILE_SYSTEM = metrics_table(
    "AWS/S3/Files",
    ("FileSystemId",),
    MINUTE_S,
    """
    DataReadBytes      Sum     bytes
    DataWriteBytes     Sum     bytes
    MetadataReadBytes  Sum     bytes
    MetadataWriteBytes Sum     bytes
    PendingExports     Maximum files
    ExportAge          Maximum s
    ExportFailures     Sum     files
    ImportFailures     Sum     files
    LostAndFoundFiles  Maximum files
    ClientConnections  Sum     connections
    """,
)


class S3FilesMetrics(StorageMetrics):
    """The file system that all instances mount."""

    of_file_system = _OF_FILE_SYSTEM
    bytes = {
        "read": ("AWS/S3/Files DataReadBytes", None),
        "written": ("AWS/S3/Files DataWriteBytes", None),
        "metadata": ("AWS/S3/Files MetadataReadBytes", None),
    }
    clients = "AWS/S3/Files ClientConnections"
    # Direct reads from S3 bypass the file system, so the mount reads more than the file system.
    layers = tuple(
        layer_pairs("S3 Files", read_bytes="AWS/S3/Files DataReadBytes", write_bytes="AWS/S3/Files DataWriteBytes")
    )
    reached_by = "NFS 4.2"
    counters = {"s3-files": "nfs"}
    operations_unit = "writes/s, as which requests count"

    def operations_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return requests per second in units of writes: the file system allows five times as many reads.

        No source gives the part of a metadata request; it counts as a read.
        """
        del storage
        if nfs_operations(use) is None:
            return None
        others = total(use, ("nfs_read_operations_per_s", "nfs_other_operations_per_s")) or 0.0
        return use.get("nfs_write_operations_per_s", 0.0) + others * WRITE_IOPS / READ_IOPS

    def client_cap(self, storage: StorageFields) -> ClientCap:
        """Return 3 GiB/s, which AWS gives for reads only."""
        del storage
        return ClientCap("S3 Files per-client cap", CLIENT_READ_GIBPS * 2**30, "spread the work over more instances")


METRICS = S3FilesMetrics()
