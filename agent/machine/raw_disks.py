"""Find the disks that may be written raw, without a file system: empty volumes made for this instance.

The serial number of an EBS volume's disk is the volume's id (EBS guide, "Map Amazon EBS volumes to NVMe device names"),
so a disk is found by its id, and not by a name that another volume may have as well. A disk in use or with any data is
refused.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from agent.errors import DeviceRefused
from agent.machine import disks


def of_volumes(volumes: list[str], root: Path = Path("/")) -> list[Path] | None:
    """Return the devices of volumes, by id and in their order; None if one has not appeared (yet)."""
    by_serial = {disk.serial: root / "dev" / disk.name for disk in disks.all_disks(root) if disk.serial}
    devices = [by_serial.get(volume.replace("-", "", 1)) for volume in volumes]
    return [device for device in devices if device] if volumes and all(devices) else None


def refuse_used(device: Path, root: Path = Path("/")) -> None:
    """Raise DeviceRefused if a disk has partitions, is mounted, swapped to, part of another device, or held open."""
    block = root / "sys/block" / device.name
    partitions = sorted(entry.parent.name for entry in block.glob("*/partition"))
    if partitions:
        raise DeviceRefused(f"{device} has partitions: {', '.join(partitions)}")
    holders = sorted(entry.name for entry in (block / "holders").glob("*"))
    if holders:
        raise DeviceRefused(f"{device} is part of {', '.join(holders)}")
    number = (block / "dev").read_text(encoding="utf-8").strip()
    mounts = [line.split() for line in (root / "proc/self/mountinfo").read_text(encoding="utf-8").splitlines()]
    # mountinfo: id, parent, major:minor, root, mount point (proc(5)).
    points = [fields[4] for fields in mounts if fields[2] == number]
    if points:
        raise DeviceRefused(f"{device} is mounted at {', '.join(points)}")
    if any(
        line.split()[:1] == [str(device)] for line in (root / "proc/swaps").read_text(encoding="utf-8").splitlines()
    ):
        raise DeviceRefused(f"{device} is swapped to")
    try:
        # Of a block device O_EXCL fails while the kernel itself uses it: a mount, an array, a mapper (open(2)).
        os.close(os.open(device, os.O_RDONLY | os.O_EXCL))
    except OSError as err:
        why = "the kernel uses it" if err.errno == errno.EBUSY else err.strerror
        raise DeviceRefused(f"{device} cannot be had alone: {why}") from err


def refuse_others(array: Path, members: list[Path], root: Path = Path("/")) -> None:
    """Raise DeviceRefused where an array consists of anything else than these disks."""
    slaves = sorted(entry.name for entry in (root / "sys/block" / array.name / "slaves").glob("*"))
    if slaves != sorted(member.name for member in members):
        raise DeviceRefused(f"{array} consists of {', '.join(slaves) or 'nothing'}, not of this run's volumes")
