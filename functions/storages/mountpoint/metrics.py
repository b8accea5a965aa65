"""What is counted of a bucket that is mounted: no kernel counts requests, and CloudWatch only for a fee."""

from matrix.terms.documents.parts import StorageFields
from storages.contracts.metrics import StorageMetrics


class MountpointMetrics(StorageMetrics):
    """The prefixes that instances mount."""

    reached_by = "HTTPS, by Mountpoint"

    def is_limited_by_operations(self, storage: StorageFields) -> bool:
        """Return False: Mountpoint asks for parts and not for operations, so their rate says nothing of requests."""
        del storage
        return False


METRICS = MountpointMetrics()
