"""The read engine: requests of a size, as fast as the storage and not the tool allows, and a sample of them checked.

Its plan is the point's parameters (`access`, `request_bytes`, `requests`, `threads`, `caching`, `data_bytes`; where
they are set, `batch` and `offsets`) with `mode`, `seed`, and where the data is: the `reader` (`file`, `boto3`, `crt`,
`file-server`) with the `path` of a file, or `region`, `bucket` and `key` of an object, or `host`, `port`, `token` and
`path`. With `open_loop` each request is made when it is due (agent.engine.arrivals).
"""

from __future__ import annotations

import errno
import mmap
import os
import random
import sys
import time

from agent.engine import records, worker_pool
from agent.engine.arrivals import Arrivals
from agent.engine.emulation import EmulatedStorage
from contract.records import record_bytes

TYPE_CHECKING = False  # see agent.engine.worker_pool
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Reader(Protocol):
        """One worker's way to the data."""

        content: Any  # the bytes of the last request

        def read(self, offsets: list[int], stamps: list[int]) -> None:
            """Fetch what lies at these offsets; append the clock after each request, or batch of requests."""

        def forget(self) -> None:
            """Make the next read ask the storage again."""


# A sample of the reads is kept and checked after the last one: enough to find a storage that sometimes returns wrong
# data, and too little to cost time or memory.
MAX_CHECKS, MAX_KEPT_BYTES = 256, 64 << 20


def main() -> None:
    """Prepare, wait at the gate, read, check, report."""
    plan = worker_pool.read_plan()
    shares = draw(plan)
    pilot = measure_pilot(plan, shares[0])
    arrivals = Arrivals.of(plan, operations_of_each(plan) * plan["threads"])
    if arrivals is not None:
        # Any free worker makes the next request, so each may have to make any of them.
        shares = [[offset for share in shares for offset in share]] * plan["threads"]
    worker_pool.work(plan, pilot, lambda number, _is_alone: prepare(plan, shares[number], arrivals))


def draw(plan: dict[str, Any]) -> list[list[int]]:
    """Return the offsets that each worker reads at, in the order of its reads."""
    workers, size, data = plan["threads"], plan["request_bytes"], plan["data_bytes"]
    each = plan["requests"] // workers
    if is_by_bytes(plan):
        chance, stretch = random.Random(plan["seed"]), data // workers  # noqa: S311 no secret
        places = range(stretch - size + 1)
        return [[number * stretch + chance.choice(places) for _ in range(each)] for number in range(workers)]
    if plan["access"] == "random":
        drawn = random.Random(plan["seed"]).sample(range(data // size), plan["requests"])  # noqa: S311 no secret
        return [[place * size for place in drawn[n * each : (n + 1) * each]] for n in range(workers)]
    firsts = [data // size * number // workers for number in range(workers)]
    return [[(first + n) * size for n in range(each)] for first in firsts]


def is_by_bytes(plan: dict[str, Any]) -> bool:
    """Return whether reads start at any byte of a worker's own range, and may overlap."""
    return plan.get("offsets") == "bytes"


def batch_of(plan: dict[str, Any]) -> int:
    """Return the number of requests that are made at once."""
    return int(plan.get("batch", 1))


def operations_of_each(plan: dict[str, Any]) -> int:
    """Return the number of requests, or batches of them, of each worker."""
    return int(plan["requests"] // plan["threads"] // batch_of(plan))


def operations_per_check(plan: dict[str, Any]) -> int:
    """Return the number of operations between two of which each worker keeps something for a check."""
    kept_bytes = plan["request_bytes"] if is_by_bytes(plan) else record_bytes(plan["request_bytes"])
    room = max(1, MAX_KEPT_BYTES // plan["threads"] // kept_bytes)
    return -(-operations_of_each(plan) // int(min(MAX_CHECKS, room)))


def measure_pilot(plan: dict[str, Any], offsets: list[int]) -> dict[str, float]:
    """Measure wall and processor time of a request as the first worker will make it. Its cached data is dropped."""
    reader = reader_of(plan)
    tried = offsets[: worker_pool.PILOT_OPERATIONS]
    reader.forget()
    pilot = worker_pool.measure_pilot(lambda number: reader.read([tried[number % len(tried)]], []))
    reader.forget()
    return pilot


def prepare(plan: dict[str, Any], offsets: list[int], arrivals: Arrivals | None = None) -> worker_pool.Loop:
    """Open the data for one worker, before its time begins."""
    reader = reader_of(plan)
    if arrivals is not None:
        return lambda: read_due(plan, reader, offsets, arrivals)
    return lambda: worker_pool.Timed.closed(read_all(plan, reader, offsets))


def read_all(plan: dict[str, Any], reader: Reader, offsets: list[int]) -> list[int]:
    """Make all requests, then check what was kept. Return the clock before the first operation and after each."""
    # Between stretches a record is put aside: so little work that it may count as time of the next request.
    stretch = operations_per_check(plan) * batch_of(plan)
    kept: list[tuple[int, bytes]] = []
    stamps = [time.monotonic_ns()]
    for first in range(0, len(offsets), stretch):
        reader.read(offsets[first : first + stretch], stamps)
        kept.append(to_check(plan, reader, offsets[min(first + stretch, len(offsets)) - 1], len(kept)))
    for number, content in kept:
        check(plan, reader, number, content)
    return stamps


def read_due(plan: dict[str, Any], reader: Reader, offsets: list[int], arrivals: Arrivals) -> worker_pool.Timed:
    """Make each request when it is due, then check the kept data. Return the times."""
    batch, each = batch_of(plan), operations_per_check(plan)
    kept: list[tuple[int, bytes]] = []
    stamps: list[int] = []

    def read(operation: int, due_ns: int) -> int:
        if isinstance(reader, EmulatedReader):
            reader.storage.arrive(due_ns)
        stamps.clear()
        reader.read(offsets[operation * batch : (operation + 1) * batch], stamps)
        if operation % each == 0:
            kept.append(to_check(plan, reader, offsets[(operation + 1) * batch - 1], len(kept)))
        return stamps[0]

    timed = arrivals.work(read)
    for number, content in kept:
        check(plan, reader, number, content)
    return timed


def to_check(plan: dict[str, Any], reader: Reader, offset: int, turn: int) -> tuple[int, bytes]:
    """Return a record of the last request and its number, by turns another one of its records.

    Of a request that began at any byte it is all of its bytes and their offset.
    """
    if is_by_bytes(plan):
        return offset, bytes(reader.content)
    size = record_bytes(plan["request_bytes"])
    place = turn % (plan["request_bytes"] // size)
    return offset // size + place, bytes(reader.content[place * size : (place + 1) * size])


def check(plan: dict[str, Any], reader: Reader, number: int, content: bytes) -> None:
    """Raise RecordWrong unless `content` is this record, or the bytes that the records at that offset have."""
    if not is_by_bytes(plan):
        records.check(content, number)
        return
    request, size = plan["request_bytes"], record_bytes(plan["request_bytes"])
    first, inside = divmod(number, request)
    block = b""
    for place in range(first, first + 1 + bool(inside)):
        reader.read([place * request], [])
        whole = bytes(reader.content)
        for at in range(0, request, size):
            records.check(whole[at : at + size], (place * request + at) // size)
        block += whole
    if block[inside : inside + request] != content:
        raise records.RecordWrong(f"at byte {number} other bytes were read than its records have")


def reader_of(plan: dict[str, Any]) -> Reader:
    """Return a reader of the plan's kind; SDKs are imported only for readers that need them."""
    if plan.get("emulation"):
        return EmulatedReader(plan)
    if plan["reader"] == "file":
        return FileReader(plan)
    if plan["reader"] == "file-server":
        return ServerReader(plan)
    from agent.engine import objects

    return objects.reader_of(plan)


class FileReader:
    """Reads a file into one buffer, a system call for each request."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self._is_cached = plan["caching"] == "cached"
        flags = os.O_RDONLY if self._is_cached else os.O_RDONLY | os.O_DIRECT
        try:
            self._file = os.open(plan["path"], flags)
        except OSError as err:
            if err.errno != errno.EINVAL:
                raise
            sys.exit('the storage has no direct reads (O_DIRECT); write caching "cached"')
        # O_DIRECT needs page alignment, which anonymous memory has; write once, so that it is allocated.
        self.content = mmap.mmap(-1, plan["request_bytes"])
        self.content.write(bytes(plan["request_bytes"]))

    def read(self, offsets: list[int], stamps: list[int]) -> None:
        """Make a request at each offset; appends the clock after each."""
        now, preadv, file, buffers, wanted = time.monotonic_ns, os.preadv, self._file, [self.content], len(self.content)
        append = stamps.append
        for offset in offsets:
            if preadv(file, buffers, offset) != wanted:
                raise records.RecordWrong(f"the file ends within the request at {offset}")
            append(now())

    def forget(self) -> None:
        """Drop the kernel's cached pages of the file, which needs no root."""
        if self._is_cached:
            os.posix_fadvise(self._file, 0, 0, os.POSIX_FADV_DONTNEED)


class EmulatedReader(FileReader):
    """Reads a file as fast as an emulated storage lets it."""

    def __init__(self, plan: dict[str, Any]) -> None:
        """Open the file through the page cache: this machine's disk must not add its own time."""
        super().__init__({**plan, "caching": "cached"})
        self.storage = EmulatedStorage(plan["emulation"])

    def read(self, offsets: list[int], stamps: list[int]) -> None:
        """Make a request at each offset, each as if its data were cold."""
        size = len(self.content)
        for offset in offsets:
            due_ns = self.storage.read(size)
            if os.preadv(self._file, [self.content], offset) != size:
                raise records.RecordWrong(f"the file ends within the request at {offset}")
            stamps.append(self.storage.wait(due_ns))


class ServerReader:
    """Reads from our file server; a batch of requests is one round trip."""

    def __init__(self, plan: dict[str, Any]) -> None:
        from agent.file_client import Connection

        self._request_bytes, self._batch = plan["request_bytes"], batch_of(plan)
        self._path = plan["path"]
        self._is_direct = plan["caching"] == "direct"
        self._connection = Connection(plan["host"], plan["port"], plan["token"])
        self._buffer = memoryview(bytearray(self._batch * self._request_bytes))
        self.content: Any = b""

    def read(self, offsets: list[int], stamps: list[int]) -> None:
        """Make the requests by batches; appends the clock after each batch."""
        for first in range(0, len(offsets), self._batch):
            wanted = offsets[first : first + self._batch]
            answer = self._buffer[: len(wanted) * self._request_bytes]
            self._connection.read_into(answer, self._path, self._request_bytes, wanted, is_direct=self._is_direct)
            stamps.append(time.monotonic_ns())
            self.content = answer[-self._request_bytes :]

    def forget(self) -> None:
        """Let the server drop its cached pages of the file."""
        self._connection.forget(self._path)
