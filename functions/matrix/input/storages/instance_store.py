"""Instance store: the NVMe disks that some instance types come with, all of them as one."""

import json
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal

from matrix.input.fields import InputModel, Name

_TABLE = Path(__file__).parents[1] / "instance_stores.json"


class InstanceStoreStorage(InputModel):
    """The NVMe instance store of an instance, striped as RAID-0 where it has several disks; gone with the instance."""

    # Its disks come and go with their instances.
    create_and_delete_s: ClassVar[float] = 0.0
    create_and_delete_most_s: ClassVar[float] = 0.0

    type: Literal["instance-store"]
    """Kind of storage."""
    name: Name | None = None
    """Your own name for it, used in ids and tables."""

    @property
    def is_shared(self) -> bool:
        """Whether the instances of a cell share it."""
        return False

    # The disks differ by instance type, and AWS publishes figures for few of them: these are for the estimate of a
    # cell's time only, of the smallest disks (EC2 guide: m6id.large writes 16,771 times 4 KiB a second).

    @property
    def effective_iops(self) -> int:
        """Writes per second that an instance may count on, whatever its type."""
        return 16_000

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Bytes per second that an instance may count on, whatever its type (assumed)."""
        return 150e6

    @property
    def create_latency_s(self) -> float:
        """Seconds that one create takes one thread: a local journalled file system needs no round trip for it."""
        return 0.0001

    @property
    def sync_latency_s(self) -> float:
        """Seconds that one small synchronous write takes beyond its bytes (assumed)."""
        return 0.0005

    @property
    def slug(self) -> str:
        """Readable id."""
        return self.type


@cache
def stores() -> dict[str, tuple[int, int]]:
    """Return the disks and the GB (10^9 bytes) of each, by the instance type that has them."""
    families: dict[str, dict[str, list[int]]] = json.loads(_TABLE.read_text(encoding="utf-8"))["types"]
    return {
        f"{family}.{size}": (disks, gb) for family, sizes in families.items() for size, (disks, gb) in sizes.items()
    }


def room_gib(instance_type: str) -> float:
    """Return the GiB of all disks of an instance type together, 0 where it has none."""
    disks, gb = stores().get(instance_type, (0, 0))
    return disks * gb * 1e9 / 2**30
