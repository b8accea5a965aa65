"""What is counted of our file server: nothing by CloudWatch, so its own limits are not held against a run."""

from storages.contracts.metrics import StorageMetrics


class FileServerMetrics(StorageMetrics):
    """An instance that serves its volume."""

    reached_by = "NFS"


METRICS = FileServerMetrics()
