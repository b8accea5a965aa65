"""Files that are whole or not there, whenever their writer is killed; some also when the power goes."""

import errno
import os
import uuid
from pathlib import Path

PARTIAL = ".partial"
# The disk, or what its owner may have of it.
FULL = (errno.ENOSPC, errno.EDQUOT)


def write_whole(path: Path, body: bytes, root: Path, *, is_lasting: bool) -> None:
    """Put a file in place of what stood there; readers see the old one or the new one, never a part.

    `is_lasting` also holds against a loss of power: the file, then its entry in each folder up to `root`, are on the
    disk before this returns. It costs some milliseconds of the disk that a local run measures.
    """
    # Of a file that stood there before, the folders above its own are on the disk already.
    depth = 1 if path.exists() else len(path.relative_to(root).parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{uuid.uuid4().hex}{PARTIAL}")
    try:
        with partial.open("wb") as file:
            file.write(body)
            if is_lasting:
                file.flush()
                os.fsync(file.fileno())
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    if is_lasting:
        for folder in path.parents[:depth]:
            _sync_folder(folder)


def overwrite(path: Path, body: bytes) -> None:
    """Replace what a file holds in the blocks that it has; whoever reads meanwhile may see a part."""
    with path.open("r+b") as file:
        file.write(body)
        file.truncate()


def append_line(path: Path, line: bytes) -> None:
    """Add a line to a file; one that was cut off begins a line of its own, which its reader leaves out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            line = line if file.read(1) == b"\n" else b"\n" + line
        file.write(line + b"\n")


def remove_partial(folder: Path) -> int:
    """Remove the files whose writers were killed; return how many there were."""
    partial = list(folder.rglob(f".*{PARTIAL}"))
    for path in partial:
        path.unlink(missing_ok=True)
    return len(partial)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
