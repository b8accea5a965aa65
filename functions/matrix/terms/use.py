"""Resource use of an instance at a point, by names of figures, with sums for several readers.

A `use` has rates per second and shares from 0 to 1. A figure that was not counted is missing.
"""

import math
from collections.abc import Iterable, Mapping

Use = Mapping[str, float]


def total(use: Use, names: Iterable[str]) -> float | None:
    """Return the sum of the known figures; None if none is known."""
    known = [use[name] for name in names if name in use and math.isfinite(use[name])]
    return sum(known) if known else None


def most(use: Use, names: Iterable[str]) -> float | None:
    """Return the largest of the known figures; None if none is known."""
    return max((use[name] for name in names if name in use), default=None)


def disk_operations(use: Use) -> float | None:
    """Return reads and writes per second that the kernel passed to the disk."""
    return total(use, ("disk_read_operations_per_s", "disk_write_operations_per_s"))


def disk_bytes(use: Use) -> float | None:
    """Return bytes per second that the kernel passed to the disk."""
    return total(use, ("disk_read_bytes_per_s", "disk_write_bytes_per_s"))


def nfs_operations(use: Use) -> float | None:
    """Return requests per second to the NFS server."""
    return total(use, tuple(f"nfs_{kind}_operations_per_s" for kind in ("read", "write", "other")))
