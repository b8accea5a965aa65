"""S3 through Mountpoint: the instance's own prefix of a bucket as a file system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.errors import MountFailed
from agent.machine.workspace import disk_folder, own_folder, remove
from agent.programs import containers

if TYPE_CHECKING:
    import logging

# With this option there is a cache, in a folder of this instance.
CACHE_SIZE = "max-cache-size="
_caches: dict[Path, Path] = {}  # by mount point


def tools(mount: dict[str, Any]) -> set[str]:
    del mount
    return {"mount-s3"}


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Mount; Mountpoint's command ends with 0 once the file system is there."""
    path = mounts.MOUNT_POINT
    path.mkdir(parents=True, exist_ok=True)
    options = mount.get("options", "").split(",") if mount.get("options") else []
    if any(option.startswith(CACHE_SIZE) for option in options):
        _caches[path] = own_folder(disk_folder())
        options.append(f"cache={_caches[path]}")
    if mount.get("is_for_containers"):
        # FUSE lets their user in only so, to whom no file can be given (chown). For root all files stay root's: git
        # works in no repository of another user.
        user, group = containers.owner()
        options += ["allow-other", f"uid={user}", f"gid={group}"]
    # Without the slash at its end, the prefix would also match other names that begin with it.
    where = ["--region", mount["region"], "--prefix", f"{mount['prefix']}/"]
    command = ["mount-s3", *where, *(f"--{option}" for option in options), mount["bucket"], str(path)]
    try:
        mounts.run(command)
    except MountFailed:
        _forget_cache(path)
        raise
    log.info("mounted s3://%s/%s at %s", mount["bucket"], mount["prefix"], path)
    return path


def refresh(mount: dict[str, Any], path: Path, log: logging.Logger) -> list[str]:
    """Remount a mount with a cache, so that no step reads cached data of the one before; return no warnings.

    Mountpoint empties its cache when it starts.
    """
    del path  # of a folder on an existing mount
    if mounts.MOUNT_POINT in _caches:
        detach(mounts.MOUNT_POINT, log)
        attach(mount, log)
    return []


def detach(path: Path, log: logging.Logger) -> None:
    """Unmount, and remove the cache."""
    mounts.unmount(path, log)
    _forget_cache(path)


def _forget_cache(path: Path) -> None:
    if path in _caches:
        remove(_caches.pop(path))
