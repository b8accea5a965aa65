"""A storage of known speed in front of a folder: engines request each operation here first, and wait for its result.

An operation ends at the latest of three moments: when its latency is over, when the storage has paid the operations
(IOPS) and when it has paid the bytes (bytes/s) that came before it and its own. So a fleet that keeps w workers busy
with operations of s bytes reaches exactly min(w / latency, iops, bytes_per_s / s): a truth that an analysis must find.
Reads pay by limits of their own. A mixture gets a part of each limit, as EFS meters it.

A storage may have quirks: a share of slower operations, a stall after every so many operations, a permanent change
after so many (exhausted burst credits, a full cache), a factor for all its latencies.

The paid operations and bytes are in a small file on the emulated storage itself, under a lock: all workers, engines and
instances (processes of one machine, so one monotonic clock) that use the storage contend for it.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
import struct
import time

from agent.engine import worker_pool

TYPE_CHECKING = False  # see agent.engine.worker_pool
if TYPE_CHECKING:
    from typing import Any

BUCKET = ".storage-matrix-emulation"
# A storage without any limit: a run on it measures the cost of the emulation itself.
UNLIMITED: dict[str, Any] = {
    "iops": None, "bytes_per_s": None, "create_s": 0, "create_operations": 1, "read_s": 0, "write_s": 0, "sync_s": 0,
}  # fmt: skip
# Until when the storage's operations and bytes are paid, in monotonic ns; how many operations it has had.
PAID = struct.Struct("=ddq")
# An operation ends when it is due by the storage, not when its worker wakes up. On a busy machine that is later: the
# next one starts at the due time, and would seem to take less than its latency. So delays of timers do not add up.
# Beyond this many seconds the storage counts as idle, and idle time gives no credit.
CATCH_UP_S = 0.05


class EmulatedStorage:
    """An emulated storage for one worker; `rule` is the job's `emulation` with the `path` of the token bucket."""

    def __init__(self, rule: dict[str, Any]) -> None:
        """Open the bucket, or make it."""
        import random  # here, because it takes 9 ms, which engines without emulation save

        self._chance = random.random
        self._rule = rule
        self._create_ns = _ns_each(rule.get("iops"))
        # Of an operation, and of a byte.
        self._read_ns = (
            _ns_each(rule.get("read_iops", rule.get("iops"))),
            _ns_each(rule.get("read_bytes_per_s", rule.get("bytes_per_s"))),
        )
        self._write_ns = _ns_each(rule.get("write_iops", rule.get("iops"))), _ns_each(rule.get("bytes_per_s"))
        self._unit_bytes = rule.get("unit_bytes") or math.inf
        self._catch_up_ns = rule.get("catch_up_s", CATCH_UP_S) * 1e9
        self._due_ns = self._arrival_ns = 0
        worker_pool.sharpen_timer()
        # flock locks a file description, so each worker, even a thread, needs its own.
        self._file = os.open(rule["path"], os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        os.ftruncate(self._file, PAID.size)
        self._paid = mmap.mmap(self._file, PAID.size)

    @classmethod
    def of(cls, plan: dict[str, Any]) -> EmulatedStorage | None:
        return cls(plan["emulation"]) if plan.get("emulation") else None

    def arrive(self, due_ns: int) -> None:
        """Start the next operation no earlier than this: in an open loop a worker may have been idle until now."""
        self._arrival_ns = due_ns

    def create(self) -> int:
        """Start to create a file; return its end time (monotonic ns)."""
        operations = self._rule["create_operations"]
        return self._begin(self._rule["create_s"], operations * self._create_ns, is_counted=bool(operations))

    def read(self, size: int) -> int:
        """Start to read `size` bytes; return the end time (monotonic ns)."""
        return self._transfer(size, self._rule["read_s"], self._read_ns, is_merged=False)

    def write(self, size: int, *, is_synchronous: bool) -> int:
        """Start to write `size` bytes; return the end time (monotonic ns).

        A write that is not synchronous has no latency, and the kernel merges it with its neighbours into large ones.
        """
        latency_s = self._rule["sync_s"] if is_synchronous else 0.0
        return self._transfer(size, latency_s, self._write_ns, is_merged=not is_synchronous)

    def synchronise(self) -> int:
        """Start to synchronise written data; return the moment at which it may end."""
        return self._begin(self._rule["sync_s"])

    def wait(self, due_ns: int) -> int:
        """Sleep until an operation may end; return that moment (monotonic ns), which is its end."""
        left_ns = due_ns - time.monotonic_ns()
        if left_ns > 0:
            time.sleep(left_ns / 1e9)
        return due_ns

    def _transfer(self, size: int, latency_s: float, each_ns: tuple[float, float], *, is_merged: bool) -> int:
        # A block above unit_bytes counts as several operations; of merged ones many count as one.
        units = size / self._unit_bytes
        operation_ns, byte_ns = each_ns
        return self._begin(
            latency_s,
            (units if is_merged else max(1, math.ceil(units))) * operation_ns,
            size * byte_ns,
            is_counted=True,
        )

    def _begin(
        self, latency_s: float, operations_ns: float = 0.0, bytes_ns: float = 0.0, *, is_counted: bool = False
    ) -> int:
        now = time.monotonic_ns()
        start = max(self._due_ns, self._arrival_ns)
        if now - start >= self._catch_up_ns:
            start = now
        paid, times = 0.0, 1.0
        if is_counted:
            paid, times = self._pay(start, operations_ns, bytes_ns)
        is_in_tail = self._chance() < self._rule.get("tail_share", 0)
        latency_s = self._rule["tail_s"] if is_in_tail else latency_s * times * self._rule.get("times", 1)
        self._due_ns = math.ceil(max(start + latency_s * 1e9, paid))
        return self._due_ns

    def _pay(self, start: float, operations_ns: float, bytes_ns: float) -> tuple[float, float]:
        """Until when all is paid, and how many times as long the storage takes by now."""
        stall_every, change_after = self._rule.get("stall_every"), self._rule.get("change_after")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            operations_paid, bytes_paid, count = PAID.unpack_from(self._paid)
            count += 1
            times = self._rule["change_times"] if change_after and count > change_after else 1.0
            stall_s = self._rule["stall_s"] if stall_every and count % stall_every == 0 else 0.0
            operations_paid = max(operations_paid, start) + operations_ns * times + stall_s * 1e9
            bytes_paid = max(bytes_paid, start) + bytes_ns * times
            PAID.pack_into(self._paid, 0, operations_paid, bytes_paid, count)
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        return float(max(operations_paid, bytes_paid)), times


def _ns_each(per_s: float | None) -> float:
    """Nanoseconds of one of so many per second; 0 if they are not limited."""
    return 1e9 / per_s if per_s else 0.0
