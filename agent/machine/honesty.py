"""Whether an fsync that has returned did what it promises: no page of the file may still wait to be written.

Measured from another process than the writer's and by a system call of its own, so that a library that was put before
the writer's calls (libeatmydata) does not answer for it. What a storage keeps in a volatile cache of its own no client
sees.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from collections.abc import Iterable
from pathlib import Path

# cachestat(2), since Linux 6.5; one number on all architectures (include/uapi/asm-generic/unistd.h). Where it is
# missing, the counters of disk or mount alone say what was not written (counters.unseen).
CACHESTAT = 451
RANGE = struct.Struct("=QQ")  # offset and length; 0 is to the end
PAGES = struct.Struct("=5Q")  # in the cache, dirty, under write-back, evicted, recently evicted


def warnings(paths: Iterable[Path]) -> list[str]:
    """The warning of a sample whose synchronised files were not synchronised; none where the kernel cannot say."""
    waiting = [pages for path in paths if (pages := unwritten_pages(path))]
    if not waiting:
        return []
    return [
        f"fsync is not honest: {sum(waiting) * mmap.PAGESIZE} bytes of {len(waiting)} files were still only in this "
        "machine's memory after it had returned, so these writes are no writes to the storage"
    ]


def unwritten_pages(path: Path) -> int | None:
    """Pages of a file that are dirty or just being written; None where the kernel cannot say."""
    pages = ctypes.create_string_buffer(PAGES.size)
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        call = ctypes.CDLL(None).syscall
        if call(CACHESTAT, file, RANGE.pack(0, 0), pages, 0) != 0:
            return None
    finally:
        os.close(file)
    _, dirty, under_write_back, _, _ = PAGES.unpack(pages.raw)
    return int(dirty + under_write_back)
