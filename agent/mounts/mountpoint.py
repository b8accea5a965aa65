"""S3 through Mountpoint: the instance's own prefix of a bucket as a file system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.errors import MountFailed

if TYPE_CHECKING:
    import logging

    from agent.mounts import mountpoint

    _KIND: mounts.MountModule = mountpoint


def tools(mount: dict[str, Any]) -> set[str]:
    """Return Mountpoint itself."""
    del mount
    return {"mount-s3"}


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Mount; Mountpoint's command ends with 0 once the file system is there."""
    path = mounts.MOUNT_POINT
    path.mkdir(parents=True, exist_ok=True)
    # The slash at its end: without it the prefix would also match other names that begin with it.
    command = ["mount-s3", "--region", mount["region"], "--prefix", f"{mount['prefix']}/", mount["bucket"], str(path)]
    result = mounts.command_result(command)
    if result.returncode != 0:
        raise MountFailed(f"'{' '.join(command)}' ended with {result.returncode}: {result.stderr.strip()}")
    log.info("mounted s3://%s/%s at %s", mount["bucket"], mount["prefix"], path)
    return path


def describe(mount: dict[str, Any], path: Path) -> mounts.Mounted:
    """Describe it as the kernel does."""
    return mounts.describe(mount["kind"], path)


def detach(path: Path, log: logging.Logger) -> None:
    """Unmount."""
    mounts.unmount(path, log)
