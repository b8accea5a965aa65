"""EFS and FSx for OpenZFS: an NFS mount that waits until the file system's name is known."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts

if TYPE_CHECKING:
    import logging

# The name of a new mount target takes up to 90 s to appear in DNS; the rest is patience with a busy file system.
TIMEOUT_S = 300.0
PAUSE_S = 5.0
MIN_TRY_S = 1.0


def tools(mount: dict[str, Any]) -> set[str]:
    """Return the helper that `mount -t nfs` calls, for every version."""
    del mount
    return {"mount.nfs"}


def attach(
    mount: dict[str, Any],
    log: logging.Logger,
    timeout_s: float = TIMEOUT_S,
    pause_s: float = PAUSE_S,
    fstype: str = "nfs",
    advice: str = "look at its mount targets and at port 2049 in the security groups",
) -> Path:
    """Mount, trying again every `pause_s` until `timeout_s` is over; then MountFailed with the last refusal."""
    path = mounts.MOUNT_POINT
    path.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", fstype, "-o", mount["options"], mount["source"], str(path)]
    mounts.persist(
        lambda left_s: _refusal(command, left_s),
        mount["source"],
        advice,
        timeout_s=timeout_s,
        pause_s=pause_s,
    )
    log.info("mounted %s at %s", mount["source"], path)
    if mount.get("read_ahead_kib"):
        _read_ahead(path, mount["read_ahead_kib"], log)
    return path


def _refusal(command: list[str], left_s: float) -> str | None:
    """Return why it could not be mounted, None if it was. `mount` itself retries where a firewall drops its packets."""
    try:
        result = mounts.command_result(command, min(max(left_s, MIN_TRY_S), mounts.COMMAND_TIMEOUT_S))
    except mounts.Unended as err:
        return str(err)
    return result.stderr.strip() if result.returncode else None


def _read_ahead(path: Path, kib: int, log: logging.Logger) -> None:
    try:
        read_ahead_file(path).write_text(str(kib))
    except OSError as err:
        log.warning("the read-ahead of %s stays as it is: %s", path, err)


def read_ahead_file(path: Path) -> Path:
    """Return the kernel's file with the read-ahead of the path's file system, in KiB."""
    device = path.stat().st_dev
    return Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb")


def describe(mount: dict[str, Any], path: Path) -> mounts.Mounted:
    """Return the mount's entry; its options include the read-ahead, which decides sequential reads."""
    entry = mounts.describe(mount["kind"], path)
    try:
        return replace(entry, options=f"{entry.options},read_ahead_kb={read_ahead_file(path).read_text().strip()}")
    except OSError:
        return entry
