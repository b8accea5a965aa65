"""Traffic of an instance: of its mount, of its work, and of the servers of its storage."""

from collections.abc import Mapping

from matrix.samples.file import Sample, SampleFile
from matrix.storages.models import COUNTERS

# Counters of requests to servers begin so.
SERVERS = ("nfs_", "lustre_")
# Bytes among the work that a program reports. `bytes`, without a direction, were written.
WORKED = ("bytes", "read_bytes", "write_bytes")


def mount_read_bytes(file: SampleFile, sample: Sample) -> float | None:
    """Return the bytes that an instance's mount read.

    None if the kernel does not count them: a folder shares its disk with other users.
    """
    return sample.counters.get(f"{COUNTERS.get(file.mount.kind or '')}_read_bytes")


def of_mount(sample: Sample) -> dict[str, float]:
    """Return the bytes and requests that an instance exchanged with the servers of its storage from start to end."""
    return {
        name: amount
        for name, amount in sample.counters.items()
        if name.startswith(SERVERS) and name.endswith(("_bytes", "_operations"))
    }


def of_work(sample: Sample) -> dict[str, float]:
    """Return the bytes and requests that an instance exchanged with the servers of its storage for its work.

    The kernel counts fio's ramp too, and the program does not. So what was counted beyond the program's own bytes
    belongs to the work for the share of the time that the work took. Empty for a disk, and if nothing was counted.
    """
    counted = of_mount(sample)
    asked = worked_bytes(sample)
    moved = moved_bytes(counted)
    share = max(asked / moved, 1 - sample.overhead_share) if 0 < asked < moved else 1.0
    return {name: amount * share for name, amount in counted.items()}


def worked_bytes(sample: Sample) -> float:
    """Return the bytes in both directions that a program reports as its work."""
    return sum(sample.work.get(name, 0.0) for name in WORKED)


def moved_bytes(counted: Mapping[str, float]) -> float:
    """Return the bytes in both directions among the counters of `of_work`."""
    return sum(amount for name, amount in counted.items() if name.endswith(("_read_bytes", "_write_bytes")))
