"""The write engine: blocks of files one after the other, synchronised with each or once at the end, as dd does it."""

from __future__ import annotations

import errno
import mmap
import os
import time

from agent.engine import worker_pool
from agent.engine.emulation import EmulatedStorage
from agent.engine.stamps import STAMP, stamp

TYPE_CHECKING = False  # see agent.engine.worker_pool
if TYPE_CHECKING:
    from typing import Any

# All workers' blocks come from this much random data (and a block more): 64 GiB without two equal pages of 4 KiB, so
# that a storage cannot deduplicate them, and without repetition within 16 MiB, so that it cannot compress them.
POOL_BYTES = 1 << 24
PAGE_BYTES = 4096
# Blocks start this far apart, so that they do not overlap, and each starts 3 bytes earlier in its page.
SHIFT_BYTES = 3


def main() -> None:
    """Prepare, wait at the gate, write, report."""
    plan = worker_pool.read_plan()
    pilot: dict[str, float] = {}
    if plan["mode"] == "auto" and plan["sync"] == "end":
        # Copying to the page cache is all processor: threads would wait for each other's interpreter.
        plan["mode"] = "processes"
    elif plan["mode"] == "auto":
        pilot = measure_pilot(plan)
    pool = draw_pool(plan["block_bytes"], plan["source"], plan["seed"])
    worker_pool.work(plan, pilot, lambda number, _: prepare(plan, number, pool))


def measure_pilot(plan: dict[str, Any]) -> dict[str, float]:
    """Return wall and processor time of one block, in a file beside the measured ones."""
    path = f"{plan['pilot_directory']}/pilot"
    writer = Writer(plan, path, draw_pool(plan["block_bytes"], plan["source"], plan["seed"]))
    try:
        return worker_pool.measure_pilot(lambda number: writer.write(number - 1))
    finally:
        os.unlink(path)  # noqa: PTH108 pathlib would cost the start of the engine 5 ms


def prepare(plan: dict[str, Any], number: int, pool: memoryview) -> worker_pool.Loop:
    """Open one worker's file, before its time begins."""
    writer = Writer(plan, plan["paths"][number], pool, number)
    return lambda: worker_pool.Timed.closed(writer.write_all(plan["blocks"]))


class Writer:
    """An open file and its blocks."""

    def __init__(self, plan: dict[str, Any], path: str, pool: memoryview, number: int = 0) -> None:
        """Open the file with this number without writing. Blocks count over all files, so all of them differ."""
        self._size: int = plan["block_bytes"]
        self._is_synchronous = plan["sync"] == "block"
        self._storage = EmulatedStorage.of(plan)
        # Writes to an emulated storage are durable by definition; this machine's disk must not add its own time.
        is_really_synchronous = self._is_synchronous and self._storage is None
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_SYNC if is_really_synchronous else 0)
        self._file = os.open(path, flags, 0o666)
        self._pool, self._first_block = pool, number * plan["blocks"]
        self._number, self._seed = number, plan["seed"]

    def write_all(self, blocks: int) -> list[int]:
        """Write the blocks; returns the clock (monotonic ns) before the first and after each."""
        stamps = [time.monotonic_ns()]
        stamps += [self.write(number) for number in range(blocks)]
        if not self._is_synchronous:
            # The last block is only written when all are on the storage.
            stamps[-1] = self.synchronise()
        return stamps

    def write(self, number: int) -> int:
        """Write one block at its place, no faster than the emulated storage. Return its end (monotonic ns)."""
        due_ns = 0
        if self._storage is not None:
            due_ns = self._storage.write(self._size, is_synchronous=self._is_synchronous)
        start = block_start(self._first_block + number, self._size, len(self._pool))
        parts: list[Any] = [self._pool[start : start + self._size]]
        if self._seed is not None:
            parts = [stamp(self._seed, self._number, number), parts[0][STAMP.size :]]
        if os.pwritev(self._file, parts, number * self._size) != self._size:
            raise OSError(errno.EIO, f"block {number} of {self._size} bytes was not written as a whole")
        return time.monotonic_ns() if self._storage is None else self._storage.wait(due_ns)

    def synchronise(self) -> int:
        """Wait until everything written is on the storage. Return that moment (monotonic ns)."""
        if self._storage is not None:
            return self._storage.wait(self._storage.synchronise())
        os.fsync(self._file)
        return time.monotonic_ns()


def draw_pool(block_bytes: int, source: str, seed: int | None) -> memoryview:
    """Return the source of blocks: one block of zeros, or a pool of random bytes and one block more.

    With a seed the same pool can be drawn again for a comparison. Without one it is random.
    """
    if source == "zero":
        return memoryview(mmap.mmap(-1, block_bytes))
    pool = mmap.mmap(-1, POOL_BYTES + block_bytes)
    draw = os.urandom
    if seed is not None:
        import random  # here, because it takes 9 ms, which blocks without a seed save

        draw = random.Random(seed).randbytes  # noqa: S311 no secret
    for start in range(0, len(pool), PAGE_BYTES << 8):
        pool[start : start + (PAGE_BYTES << 8)] = draw(min(PAGE_BYTES << 8, len(pool) - start))
    return memoryview(pool)


def block_start(number: int, block_bytes: int, pool_bytes: int) -> int:
    """Return the start of a block in the pool: each of 4,096 neighbours at another byte of a page.

    The pool has 4,096 pages, so 4,096 strides end SHIFT_BYTES pages before their start. The next 4,096 blocks start
    behind the first ones instead, because otherwise their pages would be the same.
    """
    pages = -(-block_bytes // PAGE_BYTES)
    stride = (pages + 1) * PAGE_BYTES - SHIFT_BYTES
    rounds = number // PAGE_BYTES
    return (number * stride + rounds * (pages + SHIFT_BYTES) * PAGE_BYTES) % max(1, pool_bytes - block_bytes)
