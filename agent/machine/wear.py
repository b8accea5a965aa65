"""Write all of a flash disk, so that the measurement shows its long-term performance and not that of a new disk.

An SSD that was never written has all of its flash free. Once each block was written it must erase old ones for each new
write. SNIA's performance test specification writes twice the capacity, in sequence, before it measures.
"""

from __future__ import annotations

import mmap
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import MountFailed

if TYPE_CHECKING:
    import logging

BLOCK_BYTES = 1 << 20
# Random data for all blocks. Each begins a page later in it than the one before, so neighbours differ.
POOL_BYTES = 16 << 20
# One writer leaves a disk idle between its writes.
WRITERS_PER_DISK = 4


def write_all(disks: list[Path], times: int, log: logging.Logger) -> None:
    """Write every block of all disks at once, `times` over, with random bytes and past the page cache.

    Raises MountFailed where a disk takes less than its size.
    """
    began = time.monotonic()
    pool = mmap.mmap(-1, POOL_BYTES + BLOCK_BYTES)
    pool.write(os.urandom(len(pool)))
    problems: list[str] = []
    for _ in range(times):
        writers = [
            threading.Thread(target=_write_share, args=(disk, number, memoryview(pool), problems))
            for disk in disks
            for number in range(WRITERS_PER_DISK)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
    if problems:
        raise MountFailed(f"a disk could not be written all over: {problems[0]}")
    log.info("wrote all of %d disks %d times in %.0f s", len(disks), times, time.monotonic() - began)


def _write_share(disk: Path, number: int, pool: memoryview, problems: list[str]) -> None:
    """Write one writer's share of a disk: every WRITERS_PER_DISK-th block, so that all together write in sequence."""
    try:
        file = os.open(disk, os.O_WRONLY | os.O_DIRECT)
        try:
            size = os.lseek(file, 0, os.SEEK_END)
            for place in range(number * BLOCK_BYTES, size, WRITERS_PER_DISK * BLOCK_BYTES):
                length = min(BLOCK_BYTES, size - place)
                start = place // BLOCK_BYTES * mmap.PAGESIZE % POOL_BYTES
                if os.pwrite(file, pool[start : start + length], place) != length:
                    problems.append(f"{disk}: a block at {place} was cut short")
                    return
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as err:
        problems.append(f"{disk}: {err}")
