"""Our file server without a mount: the reader asks it itself, so all that is needed here is a folder for notes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.machine.workspace import remove

if TYPE_CHECKING:
    import logging


def tools(mount: dict[str, Any]) -> set[str]:
    """None."""
    del mount
    return set()


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Make the folder; nothing in it is measured."""
    log.info("using the file server at %s:%d", mount["host"], mount["port"])
    return Path(tempfile.mkdtemp(prefix="storage-matrix-server-"))


def describe(mount: dict[str, Any], path: Path) -> mounts.Mounted:
    """The server; no kernel knows of it."""
    return mounts.Mounted("file-server", path, f"{mount['host']}:{mount['port']}", "file-server", "")


def detach(path: Path, log: logging.Logger) -> None:
    """Remove the folder; the files go with the server."""
    del log
    remove(path)
