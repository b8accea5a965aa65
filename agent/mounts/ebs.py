"""EBS volumes: find their disks, stripe several, make a file system if there is none, mount it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from agent import mounts
from agent.errors import MountFailed
from agent.machine import disks
from agent.retrying import GaveUp, NotYet, patience, retried

if TYPE_CHECKING:
    import logging

T = TypeVar("T")
TIMEOUT_S = 180.0
PAUSE_S = 0.5
ARRAY = Path("/dev/md0")
WORK_POINT = Path("/mnt/storage-matrix-work")
# Without discarding the whole disk first, which takes minutes for terabytes: EC2 provides trimmed disks (EC2 guide,
# instance store TRIM support).
MAKE = {"xfs": ["mkfs.xfs", "-q", "-K"], "ext4": ["mkfs.ext4", "-q", "-F", "-E", "nodiscard"]}
FOUND_NOTHING = 2  # blkid's exit status for a disk without any signature


def tools(mount: dict[str, Any]) -> set[str]:
    """Return the tools that detect a file system, make one, and stripe several volumes."""
    return {f"mkfs.{mount['fstype']}", "blkid"} | ({"mdadm"} if len(mount["devices"]) > 1 else set())


def attach(mount: dict[str, Any], log: logging.Logger, path: Path | None = None) -> Path:
    """Wait for the volumes, stripe them if they are several, then mount."""
    disks_of_volumes = [wait_for_disk(device, log) for device in mount["devices"]]
    disk = disks_of_volumes[0] if len(disks_of_volumes) == 1 else stripe(disks_of_volumes, log)
    return mount_disk(disk, mount["fstype"], log, path)


def mount_disk(disk: Path, fstype: str, log: logging.Logger, path: Path | None = None) -> Path:
    """Make a file system on the disk if there is none, and mount it."""
    if not has_file_system(disk):
        mounts.run([*MAKE.get(fstype, [f"mkfs.{fstype}"]), str(disk)])
    path = path or mounts.MOUNT_POINT
    path.mkdir(parents=True, exist_ok=True)
    # noatime: otherwise each read of a file is also a write.
    mounts.run(["mount", "-t", fstype, "-o", "noatime", str(disk), str(path)])
    log.info("mounted %s at %s", disk, path)
    return path


@contextlib.contextmanager
def work_disk(mount: dict[str, Any] | None, log: logging.Logger) -> Iterator[Path | None]:
    """Mount the work volume, for builds or source files beside the storage; None: use the root volume."""
    if mount is None:
        yield None
        return
    path = attach(mount, log, WORK_POINT)
    try:
        yield path
    finally:
        mounts.unmount(path, log)


def stripe(volumes: list[Path], log: logging.Logger) -> Path:
    """Make one disk of all volumes, with mdadm's default chunk of 512 KiB, as the published RAID-0 has it."""
    count = f"--raid-devices={len(volumes)}"
    # --run: mdadm would otherwise ask before it takes volumes that were used before.
    mounts.run(["mdadm", "--create", str(ARRAY), "--run", "--level=0", count, *map(str, volumes)])
    log.info("%s stripes %s", ARRAY, ", ".join(map(str, volumes)))
    return ARRAY


def wait_for_disk(device: str, log: logging.Logger, timeout_s: float = TIMEOUT_S, root: Path = Path("/")) -> Path:
    """Return the volume's device once the kernel shows it. Raises MountFailed after `timeout_s`."""
    disk = wait_for(f"the volume at {device}", lambda: disks.find(device, root), timeout_s, root)
    log.info("the volume %s is %s", device, disk)
    return disk


def wait_for(what: str, find: Callable[[], T | None], timeout_s: float, root: Path = Path("/")) -> T:
    """Return what `find` returns once that is not None. Raises MountFailed after `timeout_s`."""

    def shown() -> T:
        found = find()
        if found is None:
            raise NotYet(f"the disks are {[f'{disk.name} ({disk.serial})' for disk in disks.all_disks(root)]}")
        return found

    try:
        return retried(what, shown, patience(timeout_s, PAUSE_S))
    except GaveUp as err:
        raise MountFailed(f"{what} did not appear within {timeout_s:g} s; {err.__cause__}") from err


def has_file_system(disk: Path) -> bool:
    """Return whether the disk has data: a volume from a snapshot is used unchanged, and never overwritten."""
    blkid = mounts.command_result(["blkid", "-p", str(disk)])
    if blkid.returncode not in (0, FOUND_NOTHING):
        raise MountFailed(f"blkid cannot say whether {disk} is empty: {blkid.stderr.strip() or blkid.stdout.strip()}")
    return blkid.returncode == 0
