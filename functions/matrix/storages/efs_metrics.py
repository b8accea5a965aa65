"""Counts of EFS by CloudWatch and by the kernel's NFS client (EFS guide, CloudWatch metrics, read in November 2026)."""

from matrix.fields import limits
from matrix.storages.efs import READ_WEIGHT, EfsStorage, most_operations
from matrix.storages.metrics import (
    MINUTE_S,
    ClientCap,
    LayerPair,
    MeteredThroughput,
    StorageMetrics,
    WatchedLimit,
    layer_pairs,
    metrics_table,
)
from matrix.terms.documents.parts import StorageFields
from matrix.terms.use import Use, nfs_operations, total

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


class EfsMetrics(StorageMetrics):
    """The file system that all instances mount."""

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
    clients = "AWS/EFS ClientConnections"
    limits = (WatchedLimit("AWS/EFS PercentIOLimit", "share", "EFS IOPS limit", EfsStorage.ceilings.more_operations),)
    metered = MeteredThroughput(
        "AWS/EFS MeteredIOBytes",
        "AWS/EFS PermittedThroughput",
        "AWS/EFS BurstCreditBalance",
        "EFS burst credits",
        "use throughputMode elastic or provisioned, or store more data",
    )
    # SampleCount is "the count of data read operations", and of write operations.
    layers = (
        *layer_pairs("EFS", read_bytes="AWS/EFS DataReadIOBytes", write_bytes="AWS/EFS DataWriteIOBytes"),
        LayerPair("read", "operations", "mount", "EFS", "AWS/EFS DataReadIOBytes", "SampleCount"),
        LayerPair("write", "operations", "mount", "EFS", "AWS/EFS DataWriteIOBytes", "SampleCount"),
    )
    reached_by = "NFS 4.1"
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


METRICS = EfsMetrics()
