"""Counts of an existing NFS export by the kernel's NFS client; CloudWatch has no metrics of it."""

from matrix.storages.metrics import StorageMetrics
from matrix.terms.documents.parts import StorageFields


class NfsMetrics(StorageMetrics):
    """The export that all instances mount."""

    reached_by = "NFS"
    counters = {"nfs": "nfs"}

    def connections(self, storage: StorageFields) -> int:
        """Return those that the mount's options ask for, else the kernel's one."""
        options = dict(option.partition("=")[::2] for option in str(storage.get("options", "")).split(","))
        return int(options.get("nconnect") or 1)


METRICS = NfsMetrics()
