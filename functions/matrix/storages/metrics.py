"""Metrics of a storage in CloudWatch and in the instances' kernels, and how to interpret them.

Each storage has one `StorageMetrics` among its traits. The defaults describe a storage without metrics.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from matrix.terms.documents.parts import StorageFields
from matrix.terms.use import Use, disk_operations

# A metric (`AWS/EBS VolumeReadBytes`), with its statistic if it is not the usual one.
Counted = tuple[str, str | None]

LimitUnit = Literal["IOPS", "bytes/s"]

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
    """A metric of AWS that shows how near a storage or an instance is to a limit.

    - `held`: 1 for a minute that AWS throttled for the most part.
    - `balance`: percent of the credits left.
    - `share`: percent of the limit used.
    """

    metric: str
    says: Literal["held", "balance", "share"]
    name: str
    advice: str
    is_behind_cache: bool = False  # requests that a cache answers do not reach it
    counts: LimitUnit | None = None  # of the same limit by the instances' counters, which AWS knows better
    credits_left: str | None = None  # metric of the percent of credits that raise a `share` limit to `burst`
    burst: str | None = None


@dataclass(frozen=True)
class ServerCache:
    """A cache of the server: the metric of its hits in percent, and the bottleneck's name if it is too small."""

    hits: str
    read: str
    written: str
    name: str
    advice: str


@dataclass(frozen=True)
class MeteredThroughput:
    """Metrics of the throughput that AWS meters and permits per minute, and of the credits that raise the limit."""

    metered: str
    permitted: str
    credits_left: str
    credits_name: str
    more_credits: str


@dataclass(frozen=True)
class ClientCap:
    """Throughput limit of one client of a shared storage, in bytes per second."""

    name: str
    bytes_per_s: float
    advice: str


@dataclass(frozen=True)
class Burst:
    """A limit of the whole storage that credits raise for some time, in IOPS or bytes per second."""

    of: str
    counts: LimitUnit
    sustained: float
    most: float
    # Operations or bytes above the sustained rate that a full balance allows; None if AWS does not publish it.
    credits: float | None

    def lasts_s(self, rate: float) -> float | None:
        """Return how many seconds a full balance lasts at a rate above the sustained one. None: unknown.

        Credits are earned at the sustained rate, so only the rate above it uses up the balance.
        """
        return None if self.credits is None else self.credits / (rate - self.sustained)


class StorageMetrics:
    """Metrics of a type of storage, and how to interpret them."""

    has_volumes: bool = False
    """Whether CloudWatch has metrics of each instance's volumes instead of a shared file system."""
    of_file_system: tuple[Metric, ...] = ()
    """Metrics to query for each file system."""
    of_instance: tuple[Metric, ...] = ()
    """Metrics to query for each instance, in addition to those of all storages."""
    bytes: Mapping[str, Counted] = {}
    """Metrics whose sum is the bytes moved, by kind: read, written, metadata."""
    operations: Mapping[str, Counted] = {}
    """Metrics whose sum is the number of operations, by kind: reads, writes, metadata."""
    limits: tuple[WatchedLimit, ...] = ()
    cache: ServerCache | None = None
    metered: MeteredThroughput | None = None
    counters: Mapping[str, Literal["disk", "nfs", "lustre"]] = {}
    """Kernel counters that count the mount's traffic, by kind of mount."""
    operations_unit: str = "IOPS"
    """Unit of AWS's limit of operations."""

    def of_volume(self, volume_type: str | None) -> tuple[Metric, ...]:
        """Return the metrics to query for each volume of this type."""
        del volume_type
        return ()

    def is_limited_by_operations(self, storage: StorageFields) -> bool:
        """Return whether AWS's limit counts operations as instances do, so that their rate can reach it."""
        del storage
        return True

    def is_limited_at_random(self, storage: StorageFields) -> bool:
        """Return whether only requests at random places count as operations, since others are merged before."""
        del storage
        return False

    def operations_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return operations per second as its limit counts them. None if they were not counted."""
        del storage, use
        return None

    def bytes_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return bytes per second as its limit counts them. None if they were not counted."""
        del storage
        read, written = use.get("nfs_read_bytes_per_s"), use.get("nfs_write_bytes_per_s")
        if read is None or written is None:
            return use.get("bytes_per_s")
        return written + read

    def burst_rate(self, storage: StorageFields, burst: Burst, use: Use) -> float | None:
        """Return the rate to compare with a burst limit, in the burst's unit. None if it was not counted."""
        return disk_operations(use) if burst.counts == "IOPS" else self.bytes_of(storage, use)

    def client_cap(self, storage: StorageFields) -> ClientCap | None:
        """Return the limit of one client if it is below the limit of the whole storage, else None."""
        del storage
        return None

    def connections(self, storage: StorageFields) -> int | None:
        """Return over how many TCP connections an instance reaches it. None: over as many as its program opens."""
        del storage
        return None

    def raised_by(self, storage: StorageFields) -> Mapping[str, str]:
        """Return how to raise limits of one storage, by the limit's name, where its type's words do not hold for it."""
        del storage
        return {}

    def lives_on_credits(self, storage: StorageFields) -> bool:
        """Return whether credits raise the limit of `metered`."""
        del storage
        return False


NO_METRICS = StorageMetrics()
