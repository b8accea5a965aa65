"""What the kernel's NFS client counts of an export that exists; CloudWatch counts nothing of it."""

from storages.contracts.metrics import StorageMetrics


class NfsMetrics(StorageMetrics):
    """The export that all instances mount."""

    reached_by = "NFS"
    counters = {"nfs": "nfs"}


METRICS = NfsMetrics()
