"""EBS volumes: find the disks they have become, stripe several, make a file system if there is none, mount it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.errors import MountFailed
from agent.mounts import disks

if TYPE_CHECKING:
    import logging

TIMEOUT_S = 180.0
PAUSE_S = 0.5
ARRAY = Path("/dev/md0")
# Without discarding the whole disk first: EC2 hands disks out trimmed (EC2 guide, instance store TRIM support), and
# terabytes of them take minutes.
MAKE = {"xfs": ["mkfs.xfs", "-q", "-K"], "ext4": ["mkfs.ext4", "-q", "-F", "-E", "nodiscard"]}
FOUND_NOTHING = 2  # blkid's exit status for a disk without any signature


def tools(mount: dict[str, Any]) -> set[str]:
    """What makes the file system, what looks whether there is one, and what stripes."""
    return {f"mkfs.{mount['fstype']}", "blkid"} | ({"mdadm"} if len(mount["devices"]) > 1 else set())


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Wait for the volumes, stripe them if they are several, then mount."""
    found = [wait_for_disk(device, log) for device in mount["devices"]]
    return mount_disk(found[0] if len(found) == 1 else stripe(found, log), mount["fstype"], log)


def mount_disk(disk: Path, fstype: str, log: logging.Logger) -> Path:
    """Make a file system on the disk if there is none, and mount it."""
    if not has_file_system(disk):
        _run([*MAKE.get(fstype, [f"mkfs.{fstype}"]), str(disk)])
    path = mounts.MOUNT_POINT
    path.mkdir(parents=True, exist_ok=True)
    # Without noatime each read of a file is also a write.
    _run(["mount", "-t", fstype, "-o", "noatime", str(disk), str(path)])
    log.info("mounted %s at %s", disk, path)
    return path


def detach(path: Path, log: logging.Logger) -> None:
    """Unmount; an array stays, it goes with the instance."""
    mounts.unmount(path, log)


def stripe(volumes: list[Path], log: logging.Logger) -> Path:
    """One disk over all volumes, with mdadm's own chunk of 512 KiB, as the published RAID-0 was made."""
    count = f"--raid-devices={len(volumes)}"
    # --run: volumes that were used before would be asked about, and nobody is there to answer.
    _run(["mdadm", "--create", str(ARRAY), "--run", "--level=0", count, *map(str, volumes)])
    log.info("%s stripes %s", ARRAY, ", ".join(map(str, volumes)))
    return ARRAY


def wait_for_disk(device: str, log: logging.Logger, timeout_s: float = TIMEOUT_S, root: Path = Path("/")) -> Path:
    """The volume's device once the kernel shows it."""
    give_up_at = time.monotonic() + timeout_s
    while True:
        disk = disks.find(device, root)
        if disk is not None:
            log.info("the volume %s is %s", device, disk)
            return disk
        if time.monotonic() > give_up_at:
            raise MountFailed(
                f"no volume appeared at {device} within {timeout_s:g} s; "
                f"the disks are {[disk.name for disk in disks.all_disks(root)]}"
            )
        time.sleep(PAUSE_S)


def has_file_system(disk: Path) -> bool:
    """Whether the disk carries anything: a volume from a snapshot is used as it is, and nothing is ever overwritten."""
    said = mounts.command_result(["blkid", "-p", str(disk)])
    if said.returncode not in (0, FOUND_NOTHING):
        raise MountFailed(f"blkid cannot say whether {disk} is empty: {said.stderr.strip() or said.stdout.strip()}")
    return said.returncode == 0


def _run(command: list[str]) -> None:
    said = mounts.command_result(command)
    if said.returncode != 0:
        raise MountFailed(f"'{' '.join(command)}' ended with {said.returncode}: {said.stderr.strip()}")
