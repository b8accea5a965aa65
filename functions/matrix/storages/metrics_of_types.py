"""The metrics of each type of storage: METRICS of its module `<type>_metrics.py`."""

from collections.abc import Mapping
from importlib import import_module
from typing import Literal

from matrix.storages.metrics import StorageMetrics
from matrix.storages.models import MODELS


def _of_type(kind: str) -> StorageMetrics:
    metrics: StorageMetrics = import_module(f"matrix.storages.{kind.replace('-', '_')}_metrics").METRICS
    return metrics


METRICS: Mapping[str, StorageMetrics] = {kind: _of_type(kind) for kind in MODELS}
# By the kind of mount. The root volume is a disk like others.
COUNTERS: Mapping[str, Literal["disk", "nfs", "lustre"]] = {
    "root": "disk",
    **{kind: counter for metrics in METRICS.values() for kind, counter in metrics.counters.items()},
}
_UNKNOWN = StorageMetrics()


def metrics_of(kind: object) -> StorageMetrics:
    """Return the metrics of a type of storage. An unknown type, such as a published one, has none."""
    return METRICS.get(str(kind), _UNKNOWN)
