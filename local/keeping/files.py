"""Files that are whole or not there, whenever their writer is killed; some also when the power goes."""

import errno
import os
import uuid
from pathlib import Path

PARTIAL = ".partial"
# The disk is full, or a quota of its user.
FULL = (errno.ENOSPC, errno.EDQUOT)


def write_whole(path: Path, body: bytes, root: Path, *, is_lasting: bool) -> None:
    """Replace a file atomically; readers see the old content or the new one, never a part. A link is replaced too.

    With `is_lasting` it also survives a power failure: the file, then its entry in each folder up to `root`, are on the
    disk before this returns. That costs a few milliseconds of the disk that a local run measures.
    """
    # If the file existed before, the folders above its own are on the disk already.
    depth = 1 if path.exists() else len(path.relative_to(root).parts)
    refuse_linked_folders(path, root)
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


def refuse_linked_folders(path: Path, root: Path) -> None:
    """Raise OSError if a folder of `path` below `root` is a link, which may lead anywhere: this project writes none."""
    depth = len(path.relative_to(root).parts)
    for folder in path.parents[: depth - 1]:
        if folder.is_symlink():
            raise OSError(errno.ELOOP, "this folder is a link, and may lead anywhere", str(folder))


def overwrite(path: Path, body: bytes) -> None:
    """Overwrite a file in its existing blocks; concurrent readers may see a part."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "r+b") as file:
        file.write(body)
        file.truncate()


def append_line(path: Path, line: bytes) -> None:
    """Append a line to a file. If the previous line was cut off, start a new one; readers skip the incomplete line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o666), "a+b") as file:
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
