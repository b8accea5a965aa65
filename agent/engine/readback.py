"""Read the write engine's stamped blocks back from the storage in a separate process, and compare every byte."""

from __future__ import annotations

import mmap
import os

from agent.engine import worker_pool
from agent.engine.stamps import MARK, STAMP, stamp
from agent.engine.writes import PAGE_BYTES, block_start, draw_pool

TYPE_CHECKING = False  # see agent.engine.worker_pool
if TYPE_CHECKING:
    from typing import Any


def main() -> None:
    """Read all files back; report the number of correct blocks, the way of reading, and the first wrong block."""
    worker_pool.report(read_back(worker_pool.read_plan()))


def read_back(plan: dict[str, Any]) -> dict[str, Any]:
    """Compare every block of the plan's `paths` with the written one. `wrong` names the first that differs."""
    size, blocks, seed = plan["block_bytes"], plan["blocks"], plan["seed"]
    pool = draw_pool(size, plan["source"], seed)
    # O_DIRECT reads whole pages into memory that begins at a page.
    window = memoryview(mmap.mmap(-1, -(-size // PAGE_BYTES) * PAGE_BYTES + PAGE_BYTES))
    how = "O_DIRECT"
    for file, path in enumerate(plan["paths"]):
        descriptor, is_direct = open_past_cache(path)
        if not is_direct:
            how = "the page cache, given back before, as the storage has no O_DIRECT"
        try:
            for block in range(blocks):
                found = read_block(descriptor, window, block * size, size)
                start = block_start(file * blocks + block, size, len(pool))
                wanted = stamp(seed, file, block) + pool[start + STAMP.size : start + size]
                if found != wanted:
                    where = f"block {block} of file {file} ({size} bytes each)"
                    return {"how": how, "wrong": f"{where} {describe(found, wanted)}"}
        finally:
            os.close(descriptor)
    return {"how": how, "blocks": blocks * len(plan["paths"])}


def open_past_cache(path: str) -> tuple[int, bool]:
    """Open a file bypassing the page cache. Return whether by O_DIRECT; else its cached pages were dropped."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECT), True
    except OSError:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return descriptor, False


def read_block(descriptor: int, window: memoryview, start: int, size: int) -> bytes:
    """Return the bytes of a block, fewer at the end of the file; reads whole pages."""
    first = start // PAGE_BYTES * PAGE_BYTES
    span = -(-(start + size) // PAGE_BYTES) * PAGE_BYTES - first
    read = os.preadv(descriptor, [window[:span]], first)
    return bytes(window[start - first : min(read, start - first + size)])


def describe(found: bytes, wanted: bytes) -> str:
    """Describe the content found instead of a block."""
    if len(found) < len(wanted):
        return "is cut off: the file ends within it or before it"
    if found[: STAMP.size] == wanted[: STAMP.size]:
        return "has its stamp, and something else behind it"
    mark, seed, file, block = STAMP.unpack_from(found)
    if mark == MARK:
        own = STAMP.unpack_from(wanted)[1]
        return f"holds block {block} of file {file}" + ("" if seed == own else " of another step")
    return "holds what was never written there" if any(found) else "is empty"
