"""Metrics of a mounted bucket: none, because no kernel counts its requests, and CloudWatch does so only for a fee."""

from matrix.storages.metrics import StorageMetrics
from matrix.terms.documents.parts import StorageFields


class MountpointMetrics(StorageMetrics):
    """The prefixes that instances mount."""

    reached_by = "HTTPS, by Mountpoint"

    def is_limited_by_operations(self, storage: StorageFields) -> bool:
        """Return False: Mountpoint requests parts, so the rate of operations does not determine that of requests."""
        del storage
        return False


METRICS = MountpointMetrics()
