"""What somebody asks of a storage: how much it keeps, and how fast."""

from dataclasses import dataclass

MIB = 2**20


@dataclass(frozen=True)
class Demand:
    """GiB that it keeps, operations and bytes per second that it shall carry."""

    gib: float
    iops: float
    bytes_per_s: float

    @property
    def mibps(self) -> float:
        """MiB per second."""
        return self.bytes_per_s / MIB
