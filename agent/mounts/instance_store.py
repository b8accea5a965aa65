"""The NVMe disks that an instance type comes with: all of them, striped if they are several."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.errors import MountFailed
from agent.mounts import disks, ebs

if TYPE_CHECKING:
    import logging


def tools(mount: dict[str, Any]) -> set[str]:
    """What makes the file system, what looks whether there is one, and what stripes several disks."""
    return {f"mkfs.{mount['fstype']}", "blkid"} | ({"mdadm"} if len(disks.instance_stores()) > 1 else set())


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Stripe the disks if they are several, then mount; they are there from the start, so nothing is waited for."""
    found = disks.instance_stores()
    if not found:
        there = [f"{disk.name} ({disk.model or disk.serial})" for disk in disks.all_disks()]
        raise MountFailed(f"this instance has no NVMe instance store; its disks are {there}; choose a type with one")
    log.info("instance store: %s", ", ".join(map(str, found)))
    return ebs.mount_disk(found[0] if len(found) == 1 else ebs.stripe(found, log), mount["fstype"], log)


def detach(path: Path, log: logging.Logger) -> None:
    """Unmount; the disks and what is on them go with the instance."""
    mounts.unmount(path, log)
