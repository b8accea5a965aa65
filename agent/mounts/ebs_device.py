"""EBS volumes without a file system: the disk itself, or several striped, for a workload that writes all over it.

The serial number of an EBS volume's disk is the volume's id (EBS guide, "Map Amazon EBS volumes to NVMe device names"),
so a disk is found by its id, and not by a name that another volume may have as well. A disk in use or with any data is
refused.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.errors import DeviceRefused
from agent.machine import disks
from agent.mounts import ebs

if TYPE_CHECKING:
    import logging


def tools(mount: dict[str, Any]) -> set[str]:
    """Return the tools that detect data on the disks, and stripe several."""
    return {"blkid"} | ({"mdadm"} if len(mount["devices"]) > 1 else set())


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Wait for this run's own volumes, refuse them unless they are empty and unused, stripe several; return the device.

    `volumes` of the mount are the ids that Launch fleet has recorded for this instance. A volume that `is_filled` from
    a snapshot is only read.
    """
    if len(mount["volumes"]) != len(mount["devices"]):
        raise DeviceRefused(f"{len(mount['devices'])} volumes are wanted, this run has {mount['volumes']} here")
    members = wait_for_volumes(mount["volumes"], log)
    for member in members if not mount.get("is_filled") else ():
        refuse_used(member)
        if ebs.has_file_system(member):
            raise DeviceRefused(f"{member} holds something already, and all of it would be overwritten")
    if len(members) == 1:
        return members[0]
    array = ebs.stripe(members, log)
    refuse_others(array, members)
    return array


def wait_for_volumes(volumes: list[str], log: logging.Logger, timeout_s: float = ebs.TIMEOUT_S) -> list[Path]:
    """Return the devices of volumes once the kernel shows all of them. Raises MountFailed after `timeout_s`."""
    devices = ebs.wait_for(f"the disks of {', '.join(volumes)}", lambda: of_volumes(volumes), timeout_s)
    log.info("the volumes %s are %s", ", ".join(volumes), ", ".join(map(str, devices)))
    return devices


def describe(mount: dict[str, Any], path: Path) -> mounts.Mounted:
    """Describe the device, which is not mounted."""
    return mounts.Mounted(mount["kind"], path, str(path), "raw", "")


def detach(path: Path, log: logging.Logger) -> None:
    """Leave the disk unchanged: it is deleted with the instance."""
    del path, log


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
    entries = [line.split() for line in (root / "proc/self/mountinfo").read_text(encoding="utf-8").splitlines()]
    # mountinfo: id, parent, major:minor, root, mount point (proc(5)).
    points = [fields[4] for fields in entries if fields[2] == number]
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
