"""A directory of this machine, from the local cloud: nothing is mounted, installed or dropped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts

if TYPE_CHECKING:
    import logging

# The folder of a file system comes when its name is known, which takes 90 s; the rest is patience, as for NFS.
TIMEOUT_S = 300.0
PAUSE_S = 1.0


def attach(mount: dict[str, Any], log: logging.Logger, timeout_s: float = TIMEOUT_S, pause_s: float = PAUSE_S) -> Path:
    """Wait until the directory is there, as for the name of a file system; return its path."""
    path = Path(mount["path"])
    if mount.get("is_made_by_agent"):
        path.mkdir(parents=True, exist_ok=True)
    mounts.persist(
        lambda _left_s: None if path.is_dir() else "it is not there",
        f"the directory {path}",
        "its owner makes it",
        timeout_s=timeout_s,
        pause_s=pause_s,
    )
    log.info("using the directory %s", path)
    return path


def detach(path: Path, log: logging.Logger) -> None:
    """Leave the directory to its owner."""
    del path, log
