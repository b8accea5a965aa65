"""S3 without a mount: the reader asks for objects itself, so all that is needed here is a folder for notes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.machine.workspace import remove

if TYPE_CHECKING:
    import logging


def tools(mount: dict[str, Any]) -> set[str]:
    """The library of the Common Runtime where it is wanted; boto3 is there."""
    return {"awscrt"} if mount["client"] == "crt" else set()


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Make the folder; nothing in it is measured."""
    log.info("using s3://%s/%s through %s", mount["bucket"], mount["prefix"], mount["client"])
    return Path(tempfile.mkdtemp(prefix="storage-matrix-s3-"))


def describe(mount: dict[str, Any], path: Path) -> mounts.Mounted:
    """The place in the bucket; no kernel knows of it."""
    return mounts.Mounted("s3", path, f"s3://{mount['bucket']}/{mount['prefix']}", "s3", mount["client"])


def detach(path: Path, log: logging.Logger) -> None:
    """Remove the folder; the objects go with the file system."""
    del log
    remove(path)
