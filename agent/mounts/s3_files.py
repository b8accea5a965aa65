"""S3 Files by its mount helper (amazon-efs-utils 3): NFS 4.2 through a proxy of this instance, over TLS and IAM."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.mounts import nfs

if TYPE_CHECKING:
    import logging

# Only with direct reads the proxy caches its read-ahead from S3 (s3files-utils.conf, readahead_cache_enabled).
WITHOUT_CACHE = "nodirects3read"


def tools(mount: dict[str, Any]) -> set[str]:
    """Return the helper that `mount -t s3files` calls; amazon-efs-utils has it since version 3.0."""
    del mount
    return {"mount.s3files"}


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Mount, trying again until the timeout: names and policies take minutes to take effect."""
    return nfs.attach(mount, log, fstype="s3files")


def refresh(mount: dict[str, Any], path: Path, log: logging.Logger) -> list[str]:
    """Remount, so that no step reads the proxy's cached data of the one before; return no warnings.

    Dropping the kernel's pages leaves up to 1 GiB in the memory of the proxy, which ends with the mount.
    """
    del path  # of a folder on an existing mount
    if WITHOUT_CACHE not in mount["options"].split(","):
        mounts.unmount(mounts.MOUNT_POINT, log)
        attach(mount, log)
    return []


describe = nfs.describe
