"""EBS volumes without a file system: the disk itself, or several striped, for a workload that writes all over it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.errors import DeviceRefused, MountFailed
from agent.machine import disks, raw_disks
from agent.mounts import ebs
from agent.retrying import GaveUp, NotYet, patience, retried

if TYPE_CHECKING:
    import logging


def tools(mount: dict[str, Any]) -> set[str]:
    """Return the tools that detect data on the disks, and stripe several."""
    return {"blkid"} | ({"mdadm"} if len(mount["devices"]) > 1 else set())


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Wait for this run's own volumes, refuse them unless they are empty and unused, stripe several; return the device.

    `volumes` of the mount are the ids that Launch fleet has recorded for this instance.
    """
    if len(mount["volumes"]) != len(mount["devices"]):
        raise DeviceRefused(f"{len(mount['devices'])} volumes are wanted, this run has {mount['volumes']} here")
    members = wait_for_volumes(mount["volumes"], log)
    for member in members:
        raw_disks.refuse_used(member)
        if ebs.has_file_system(member):
            raise DeviceRefused(f"{member} holds something already, and all of it would be overwritten")
    if len(members) == 1:
        return members[0]
    array = ebs.stripe(members, log)
    raw_disks.refuse_others(array, members)
    return array


def wait_for_volumes(volumes: list[str], log: logging.Logger, timeout_s: float = ebs.TIMEOUT_S) -> list[Path]:
    """Return the devices of volumes once the kernel shows all of them. Raises MountFailed after `timeout_s`."""

    def shown() -> list[Path]:
        devices = raw_disks.of_volumes(volumes)
        if devices is None:
            raise NotYet(f"the disks are {[f'{disk.name} ({disk.serial})' for disk in disks.all_disks()]}")
        return devices

    try:
        devices = retried(f"the disks of {', '.join(volumes)}", shown, patience(timeout_s, ebs.PAUSE_S))
    except GaveUp as err:
        raise MountFailed(f"no disk of {', '.join(volumes)} appeared within {timeout_s:g} s; {err.__cause__}") from err
    log.info("the volumes %s are %s", ", ".join(volumes), ", ".join(map(str, devices)))
    return devices


def describe(mount: dict[str, Any], path: Path) -> mounts.Mounted:
    """Describe the device, which is not mounted."""
    return mounts.Mounted(mount["kind"], path, str(path), "raw", "")


def detach(path: Path, log: logging.Logger) -> None:
    """Leave the disk unchanged: it is deleted with the instance."""
    del path, log
