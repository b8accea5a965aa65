"""Our file server, without a mount: the reader connects by itself and only needs a folder for its own files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.machine.workspace import own_folder, remove

if TYPE_CHECKING:
    import logging

# The measured data do not pass through the folder's disk.
IS_BY_REQUESTS = True


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Create the folder, which is not measured; return its path."""
    log.info("using the file server at %s:%d", mount["host"], mount["port"])
    return own_folder()


def describe(mount: dict[str, Any], path: Path) -> mounts.Mounted:
    """Describe the server, which no mount table lists."""
    return mounts.Mounted("file-server", path, f"{mount['host']}:{mount['port']}", "file-server", "")


def detach(path: Path, log: logging.Logger) -> None:
    """Remove the folder; the files go with the server."""
    del log
    remove(path)
