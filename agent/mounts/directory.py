"""A directory of this machine, lent by the local cloud: nothing is mounted, installed or dropped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.errors import MountFailed

if TYPE_CHECKING:
    import logging


def tools(mount: dict[str, Any]) -> set[str]:
    """Return no tools."""
    del mount
    return set()


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Create the directory unless it exists; return its path."""
    path = Path(mount["path"])
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise MountFailed(f"the directory {path} cannot be used: {err.strerror}") from err
    log.info("using the directory %s", path)
    return path


def describe(mount: dict[str, Any], path: Path) -> mounts.Mounted:
    """Describe it as the kernel does."""
    return mounts.describe(mount["kind"], path)


def detach(path: Path, log: logging.Logger) -> None:
    """Leave the directory to its owner."""
    del path, log
