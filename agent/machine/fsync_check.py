"""Check that an fsync was effective: after it no page of the file may still wait to be written.

Measured from another process than the writer's and by its own system call, so that a library in front of the writer's
calls (libeatmydata) cannot fake it. A client cannot see a storage's own volatile cache.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from collections.abc import Iterable
from pathlib import Path

# cachestat(2), since Linux 6.5; one number on all architectures (include/uapi/asm-generic/unistd.h). Without it, only
# the counters of disk or mount show missing writes (counters.unseen).
CACHESTAT = 451
RANGE = struct.Struct("=QQ")  # offset and length; 0 is to the end
PAGES = struct.Struct("=5Q")  # in the cache, dirty, under write-back, evicted, recently evicted


def warnings(paths: Iterable[Path]) -> list[str]:
    """Return a warning if fsync left unwritten pages; empty if not, or if the kernel cannot report them."""
    waiting = [pages for path in paths if (pages := unwritten_pages(path))]
    if not waiting:
        return []
    return [
        f"fsync is not honest: {sum(waiting) * mmap.PAGESIZE} bytes of {len(waiting)} files were still only in this "
        "machine's memory after it had returned, so these writes are not writes to the storage"
    ]


def unwritten_pages(path: Path) -> int | None:
    """Return the number of a file's pages that are dirty or being written; None if the kernel cannot report them."""
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
