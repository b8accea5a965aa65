"""Counts of a directory bucket: requests, by the agent's engine. CloudWatch's cost extra and are not queried."""

from matrix.storages.metrics import StorageMetrics
from matrix.terms.documents.parts import StorageFields
from matrix.terms.use import Use


class S3ExpressMetrics(StorageMetrics):
    """The directory bucket that all instances read and write."""

    reached_by = "HTTPS"

    def operations_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return requests per second."""
        del storage
        return use.get("requests_per_s")


METRICS = S3ExpressMetrics()
