"""EFS by its mount helper (amazon-efs-utils): NFS through a proxy of this instance, over TLS, signed for IAM."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.mounts import nfs

if TYPE_CHECKING:
    import logging

    from agent.mounts import efs

    _KIND: mounts.MountModule = efs


def tools(mount: dict[str, Any]) -> set[str]:
    """Return the helper that `mount -t efs` calls."""
    del mount
    return {"mount.efs"}


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Mount, trying again until the timeout: names and file system policies take minutes to take effect."""
    return nfs.attach(mount, log, fstype="efs")


def describe(mount: dict[str, Any], path: Path) -> mounts.Mounted:
    """Describe it as any other NFS mount."""
    return nfs.describe(mount, path)


def detach(path: Path, log: logging.Logger) -> None:
    """Unmount; the helper's watchdog ends the proxy."""
    mounts.unmount(path, log)
