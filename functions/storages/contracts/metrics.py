"""What CloudWatch and the kernels of the instances count of a storage, and what these counts say.

Each storage has one `StorageMetrics`, in its `metrics.py`. The defaults are those of a storage that nobody counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from matrix.terms.documents.parts import StorageFields
from matrix.terms.use import Use, disk_operations
from storages.contracts.bursts import Burst

# A metric (`AWS/EBS VolumeReadBytes`), with its statistic where it is not the usual one.
Counted = tuple[str, str | None]

MINUTE_S, FIVE_MINUTES_S = 60, 300


@dataclass(frozen=True)
class Metric:
    """A metric of one resource, with the statistic that is queried."""

    namespace: str
    name: str
    statistic: str
    unit: str
    period_s: int = MINUTE_S
    dimensions: tuple[str, ...] = ()
    # Computed by CloudWatch from the first two metrics of the resource, {0} and {1}.
    expression: str | None = None


def metrics_table(namespace: str, dimensions: tuple[str, ...], period_s: int, text: str) -> tuple[Metric, ...]:
    """Return the metrics of a table whose lines are name, statistic and unit."""
    rows = (line.split() for line in text.strip().splitlines())
    return tuple(Metric(namespace, name, statistic, unit, period_s, dimensions) for name, statistic, unit in rows)


@dataclass(frozen=True)
class WatchedLimit:
    """A metric by which AWS itself says how near a storage or an instance is to a limit.

    - `held`: 1 in a minute for most of which AWS throttled.
    - `balance`: per cent of the credits that are left.
    - `share`: per cent of the limit that is used.
    """

    metric: str
    says: Literal["held", "balance", "share"]
    name: str
    advice: str
    is_behind_cache: bool = False  # what a cache answers does not reach it


@dataclass(frozen=True)
class ServerCache:
    """A cache of the server: the metric of its hits in per cent, and how a cell that it is too small for is named."""

    hits: str
    read: str
    written: str
    name: str
    advice: str


@dataclass(frozen=True)
class MeteredThroughput:
    """Throughput that AWS meters and permits by the minute, with the credits that raise what is permitted."""

    metered: str
    permitted: str
    credits_left: str
    credits_name: str
    more_credits: str


@dataclass(frozen=True)
class ClientCap:
    """The most that one client can have of a shared storage, in bytes per second."""

    name: str
    bytes_per_s: float
    advice: str


@dataclass(frozen=True)
class LayerPair:
    """Two layers that count the same, the lower by CloudWatch: how much of what one was asked the other saw."""

    way: str
    counts: str
    above: str
    below: str
    metric: str
    statistic: str | None = None
    # The upper layer where it is a metric too, and not the instances' own count.
    above_metric: str | None = None


def layer_pairs(below: str, **metrics: str) -> Iterator[LayerPair]:
    """Yield a pair for each of read_bytes, write_operations … by its metric, with the instances' mounts above."""
    for name, metric in metrics.items():
        way, _, counts = name.partition("_")
        yield LayerPair(way, counts, "mount", below, metric)


class StorageMetrics:
    """What is counted of a type of storage, and how it is read."""

    has_volumes: bool = False
    """Whether CloudWatch counts the volumes of each instance, and not a file system that all share."""
    of_file_system: tuple[Metric, ...] = ()
    """What CloudWatch is asked about each file system."""
    of_instance: tuple[Metric, ...] = ()
    """What CloudWatch is asked about each instance, beside what it is asked about every instance."""
    bytes: Mapping[str, Counted] = {}
    """The metrics that add up to the bytes moved, by what they are of: read, written, metadata."""
    operations: Mapping[str, Counted] = {}
    """The metrics that add up to the operations, by what they are of: reads, writes, metadata."""
    disks: Mapping[str, Sequence[Counted]] = {}
    """Of a server with disks what these moved, by the unit of a chart (MB/s, IOPS)."""
    clients: str = ""
    """The metric that counts connections."""
    limits: tuple[WatchedLimit, ...] = ()
    cache: ServerCache | None = None
    metered: MeteredThroughput | None = None
    layers: tuple[LayerPair, ...] = ()
    reached_by: str = "its mount"
    """By what an instance reaches it, where the run does not say it."""
    counters: Mapping[str, Literal["disk", "nfs", "lustre"]] = {}
    """By the kind of mount, which of the kernel's counters tell what the mount moved."""
    operations_unit: str = "IOPS"
    """What the limit of operations counts, on AWS."""

    def of_volume(self, volume_type: str | None) -> tuple[Metric, ...]:
        """Return what CloudWatch is asked about each volume of this type."""
        del volume_type
        return ()

    def is_limited_by_operations(self, storage: StorageFields) -> bool:
        """Return whether AWS counts its operations as requests, so that a rate of requests can reach a limit."""
        del storage
        return True

    def operations_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return operations per second as its limit counts them; None where nothing has counted them."""
        del storage, use
        return None

    def bytes_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return bytes per second as its limit counts them; None where nothing has counted them."""
        del storage
        read, written = use.get("nfs_read_bytes_per_s"), use.get("nfs_write_bytes_per_s")
        if read is None or written is None:
            return use.get("bytes_per_s")
        return written + read

    def burst_rate(self, storage: StorageFields, burst: Burst, use: Use) -> float | None:
        """Return the rate that a burst is held against, as it counts; None where nothing has counted it."""
        return disk_operations(use) if burst.counts == "IOPS" else self.bytes_of(storage, use)

    def client_cap(self, storage: StorageFields) -> ClientCap | None:
        """Return the most that one client can have, where that is less than the whole."""
        del storage
        return None

    def lives_on_credits(self, storage: StorageFields) -> bool:
        """Return whether credits raise what `metered` permits."""
        del storage
        return False
