"""EFS and FSx for OpenZFS: an NFS mount that waits until the file system's name is known."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.errors import MountFailed

if TYPE_CHECKING:
    import logging

# The name of a new mount target takes up to 90 s to appear in DNS; the rest is patience with a busy file system.
TIMEOUT_S = 300.0
PAUSE_S = 5.0


def tools(mount: dict[str, Any]) -> set[str]:
    """The helper that `mount -t nfs` calls, for every version."""
    del mount
    return {"mount.nfs"}


def attach(
    mount: dict[str, Any],
    log: logging.Logger,
    timeout_s: float = TIMEOUT_S,
    pause_s: float = PAUSE_S,
    fstype: str = "nfs",
) -> Path:
    """Mount, again and again until the time is over."""
    path = mounts.MOUNT_POINT
    path.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", fstype, "-o", mount["options"], mount["source"], str(path)]
    give_up_at = time.monotonic() + timeout_s
    while True:
        said = mounts.command_result(command)
        if said.returncode == 0:
            log.info("mounted %s at %s", mount["source"], path)
            return path
        log.info("not mounted yet: %s", said.stderr.strip())
        if time.monotonic() + pause_s > give_up_at:
            raise MountFailed(
                f"{mount['source']} could not be mounted within {timeout_s:g} s, lastly: {said.stderr.strip()}; "
                "look at its mount targets and at port 2049 in the security groups"
            )
        time.sleep(pause_s)


def detach(path: Path, log: logging.Logger) -> None:
    """Unmount."""
    mounts.unmount(path, log)
