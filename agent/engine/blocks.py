"""The block engine: reads or writes blocks of files, in their order or at random, through the page cache or past it."""

from __future__ import annotations

import contextlib
import errno
import json
import mmap
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from agent.engine import crew
from agent.engine.emulation import EmulatedStorage

# O_DIRECT wants memory and offsets aligned to the device's blocks; pages are.
PAGE_BYTES = mmap.PAGESIZE
# Each block written begins at another page of so much random data: what a storage would find again is far apart.
WINDOW_BYTES = 1 << 20


def main() -> None:
    """Prepare, wait at the gate, move the blocks, report."""
    plan = json.loads(sys.argv[1])
    pilot = {}
    if plan["mode"] == "auto" and not is_answered_by_the_kernel(plan):
        pilot = measure_pilot(plan)
    elif plan["mode"] == "auto":
        # Copying to or from the page cache is all processor: threads reach a quarter of what processes do.
        plan["mode"] = "processes"
    crew.work(plan, pilot, lambda number, _: prepare(plan, number))


def is_answered_by_the_kernel(plan: dict[str, Any]) -> bool:
    """Whether an operation may end in the page cache, without the storage."""
    return not plan["direct"] and plan.get("sync") != "block"


def measure_pilot(plan: dict[str, Any]) -> dict[str, float]:
    """Wall and processor time of one block: read where it will be measured, written to a file beside."""
    path = plan["paths"][0] if plan["operation"] == "read" else f"{plan['pilot_directory']}/pilot"
    span = plan["span_blocks"] if plan["operation"] == "read" else crew.PILOT_OPERATIONS
    mover = Mover(plan, path)
    try:
        return crew.measure_pilot(lambda number: mover.move(range(0, span * mover.size, mover.size)[number % span]))
    finally:
        mover.close()
        if plan["operation"] == "write":
            os.unlink(path)  # noqa: PTH108 pathlib would cost the start of the engine 5 ms


def prepare(plan: dict[str, Any], number: int) -> crew.Loop:
    """One worker's open file, memory and offsets, made before its time begins."""
    mover = Mover(plan, plan["paths"][number])
    offsets = block_offsets(plan, number)
    return lambda: mover.move_all(offsets)


def block_offsets(plan: dict[str, Any], number: int) -> Sequence[int]:
    """Where each block of a worker lies: within its stretch of the file, from the start again where that ends."""
    size, span, count = plan["block_bytes"], plan["span_blocks"], plan["blocks"]
    first = (plan.get("first_blocks") or [0] * plan["threads"])[number]
    stretch = range(first * size, (first + span) * size, size)
    if plan["access"] == "random":
        from random import Random  # its import costs as much as the start of the engine

        # Not a secret but the same in every run of the same matrix, and another for each worker.
        return Random(f"{plan['seed']}/{number}").choices(stretch, k=count)  # noqa: S311
    return stretch[:count] if count <= span else [stretch[n % span] for n in range(count)]


class Mover:
    """An open file and the memory that its blocks come from or go to."""

    def __init__(self, plan: dict[str, Any], path: str) -> None:
        """Open the file; nothing is moved yet."""
        self.size: int = plan["block_bytes"]
        self._is_read = plan["operation"] == "read"
        self._sync = plan.get("sync")
        self._storage = EmulatedStorage.of(plan)
        self._latency_s = latency_s(plan)
        self._is_merged = is_answered_by_the_kernel(plan) and plan["access"] == "sequential"
        # What an emulated storage has is safe and cold when it says so; this machine's disk must not add its own time.
        is_real = self._storage is None
        self._file = open_file(path, self._is_read, is_real and plan["direct"], is_real and self._sync == "block")
        self._blocks = blocks_of(self.size, plan)

    def move_all(self, offsets: Sequence[int]) -> list[int]:
        """Move the blocks; returns the clock (monotonic ns) before the first and after each."""
        now, stamps = time.monotonic_ns, [time.monotonic_ns()]
        append = stamps.append
        if self._is_read and self._storage is None:
            preadv, file, blocks, size = os.preadv, self._file, self._blocks[0], self.size
            for offset in offsets:
                if preadv(file, blocks, offset) != size:
                    raise too_short(offset, size)
                append(now())
            return stamps
        for offset in offsets:
            self.move(offset)
            append(now())
        if self._sync == "end":
            # The last block is only written when all are on the storage.
            self.synchronise()
            stamps[-1] = now()
        return stamps

    def move(self, offset: int) -> None:
        """Move one block, no faster than the emulated storage."""
        storage = self._storage
        due_ns = 0
        if storage is not None:
            due_ns = storage.transfer(self.size, self._latency_s, is_merged=self._is_merged)
        block = self._blocks[offset // self.size % len(self._blocks)]
        moved = os.preadv(self._file, block, offset) if self._is_read else os.pwritev(self._file, block, offset)
        if moved != self.size:
            raise too_short(offset, self.size)
        if storage is not None:
            storage.wait(due_ns)

    def synchronise(self) -> None:
        """Wait until everything written is on the storage."""
        if self._storage is None:
            os.fsync(self._file)
        else:
            self._storage.wait(self._storage.sync())

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def latency_s(plan: dict[str, Any]) -> float:
    """Seconds that one block takes on the emulated storage beside its bytes; none is waited for behind a cache."""
    rule = plan.get("emulation")
    if rule is None:
        return 0.0
    if plan["operation"] == "read":
        return float(rule["read_s"])
    if plan.get("sync") == "block":
        return float(rule["sync_s"])
    return float(rule["write_s"]) if plan["direct"] else 0.0


def open_file(path: str, is_read: bool, is_direct: bool, is_synchronous: bool) -> int:
    """Open as dd does; where a file system knows no O_DIRECT (it has no cache to go past), without it."""
    flags = os.O_RDONLY if is_read else os.O_WRONLY | os.O_CREAT
    flags |= os.O_CLOEXEC | (os.O_SYNC if is_synchronous else 0)
    if is_direct:
        with contextlib.suppress(OSError):
            return os.open(path, flags | os.O_DIRECT, 0o666)
    return os.open(path, flags, 0o666)


def blocks_of(size: int, plan: dict[str, Any]) -> list[list[Any]]:
    """Memory for reads, or what is written: one block of zeros, or random ones that begin at different pages."""
    if plan["operation"] == "read" or plan["source"] == "zero":
        return [[mmap.mmap(-1, size)]]
    memory = mmap.mmap(-1, size + WINDOW_BYTES)
    for start in range(0, len(memory), WINDOW_BYTES):
        memory[start : start + WINDOW_BYTES] = os.urandom(min(WINDOW_BYTES, len(memory) - start))
    view = memoryview(memory)
    return [[view[start : start + size]] for start in range(0, WINDOW_BYTES, PAGE_BYTES)]


def too_short(offset: int, size: int) -> OSError:
    """The error of a block that was not moved as a whole."""
    return OSError(errno.EIO, f"the block of {size} bytes at {offset} was not moved as a whole")


if __name__ == "__main__":
    main()
