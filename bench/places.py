"""The folder to measure in: a new XFS on a loop device if root may create one, else memory."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

IMAGE_BYTES = 2 << 30


@contextlib.contextmanager
def place(wanted: Path | None) -> Iterator[tuple[Path, str]]:
    """Yield a new folder and the storage below it; remove everything afterwards."""
    with contextlib.ExitStack() as stack:
        if wanted is not None:
            root, what = wanted, f"the folder {wanted}"
        elif os.geteuid() == 0 and shutil.which("mkfs.xfs"):
            root, what = stack.enter_context(xfs_on_a_loop()), "XFS on a loop device"
        else:
            root, what = Path("/dev/shm"), "memory (as root, with xfsprogs, it would be XFS on a loop device)"  # noqa: S108 - memory, to hold disks against
        yield Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-", dir=root))), what


@contextlib.contextmanager
def xfs_on_a_loop() -> Iterator[Path]:
    """Mount a file system with repeatable figures: those of the system's own disk vary by a factor of ten."""
    with tempfile.TemporaryDirectory(prefix="bench-xfs-", dir="/var/tmp") as folder:
        image, mount = Path(folder) / "image", Path(folder) / "mount"
        mount.mkdir()
        with image.open("wb") as stream:
            # Allocate it now: otherwise the first write fills a hole, at the speed of the disk below.
            os.posix_fallocate(stream.fileno(), 0, IMAGE_BYTES)
        subprocess.run(["mkfs.xfs", "-q", str(image)], check=True)
        subprocess.run(["mount", "-o", "loop,noatime", str(image), str(mount)], check=True)
        try:
            yield mount
        finally:
            subprocess.run(["umount", str(mount)], check=True)
