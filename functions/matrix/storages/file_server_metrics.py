"""Metrics of the project's file server: CloudWatch counts nothing, so no run is compared with its own limits."""

from matrix.storages.metrics import StorageMetrics


class FileServerMetrics(StorageMetrics):
    """An instance that serves its volume."""

    reached_by = "NFS"


METRICS = FileServerMetrics()
