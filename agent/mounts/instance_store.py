"""The NVMe disks that an instance type comes with: all of them, striped if they are several."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.errors import MountFailed
from agent.machine import disks, wear
from agent.mounts import ebs

if TYPE_CHECKING:
    import logging


def tools(mount: dict[str, Any]) -> set[str]:
    """Return the tools that detect a file system, make one, and stripe several disks."""
    return {f"mkfs.{mount['fstype']}", "blkid"} | ({"mdadm"} if len(disks.instance_stores()) > 1 else set())


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Stripe the disks if they are several, then mount; unlike volumes they are there from the start."""
    devices = disks.instance_stores()
    if not devices:
        there = [f"{disk.name} ({disk.model or disk.serial})" for disk in disks.all_disks()]
        raise MountFailed(f"this instance has no NVMe instance store; its disks are {there}; choose a type with one")
    log.info("instance store: %s", ", ".join(map(str, devices)))
    if mount.get("precondition"):
        wear.write_all(devices, mount["precondition"], log)
    return ebs.mount_disk(devices[0] if len(devices) == 1 else ebs.stripe(devices, log), mount["fstype"], log)


def refresh(mount: dict[str, Any], path: Path, log: logging.Logger) -> list[str]:
    """Trim blocks that the step before has left unused, so that each step has the same flash; return warnings.

    Disks that were preconditioned on purpose stay so.
    """
    if mount.get("precondition"):
        return []
    try:
        trimmed = mounts.command_result(["fstrim", "-v", str(path)])
    except MountFailed as err:
        return [f"the flash is not as fresh as before the first step: {err}"]
    if trimmed.returncode != 0:
        return [f"the flash is not as fresh as before the first step: {trimmed.stderr.strip()}"]
    log.info("%s", trimmed.stdout.strip())
    return []
