"""What CloudWatch and the Lustre client of the instances count of FSx for Lustre (its guide, read in November 2026).

Its guide also has shares of what the servers can do, by server and by target. Whether CloudWatch keeps them for the
file system as a whole it does not say, so no bottleneck is read from them.
"""

from matrix.terms.documents.parts import StorageFields
from matrix.terms.use import Use
from storages.fsx.metrics import OF_CLIENTS, FsxMetrics, of_file_system
from storages.fsx_lustre.model import COST_IN_CREATES, PERSISTENT, speed_of


class FsxLustreMetrics(FsxMetrics):
    """The servers that all instances mount."""

    of_file_system = (*OF_CLIENTS, *of_file_system("FreeDataStorageCapacity Sum bytes"))
    reached_by = "Lustre"
    counters = {"lustre": "lustre"}
    operations_unit = "creates/s, as which metadata operations count"
    counts_written = "lustre_write_bytes_per_s"

    def operations_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return metadata operations as so many creates; None of SCRATCH_2, whose rates AWS does not publish."""
        counted = {name: use.get(f"lustre_{name}_per_s") for name in COST_IN_CREATES}
        if storage.get("deploymentType") != PERSISTENT or None in counted.values():
            return None
        return sum(cost * (counted[name] or 0.0) for name, cost in COST_IN_CREATES.items())

    def bytes_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return bytes with reads weighted by what the disks read and write."""
        read, written = use.get("lustre_read_bytes_per_s"), use.get("lustre_write_bytes_per_s")
        if read is None or written is None:
            return use.get("bytes_per_s")
        return written + read * speed_of(storage).read_weight


METRICS = FsxLustreMetrics()
