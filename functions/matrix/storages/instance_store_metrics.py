"""Counts of an instance's own disks by the kernel; CloudWatch has no metrics of them."""

from matrix.storages.metrics import StorageMetrics


class InstanceStoreMetrics(StorageMetrics):
    """The disks of each instance."""

    reached_by = "NVMe"
    counters = {"instance-store": "disk"}


METRICS = InstanceStoreMetrics()
