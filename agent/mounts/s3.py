"""S3 without a mount: the reader requests objects by itself and only needs a folder for its own files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.machine.workspace import own_folder, remove

if TYPE_CHECKING:
    import logging

# The measured data do not pass through the folder's disk.
IS_BY_REQUESTS = True


def tools(mount: dict[str, Any]) -> set[str]:
    """Return the library of the Common Runtime if the mount uses that client; botocore is always installed."""
    return {"awscrt"} if mount["client"] == "crt" else set()


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Create the folder, which is not measured; return its path."""
    log.info("using s3://%s/%s through %s", mount["bucket"], mount["prefix"], mount["client"])
    return own_folder()


def describe(mount: dict[str, Any], path: Path) -> mounts.Mounted:
    """Describe the place in the bucket, which no mount table lists."""
    return mounts.Mounted("s3", path, f"s3://{mount['bucket']}/{mount['prefix']}", "s3", mount["client"])


def detach(path: Path, log: logging.Logger) -> None:
    """Remove the folder; the objects are deleted with the storage."""
    del log
    remove(path)
