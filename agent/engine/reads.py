"""The read engine: pages of records, as fast as the storage and not the tool allows, and a sample of them checked.

Its plan is the point's parameters (`access`, `page_bytes`, `record_bytes`, `records`, `records_per_request`, `threads`,
`caching`, `data_bytes`; where they are set, `pages_per_request` and `offsets`) with `mode`, `seed`, and where the data
is: the `reader` (`file`, `boto3`, `crt`, `file-server`) with the `path` of a file, or `region`, `bucket` and `key` of
an object, or `host`, `port`, `token` and `path`. With `open_loop` each request is made when it is due
(agent.engine.arrivals).
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

TYPE_CHECKING = False  # see agent.engine.worker_pool
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Reader(Protocol):
        """One worker's way to the data."""

        page: Any  # the bytes of the last page

        def read(self, pages: list[int], batch: int, stamps: list[int]) -> None:
            """Fetch pages by their offsets, `batch` of them for a request; append the clock after each request."""

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
    arrivals = Arrivals.of(plan, requests_of_each(plan) * plan["threads"])
    if arrivals is not None:
        # Any free worker makes the next request, so each may have to make any of them.
        shares = [[wanted for share in shares for wanted in share]] * plan["threads"]
    worker_pool.work(plan, pilot, lambda number, _is_alone: prepare(plan, shares[number], arrivals))


def draw(plan: dict[str, Any]) -> list[list[int]]:
    """For each worker, in the order of its reads, one record of each page that it fetches; of byte offsets these."""
    workers, record, page, data = (plan[name] for name in ("threads", "record_bytes", "page_bytes", "data_bytes"))
    if is_by_bytes(plan):
        chance, stretch = random.Random(plan["seed"]), data // workers  # noqa: S311 no secret
        places = range(stretch - record + 1)
        return [
            [number * stretch + chance.choice(places) for _ in range(plan["records"] // workers)]
            for number in range(workers)
        ]
    if plan["access"] == "random":
        drawn = random.Random(plan["seed"]).sample(range(data // record), plan["records"])  # noqa: S311 no secret
        each = plan["records"] // workers
        return [drawn[number * each : (number + 1) * each] for number in range(workers)]
    per_page = page // record
    each = plan["records"] // per_page // workers
    firsts = [data // page * number // workers for number in range(workers)]
    # A different position in each page, so that the checks cover all of it.
    return [[(first + n) * per_page + n % per_page for n in range(each)] for first in firsts]


def is_by_bytes(plan: dict[str, Any]) -> bool:
    """Return whether reads start at any byte of a worker's own range, and may overlap."""
    return plan.get("offsets") == "bytes"


def requests_of_each(plan: dict[str, Any]) -> int:
    """Return the number of requests of each worker."""
    return int(plan["records"] // plan["threads"] // asked_at_once(plan))


def requests_per_check(plan: dict[str, Any]) -> int:
    """Return the number of requests between two records that each worker keeps for a check."""
    room = max(1, MAX_KEPT_BYTES // plan["threads"] // plan["record_bytes"])
    return -(-requests_of_each(plan) // int(min(MAX_CHECKS, room)))


def asked_at_once(plan: dict[str, Any]) -> int:
    """Records of one request: a batch of random ones, or all of its pages."""
    per_page = 1 if plan["access"] == "random" else plan["page_bytes"] // plan["record_bytes"]
    return int(per_page * pages_at_once(plan))


def pages_at_once(plan: dict[str, Any]) -> int:
    """Return the pages of one request: one for each record of a random batch, or a number of consecutive ones."""
    return int(plan["records_per_request"] if plan["access"] == "random" else plan.get("pages_per_request", 1))


def measure_pilot(plan: dict[str, Any], wanted: list[int]) -> dict[str, float]:
    """Measure wall and processor time of reading a page as the first worker will. Its cached data is dropped."""
    reader = reader_of(plan)
    pages = page_offsets(plan, wanted[: worker_pool.PILOT_OPERATIONS])
    reader.forget()
    pilot = worker_pool.measure_pilot(lambda number: reader.read([pages[number % len(pages)]], 1, []))
    reader.forget()
    return pilot


def page_offsets(plan: dict[str, Any], wanted: list[int]) -> list[int]:
    """Return the offsets of these records' pages; byte offsets are returned unchanged."""
    if is_by_bytes(plan):
        return wanted
    record, page = plan["record_bytes"], plan["page_bytes"]
    return [number * record // page * page for number in wanted]


def prepare(plan: dict[str, Any], wanted: list[int], arrivals: Arrivals | None = None) -> worker_pool.Loop:
    """Open the data for one worker, before its time begins."""
    reader = reader_of(plan)
    pages = page_offsets(plan, wanted)
    if arrivals is not None:
        return lambda: read_due(plan, reader, wanted, pages, arrivals)
    return lambda: worker_pool.Timed.closed(read_all(plan, reader, wanted, pages))


def read_all(plan: dict[str, Any], reader: Reader, wanted: list[int], pages: list[int]) -> list[int]:
    """Read all pages, then check the kept ones. Return the clock before the first request and after each."""
    batch = pages_at_once(plan)
    # Between stretches the last record is put aside: so little work that it may count as time of the next request.
    stretch = requests_per_check(plan) * batch
    kept: list[tuple[int, bytes]] = []
    stamps = [time.monotonic_ns()]
    for first in range(0, len(pages), stretch):
        reader.read(pages[first : first + stretch], batch, stamps)
        number = wanted[min(first + stretch, len(pages)) - 1]
        kept.append((number, last_record(plan, reader, number)))
    for number, content in kept:
        check(plan, reader, number, content)
    return stamps


def read_due(
    plan: dict[str, Any], reader: Reader, wanted: list[int], pages: list[int], arrivals: Arrivals
) -> worker_pool.Timed:
    """Make each request when it is due, then check the kept data. Return the times."""
    batch, each = pages_at_once(plan), requests_per_check(plan)
    kept: list[tuple[int, bytes]] = []
    stamps: list[int] = []

    def read(request: int, due_ns: int) -> int:
        if isinstance(reader, EmulatedReader):
            reader.storage.arrive(due_ns)
        stamps.clear()
        reader.read(pages[request * batch : (request + 1) * batch], batch, stamps)
        if request % each == 0:
            number = wanted[(request + 1) * batch - 1]
            kept.append((number, last_record(plan, reader, number)))
        return stamps[0]

    timed = arrivals.work(read)
    for number, content in kept:
        check(plan, reader, number, content)
    return timed


def check(plan: dict[str, Any], reader: Reader, wanted: int, content: bytes) -> None:
    """Raise RecordWrong unless `content` is record `wanted`, or the bytes that the records at that offset have."""
    if not is_by_bytes(plan):
        records.check(content, wanted)
        return
    size = plan["record_bytes"]
    first, inside = divmod(wanted, size)
    block = b""
    for number in range(first, first + 1 + bool(inside)):
        reader.read([number * size], 1, [])
        whole = bytes(reader.page[:size])
        records.check(whole, number)
        block += whole
    if block[inside : inside + size] != content:
        raise records.RecordWrong(f"at byte {wanted} other bytes were read than its records have")


def last_record(plan: dict[str, Any], reader: Reader, number: int) -> bytes:
    """The record of this number in the page that was read last."""
    record: int = plan["record_bytes"]
    at = 0 if is_by_bytes(plan) else number * record % plan["page_bytes"]
    return bytes(reader.page[at : at + record])


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
    """Reads pages of a file into one buffer."""

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
        self.page = mmap.mmap(-1, plan["page_bytes"])
        self.page.write(bytes(plan["page_bytes"]))

    def read(self, pages: list[int], batch: int, stamps: list[int]) -> None:
        """Fetch `batch` pages after each other for a request; appends the clock after each request."""
        now, preadv, file, buffers, wanted = time.monotonic_ns, os.preadv, self._file, [self.page], len(self.page)
        append = stamps.append
        if batch == 1:
            for offset in pages:
                if preadv(file, buffers, offset) != wanted:
                    raise records.RecordWrong(f"the file ends within the page at {offset}")
                append(now())
            return
        for first in range(0, len(pages), batch):
            for offset in pages[first : first + batch]:
                if preadv(file, buffers, offset) != wanted:
                    raise records.RecordWrong(f"the file ends within the page at {offset}")
            append(now())

    def forget(self) -> None:
        """Drop the kernel's cached pages of the file, which needs no root."""
        if self._is_cached:
            os.posix_fadvise(self._file, 0, 0, os.POSIX_FADV_DONTNEED)


class EmulatedReader(FileReader):
    """Reads pages of a file as fast as an emulated storage lets it."""

    def __init__(self, plan: dict[str, Any]) -> None:
        """Open the file through the page cache: this machine's disk must not add its own time."""
        super().__init__({**plan, "caching": "cached"})
        self.storage = EmulatedStorage(plan["emulation"])

    def read(self, pages: list[int], batch: int, stamps: list[int]) -> None:
        """Fetch pages, each as if it were cold; pages of one request one after the other."""
        size = len(self.page)
        for number, offset in enumerate(pages, start=1):
            due_ns = self.storage.read(size)
            if os.preadv(self._file, [self.page], offset) != size:
                raise records.RecordWrong(f"the file ends within the page at {offset}")
            ended_ns = self.storage.wait(due_ns)
            if number % batch == 0 or number == len(pages):
                stamps.append(ended_ns)


class ServerReader:
    """Reads pages from our file server; a request is one round trip."""

    def __init__(self, plan: dict[str, Any]) -> None:
        from agent.file_client import Connection

        self._page_bytes = plan["page_bytes"]
        self._path = plan["path"]
        self._is_direct = plan["caching"] == "direct"
        self._connection = Connection(plan["host"], plan["port"], plan["token"])
        self._buffer = memoryview(bytearray(self._page_bytes))
        self.page: Any = b""

    def read(self, pages: list[int], batch: int, stamps: list[int]) -> None:
        """Fetch `batch` pages for each request; appends the clock after each."""
        if len(self._buffer) != batch * self._page_bytes:
            self._buffer = memoryview(bytearray(batch * self._page_bytes))
        for first in range(0, len(pages), batch):
            wanted = pages[first : first + batch]
            self._connection.read_into(self._buffer, self._path, self._page_bytes, wanted, is_direct=self._is_direct)
            stamps.append(time.monotonic_ns())
        self.page = self._buffer[-self._page_bytes :]

    def forget(self) -> None:
        """Let the server drop its cached pages of the file."""
        self._connection.forget(self._path)
