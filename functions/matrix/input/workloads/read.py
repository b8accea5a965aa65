"""Reading files and objects by requests of a size: one after another, or at random."""

from collections.abc import Iterator
from itertools import product
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from contract.records import record_bytes
from matrix.fields.types import Rule, Size, Sweep
from matrix.input.workloads.contract import Clients
from matrix.input.workloads.open_loop import OpenLoopModel, a_limit_has_its_rates
from matrix.input.workloads.sweeps import Footprint, Params, combinations, values_are_different
from matrix.storages.base import Ability, Need, Storage
from matrix.terms.charges import PUT_PART_BYTES, metered_request_bytes
from matrix.terms.metrics import latencies
from matrix.terms.open_loop import HIGHEST_RATE
from matrix.terms.problems import Problems
from matrix.terms.quantities import count_of
from matrix.terms.sizes import UNITS, format_size

# A record begins with its number and checksum (16 bytes, agent/engine/records.py). A thread holds a request in memory.
MIN_REQUEST_BYTES = 64
MAX_REQUEST_BYTES = 64 * UNITS["MiB"]
MAX_REQUESTS = 10_000_000
# Alignment of offsets and lengths for O_DIRECT: a logical block, which has at most 4 KiB on disks.
DIRECT_BLOCK_BYTES = 4_096


class ReadWorkload(OpenLoopModel):
    """Reads data that it has written before; primary metric mb_per_s."""

    primary_metric: ClassVar[str] = "mb_per_s"
    open_loop_metric: ClassVar[str] = "read_lat_p99_us"
    yields: ClassVar[frozenset[str]] = frozenset(
        {"mb_per_s", "mib_per_s", "longest_stall_s", "requests_per_s", HIGHEST_RATE}
    ).union(latencies("read"))
    size_field: ClassVar[str] = "dataSize"
    operations_field: ClassVar[str] = "requests"

    type: Literal["read"]
    """Kind of workload."""
    access: Sweep[Literal["sequential", "random"]] = Field(default=["sequential"])
    """One request after the other, each thread in its own stretch of the data; or from anywhere, none of them twice."""
    request_size: Annotated[Sweep[Size], Field(examples=["1MiB"])]
    """Bytes of one read: one system call on files, one GET on S3."""
    requests: Annotated[Sweep[Annotated[int, Field(ge=1, le=MAX_REQUESTS)]], Field(examples=[2048])]
    """Requests that each instance makes in one step, over all its threads."""
    threads: Sweep[Annotated[int, Field(ge=1, le=1_024)]] = Field(default=[1])
    """Readers at once on each instance: threads or processes, chosen by the storage's speed."""
    caching: Sweep[Literal["direct", "cached"]] = Field(default=["direct"])
    """Past the page cache of the instance (O_DIRECT), or through it, emptied before each step."""
    data: Sweep[Literal["own", "neighbour", "shared"]] = Field(default=["own"])
    """Each instance reads what it wrote itself, or what the next instance of the fleet wrote; or all read the same."""
    data_size: Size | None = None
    """Bytes that each instance writes once and then reads from. Default: as many as it reads."""
    offsets: Annotated[Literal["bytes"] | None, Field(examples=["bytes"])] = None
    """Random only: reads start at any byte of the thread's own range, and may overlap."""
    batch: Sweep[Annotated[int, Field(ge=1, le=10_000)]] = Field(default=[1], examples=[100])
    """Requests that one message to a file server holds; it answers them all at once."""

    def needs(self) -> Iterator[Need]:
        """Yield that reads of a neighbour's data see these."""
        if self.reads_of_others:
            yield Need(Ability.SEE_OTHERS, *self.reads_of_others, "leave data out")

    @property
    def reads_of_others(self) -> tuple[str, Any] | None:
        """Field and value by which instances read what others of their fleet wrote."""
        others = [whose for whose in self.data if whose != "own"]
        return ("data", others[0]) if others else None

    def points(self) -> list[Params]:
        points = combinations(
            {
                "access": self.access,
                "requests": self.requests,
                "request_bytes": self.request_size,
                "threads": self.threads,
                "caching": self.caching,
                "data": self.data,
                "batch": self.batch,
            }
        )
        # An instance reads its own data, one request at a time, by default, so labels and jobs leave that out.
        usual = {"data": "own", "batch": 1}
        shown = [{name: value for name, value in point.items() if usual.get(name) != value} for point in points]
        extra = {"offsets": self.offsets} if self.offsets else {}
        return self.with_rates([{**point, **extra, "data_bytes": self._data_bytes(point)} for point in shown])

    def _data_bytes(self, point: Params) -> int:
        return self.data_size or int(point["requests"]) * int(point["request_bytes"])

    def operations(self, params: Params) -> float:
        return float(params["requests"] / params.get("batch", 1))

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected footprint of one instance: the longer of its shares of throughput and of IOPS.

        Writing the data, which the first step of its size does once, is spread over the points.
        """
        sharing, bytes_per_s = clients.sharing(storage), clients.bytes_per_s(storage, params["threads"])
        requests, size = params["requests"], params["request_bytes"]
        fetched = requests * size
        is_merged = params["access"] == "sequential" and params["caching"] == "cached"
        waiting_s = requests / params["threads"] * storage.read_latency_s
        operations = 0 if storage.merges_sequential and params["access"] == "sequential" else requests
        iops_s = operations * sharing / storage.effective_iops
        seconds = max(fetched / bytes_per_s, iops_s, waiting_s, self.paced_s(params))
        own, shared = self._made_bytes(is_shared=False), self._made_bytes(is_shared=True)
        stored, points = own + shared / clients.count, len(self.points())
        made = stored / points
        return Footprint(
            seconds,
            read_bytes=fetched,
            stored_bytes=stored,
            read_requests=requests,
            operations=operations,
            # What is read in sequence through the page cache arrives by requests of 1 MiB, which readahead makes.
            read_padding=0.0 if is_merged else requests * (metered_request_bytes(size) - size),
            making_s=clients.making_s(storage, own, shared, params["threads"]) / points,
            made_bytes=made,
            made_requests=made / PUT_PART_BYTES,
        )

    def reads(self, params: Params) -> bool:
        """Return whether a point reads: all of them do."""
        del params
        return True

    def can_be_emulated(self, params: Params) -> bool:
        """Return whether our own engine does a point: it does them all, and only files can be emulated."""
        del params
        return True

    def _made_bytes(self, *, is_shared: bool) -> int:
        """Return the bytes of an instance's own files, or of those that all share.

        A file for each size of records and of data stays until the cell ends, and one more for a neighbour.
        """
        files = {
            (record_bytes(point["request_bytes"]), point["data_bytes"], point.get("data", "own"))
            for point in self.points()
        }
        return sum(data_bytes for _, data_bytes, whose in files if (whose == "shared") == is_shared)

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (
            requests_fit_into_memory,
            direct_reads_are_aligned,
            requests_are_shared_equally,
            byte_offsets_are_random_and_cached,
            data_holds_the_requests,
            a_limit_has_its_rates,
            values_are_different,
        )


def requests_fit_into_memory(part: ReadWorkload) -> Problems:
    """Yield a problem if a request is too small for the number of its record, or too large for memory."""
    if min(part.request_size) < MIN_REQUEST_BYTES:
        rule = f"each carries its number and checksum; at least {MIN_REQUEST_BYTES} bytes"
        yield part.problem("requestSize", rule, f"write {MIN_REQUEST_BYTES} or more")
    if max(part.request_size) > MAX_REQUEST_BYTES:
        rule = "each thread holds a request in memory; at most 64MiB"
        yield part.problem("requestSize", rule, 'write "64MiB" or less')


def direct_reads_are_aligned(part: ReadWorkload) -> Problems:
    """Yield a problem for a request that O_DIRECT cannot make."""
    if "direct" not in part.caching:
        return
    for size in part.request_size:
        if size % DIRECT_BLOCK_BYTES:
            whole = -(-size // DIRECT_BLOCK_BYTES) * DIRECT_BLOCK_BYTES
            by_default = "" if "caching" in part.model_fields_set else " (the default caching)"
            rule = f"direct reads{by_default} take multiples of 4KiB, {format_size(size)} is none"
            yield part.problem("requestSize", rule, f'write {_written(whole)}, or caching "cached"')
            return


def requests_are_shared_equally(part: ReadWorkload) -> Problems:
    """Yield a problem if the threads cannot make equally many requests each, in whole batches."""
    for requests, batch, threads in product(part.requests, part.batch, part.threads):
        if requests % (batch * threads):
            whole = max(requests // (batch * threads), 1) * batch * threads
            in_batches = "" if batch == 1 else f" * {batch} (batch) = {threads * batch}"
            rule = f"must be a multiple of {count_of(threads, 'thread')}{in_batches}, {requests} is not"
            yield part.problem("requests", rule, f"write {whole}")
            return


def byte_offsets_are_random_and_cached(part: ReadWorkload) -> Problems:
    """Yield a problem if reads from any byte on would be sequential, or past the page cache."""
    if part.offsets is None:
        return
    if "sequential" in part.access:
        yield part.problem("offsets", "are drawn for random access only", "write access random, or two workloads")
    if "direct" in part.caching:
        yield part.problem(
            "offsets", "of any byte are none that direct reads (O_DIRECT) take", 'write caching "cached"'
        )
    for data, size, threads in product([part.data_size] if part.data_size else [], part.request_size, part.threads):
        if data // threads < size:
            rule = f"{threads} threads have {format_size(data // threads)} each, less than a request"
            yield part.problem("dataSize", rule, f"write {_written(threads * size)} or more")
            return


def data_holds_the_requests(part: ReadWorkload) -> Problems:
    """Yield a problem if there is less data than the requests need, or if it does not consist of whole ones."""
    for requests, size in product(part.requests, part.request_size):
        data = part.data_size or requests * size
        if data < requests * size and part.offsets is None:
            rule = f"holds fewer than the {requests:,} requests of {format_size(size)} that are read, each once"
            yield part.problem("dataSize", rule, f"write {_written(requests * size)} or more")
            return
        if data % size:
            whole = -(-data // size) * size
            rule = f"the data, {format_size(data)}, are not whole requests of {format_size(size)}"
            yield part.problem("dataSize", rule, f"write dataSize {_written(whole)}")
            return


def _written(size: int) -> str:
    text = format_size(size)
    return f'"{text}"' if isinstance(text, str) else str(text)
