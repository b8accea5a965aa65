"""EFS by its mount helper (amazon-efs-utils): NFS through a proxy of this instance, over TLS, signed for IAM."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.mounts import nfs

if TYPE_CHECKING:
    import logging


def tools(mount: dict[str, Any]) -> set[str]:
    """Return the helper that `mount -t efs` calls."""
    del mount
    return {"mount.efs"}


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Mount, trying again until the timeout: names and file system policies take minutes to take effect."""
    return nfs.attach(mount, log, fstype="efs")


describe = nfs.describe
