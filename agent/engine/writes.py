"""The write engine: blocks of files one after the other, synchronised with each or once at the end, as dd does it."""

from __future__ import annotations

import errno
import json
import mmap
import os
import sys
import time
from typing import Any

from agent.engine import crew
from agent.engine.emulation import EmulatedStorage

# Each block written begins at another page of so much random data: what a storage would find again is far apart.
WINDOW_BYTES = 1 << 20


def main() -> None:
    """Prepare, wait at the gate, write, report."""
    plan = json.loads(sys.argv[1])
    pilot: dict[str, float] = {}
    if plan["mode"] == "auto" and plan["sync"] == "end":
        # Copying to the page cache is all processor: threads would wait for each other's interpreter.
        plan["mode"] = "processes"
    elif plan["mode"] == "auto":
        pilot = measure_pilot(plan)
    crew.work(plan, pilot, lambda number, _: prepare(plan, number))


def measure_pilot(plan: dict[str, Any]) -> dict[str, float]:
    """Wall and processor time of one block, in a file beside the measured ones."""
    path = f"{plan['pilot_directory']}/pilot"
    writer = Writer(plan, path)
    try:
        return crew.measure_pilot(lambda number: writer.write(number - 1))
    finally:
        os.unlink(path)  # noqa: PTH108 pathlib would cost the start of the engine 5 ms


def prepare(plan: dict[str, Any], number: int) -> crew.Loop:
    """One worker's open file and what it writes, made before its time begins."""
    writer = Writer(plan, plan["paths"][number])
    return lambda: writer.write_all(plan["blocks"])


class Writer:
    """An open file and the blocks that go to it."""

    def __init__(self, plan: dict[str, Any], path: str) -> None:
        """Open the file; nothing is written yet."""
        self._size: int = plan["block_bytes"]
        self._is_synchronous = plan["sync"] == "block"
        self._storage = EmulatedStorage.of(plan)
        # What an emulated storage has is safe when it says so; this machine's disk must not add its own time.
        is_really_synchronous = self._is_synchronous and self._storage is None
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_SYNC if is_really_synchronous else 0)
        self._file = os.open(path, flags, 0o666)
        self._blocks = blocks_of(self._size, plan["source"])

    def write_all(self, blocks: int) -> list[int]:
        """Write the blocks; returns the clock (monotonic ns) before the first and after each."""
        now, stamps = time.monotonic_ns, [time.monotonic_ns()]
        for number in range(blocks):
            self.write(number)
            stamps.append(now())
        if not self._is_synchronous:
            # The last block is only written when all are on the storage.
            self.synchronise()
            stamps[-1] = now()
        return stamps

    def write(self, number: int) -> None:
        """Write one block at its place, no faster than the emulated storage."""
        due_ns = 0
        if self._storage is not None:
            due_ns = self._storage.write(self._size, is_synchronous=self._is_synchronous)
        block = self._blocks[number % len(self._blocks)]
        if os.pwrite(self._file, block, number * self._size) != self._size:
            raise OSError(errno.EIO, f"block {number} of {self._size} bytes was not written as a whole")
        if self._storage is not None:
            self._storage.wait(due_ns)

    def synchronise(self) -> None:
        """Wait until everything written is on the storage."""
        if self._storage is None:
            os.fsync(self._file)
        else:
            self._storage.wait(self._storage.synchronise())


def blocks_of(size: int, source: str) -> list[Any]:
    """What is written: one block of zeros, or random ones that begin at different pages."""
    if source == "zero":
        return [mmap.mmap(-1, size)]
    memory = mmap.mmap(-1, size + WINDOW_BYTES)
    for start in range(0, len(memory), WINDOW_BYTES):
        memory[start : start + WINDOW_BYTES] = os.urandom(min(WINDOW_BYTES, len(memory) - start))
    view = memoryview(memory)
    return [view[start : start + size] for start in range(0, WINDOW_BYTES, mmap.PAGESIZE)]


if __name__ == "__main__":
    main()
