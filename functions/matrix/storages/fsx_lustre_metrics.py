"""Counts of FSx for Lustre by CloudWatch and by the instances' Lustre client (its guide, read in November 2026).

The guide also has the utilization of servers and targets. It does not say whether CloudWatch keeps these metrics for
the whole file system, so they determine no bottleneck.
"""

from matrix.storages.fsx import OF_CLIENTS, FsxMetrics, of_file_system
from matrix.storages.fsx_lustre import COST_IN_CREATES, PERSISTENT, speed_of
from matrix.terms.documents.parts import StorageFields
from matrix.terms.use import Use


class FsxLustreMetrics(FsxMetrics):
    """The servers that all instances mount."""

    of_file_system = (*OF_CLIENTS, *of_file_system("FreeDataStorageCapacity Sum bytes"))
    reached_by = "Lustre"
    counters = {"lustre": "lustre"}
    operations_unit = "creates/s, as which metadata operations count"
    counts_written = "lustre_write_bytes_per_s"

    def operations_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return metadata operations in units of creates; None for SCRATCH_2, whose rates AWS does not publish."""
        counted = {name: use.get(f"lustre_{name}_per_s") for name in COST_IN_CREATES}
        if storage.get("deploymentType") != PERSISTENT or None in counted.values():
            return None
        return sum(cost * (counted[name] or 0.0) for name, cost in COST_IN_CREATES.items())

    def bytes_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return bytes with reads weighted by the disks' limits of reads and writes."""
        read, written = use.get("lustre_read_bytes_per_s"), use.get("lustre_write_bytes_per_s")
        if read is None or written is None:
            return use.get("bytes_per_s")
        return written + read * speed_of(storage).read_weight


METRICS = FsxLustreMetrics()
