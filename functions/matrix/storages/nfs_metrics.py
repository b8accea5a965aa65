"""Counts of an existing NFS export by the kernel's NFS client; CloudWatch has no metrics of it."""

from matrix.storages.metrics import StorageMetrics


class NfsMetrics(StorageMetrics):
    """The export that all instances mount."""

    reached_by = "NFS"
    counters = {"nfs": "nfs"}


METRICS = NfsMetrics()
