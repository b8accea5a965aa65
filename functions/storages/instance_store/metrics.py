"""What the kernel counts of an instance's own disks; CloudWatch counts nothing of them."""

from storages.contracts.metrics import StorageMetrics


class InstanceStoreMetrics(StorageMetrics):
    """The disks of each instance."""

    reached_by = "NVMe"
    counters = {"instance-store": "disk"}


METRICS = InstanceStoreMetrics()
