"""Instance store: the NVMe disks that belong to some instance types, striped as one."""

import json
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from matrix.fields.types import Rule
from matrix.storages.base import Storage, Traits, Words
from matrix.storages.metrics import StorageMetrics
from matrix.terms.problems import Problems, Weight

# Seconds to write all disks of an instance once: the 118 GB of an m6id.large at 150 MB/s. Larger disks are assumed to
# be faster in about the same proportion.
PASS_S = 800.0
MAX_PASSES = 4
_TABLE = Path(__file__).with_name("instance_stores.json")


class InstanceStoreMetrics(StorageMetrics):
    """Counts of an instance's own disks by the kernel; CloudWatch has no metrics of them."""

    counters = {"instance-store": "disk"}


class InstanceStoreStorage(Storage):
    """The NVMe instance store of an instance, striped as RAID-0 where it has several disks; gone with the instance."""

    traits: ClassVar[Traits] = Traits(
        is_shared=False,
        are_limits_published=False,  # of few instance types only
        words=Words(
            "Instance store",
            "Instance store",
            {"precondition": "written {} times"},
            in_ids={"precondition": "written-{}x"},
        ),
        usual_instance_type="m6id.large",
        metrics=InstanceStoreMetrics(),
        # A create in a local journalled file system needs no network round trip.
        create_latency_s=0.0001,
        sync_latency_s=0.0005,  # assumed
        # Only the instance knows the number of its disks
        tools=frozenset({"mkfs.xfs", "mdadm"}),
    )

    type: Literal["instance-store"]
    """Kind of storage."""
    precondition: Annotated[int | None, Field(ge=1, le=MAX_PASSES, examples=[2])] = None
    """Number of times that all disks are written before the first step. Default: they are trimmed before each step."""

    # The disks differ by instance type, and AWS publishes figures for few of them: these values are only for the
    # estimate of a cell's time, for the smallest disks (EC2 guide: m6id.large writes 16,771 times 4 KiB a second).

    @property
    def effective_iops(self) -> int:
        """Assumed writes per second of an instance, whatever its type."""
        return 16_000

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Assumed bytes per second of an instance, whatever its type."""
        return 150e6

    @property
    def precondition_s(self) -> float:
        """Seconds for writing all of its disks as often as `precondition` says."""
        return (self.precondition or 0) * PASS_S

    def unfit(self, instance_type: str) -> tuple[str, str] | None:
        """Return that the type has no disks, and a type that has some: its sibling, or another one."""
        if instance_type in stores():
            return None
        family = f"{instance_type.partition('.')[0]}d."
        sibling = instance_type.replace(f"{family[:-2]}.", family)
        rule = "has no NVMe instance store (instance_stores.json lists the types that have one)"
        return rule, sibling if sibling in stores() else "m6id.4xlarge"

    def capacity_gib(self, instance_type: str) -> float | None:
        """Return the GiB of all disks of the instance type."""
        return capacity_gib(instance_type)

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (fresh_flash_is_known,)


def fresh_flash_is_known(part: InstanceStoreStorage) -> Problems:
    """Yield a warning if the disks are not preconditioned before the first step."""
    if part.precondition is None:
        rule = "unless given, its flash is measured fresh; once all of it was written, SSDs write 2 to 10 times slower"
        fix = "write precondition 2 for what it does in the long run (SNIA's performance test specification)"
        yield part.problem("precondition", rule, fix, weight=Weight.UNFAIR, value=None)


@cache
def stores() -> dict[str, tuple[int, int]]:
    """Return the disks and the GB (10^9 bytes) of each, by the instance type that has them."""
    families: dict[str, dict[str, list[int]]] = json.loads(_TABLE.read_text(encoding="utf-8"))["types"]
    return {
        f"{family}.{size}": (disks, gb) for family, sizes in families.items() for size, (disks, gb) in sizes.items()
    }


def capacity_gib(instance_type: str) -> float:
    """Return the GiB of all disks of an instance type together, 0 if it has none."""
    disks, gb = stores().get(instance_type, (0, 0))
    return disks * gb * 1e9 / 2**30
