"""What is counted of a bucket that is mounted: no kernel counts requests, and CloudWatch only for a fee."""

from storages.contracts.metrics import Document, StorageMetrics


class MountpointMetrics(StorageMetrics):
    """The prefixes that instances mount."""

    reached_by = "HTTPS, by Mountpoint"

    def is_limited_by_operations(self, storage: Document) -> bool:
        """Return False: Mountpoint asks for parts and not for operations, so their rate says nothing of requests."""
        del storage
        return False


METRICS = MountpointMetrics()
