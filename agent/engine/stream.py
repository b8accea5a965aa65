"""Write one large file block by block and synchronise it at the end, as `dd bs=… conv=fsync` does.

Run behind the gate of agent.processes. Unlike dd it can write gigabytes that do not compress from a few MiB of memory:
stretches of a random pool, at other places each time round.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator

from agent.engine.worker_pool import read_plan, report, stand_at_the_gate

POOL_BLOCKS = 4
MIN_POOL_BYTES = 1 << 24


def main() -> None:
    """Draw the data, wait at the gate, write, synchronise, report."""
    plan = read_plan()
    blocks = {"random": random_blocks, "zero": zero_blocks}[plan["source"]](plan["block_bytes"])
    next(blocks)  # the pool is drawn now, not in the measured time
    target = os.open(plan["path"], os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o666)
    stand_at_the_gate()
    start_ns = time.monotonic_ns()
    written = write(target, blocks, plan["total_bytes"])
    os.fsync(target)
    os.close(target)
    report({"bytes": written, "start_ns": start_ns, "end_ns": time.monotonic_ns()})


def write(target: int, blocks: Iterator[memoryview], total_bytes: int) -> int:
    """Write that many bytes; returns how many it were."""
    written = 0
    while written < total_bytes:
        block = next(blocks)[: total_bytes - written]
        while block:
            took = os.write(target, block)
            written += took
            block = block[took:]
    return written


def random_blocks(block_bytes: int) -> Iterator[memoryview]:
    """Incompressible blocks without end."""
    pool = memoryview(os.urandom(max(POOL_BLOCKS * block_bytes, MIN_POOL_BYTES)))
    last_start = len(pool) - block_bytes
    while True:
        start = random.randrange(last_start + 1)  # noqa: S311 where a stretch begins is not a secret
        yield pool[start : start + block_bytes]


def zero_blocks(block_bytes: int) -> Iterator[memoryview]:
    block = memoryview(bytes(block_bytes))
    while True:
        yield block
