"""Counts of S3: requests, by the agent's engine. CloudWatch's request metrics cost extra and are not queried."""

from matrix.storages.metrics import StorageMetrics
from matrix.terms.documents.parts import StorageFields
from matrix.terms.use import Use


class S3Metrics(StorageMetrics):
    """The objects that all instances read."""

    reached_by = "HTTPS"

    def operations_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return requests per second."""
        del storage
        return use.get("requests_per_s")


METRICS = S3Metrics()
