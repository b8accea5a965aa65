"""Demand on a storage: capacity, operations per second and throughput."""

from dataclasses import dataclass

MIB = 2**20


@dataclass(frozen=True)
class Demand:
    """Capacity in GiB, operations per second and bytes per second that a storage must provide."""

    gib: float
    iops: float
    bytes_per_s: float

    @property
    def mibps(self) -> float:
        """MiB per second."""
        return self.bytes_per_s / MIB
