"""Reading records: sequentially or at random, by pages, as an application with a page cache of its own does."""

from collections.abc import Iterator
from itertools import product
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

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

# A record begins with its number and checksum (16 bytes, agent/engine/records.py); each thread holds a page in memory.
MIN_RECORD_BYTES = 64
MAX_PAGE_BYTES = 64 * UNITS["MiB"]
MAX_RECORDS = 10_000_000
# Alignment of offsets and lengths for O_DIRECT: a logical block, which has at most 4 KiB on disks.
DIRECT_BLOCK_BYTES = 4_096


class ReadWorkload(OpenLoopModel):
    """Reads records that it has written before; primary metric mb_per_s."""

    primary_metric: ClassVar[str] = "mb_per_s"
    open_loop_metric: ClassVar[str] = "read_lat_p99_us"
    yields: ClassVar[frozenset[str]] = frozenset(
        {"mb_per_s", "mib_per_s", "longest_stall_s", "records_per_s", "requests_per_s", HIGHEST_RATE}
    ).union(latencies("read"))
    size_field: ClassVar[str] = "dataSize"
    operations_field: ClassVar[str] = "records"

    type: Literal["read"]
    """Kind of workload."""
    access: Sweep[Literal["sequential", "random"]] = Field(default=["sequential"])
    """Page after page, each thread in its own stretch of the data; or records from anywhere, none of them twice."""
    records: Annotated[Sweep[Annotated[int, Field(ge=1, le=MAX_RECORDS)]], Field(examples=[131072])]
    """Records that each instance reads in one step, over all its threads."""
    record_bytes: Sweep[Size] = Field(default=[8_192])
    """Size of a record."""
    page_bytes: Sweep[Size] = Field(default=[8_192])
    """Bytes of one read, whole records: the page that contains a record."""
    records_per_request: Sweep[Annotated[int, Field(ge=1, le=10_000)]] = Field(default=[1])
    """Records that one request asks for, random only; a sequential request is a page."""
    pages_per_request: Annotated[int | None, Field(ge=2, le=10_000, examples=[128])] = None
    """Pages that one request asks for, sequential only: 128 of 8 KiB are requests of 1 MiB."""
    offsets: Annotated[Literal["bytes"] | None, Field(examples=["bytes"])] = None
    """Random only: reads start at any byte of the thread's own range, and may overlap."""
    threads: Sweep[Annotated[int, Field(ge=1, le=1_024)]] = Field(default=[1])
    """Readers at once on each instance: threads or processes, chosen by the storage's speed."""
    caching: Sweep[Literal["direct", "cached"]] = Field(default=["direct"])
    """Past the page cache of the instance (O_DIRECT), or through it, emptied before each step."""
    shift: Sweep[Annotated[int, Field(ge=0, le=999)]] = Field(default=[0], examples=[1])
    """Whose data an instance reads: 0 its own, 1 that of the next instance of the fleet, and so on."""
    data: Sweep[Literal["own", "shared"]] = Field(default=["own"])
    """Each instance writes what is read, or one of them does and all read the same, such as the weights of a model."""
    data_size: Size | None = None
    """Bytes that each instance writes once and then reads from. Default: as many as it reads."""

    def needs(self) -> Iterator[Need]:
        """Yield that reads of a neighbour's data see these."""
        if self.reads_of_others:
            field, value = self.reads_of_others
            yield Need(Ability.SEE_OTHERS, field, value, f"leave {field} out")

    @property
    def reads_of_others(self) -> tuple[str, Any] | None:
        """Field and value by which instances read what others of their fleet wrote."""
        if any(self.shift):
            return "shift", max(self.shift)
        return ("data", "shared") if "shared" in self.data else None

    def points(self) -> list[Params]:
        points = combinations(
            {
                "access": self.access,
                "records": self.records,
                "record_bytes": self.record_bytes,
                "page_bytes": self.page_bytes,
                "records_per_request": self.records_per_request,
                "threads": self.threads,
                "caching": self.caching,
                "shift": self.shift,
                "data": self.data,
            }
        )
        # An instance reads its own data by default, so labels and jobs leave that out.
        usual = {"shift": 0, "data": "own"}
        shown = [{name: value for name, value in point.items() if usual.get(name) != value} for point in points]
        more = {"pages_per_request": self.pages_per_request, "offsets": self.offsets}
        extra = {name: value for name, value in more.items() if value is not None}
        return self.with_rates([{**point, **extra, "data_bytes": self._data_bytes(point)} for point in shown])

    def _data_bytes(self, point: Params) -> int:
        return self.data_size or int(point["records"]) * int(point["record_bytes"])

    def operations(self, params: Params) -> float:
        is_random = params["access"] == "random"
        per_page = params["page_bytes"] / params["record_bytes"] * (self.pages_per_request or 1)
        return float(params["records"] / (params["records_per_request"] if is_random else per_page))

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected footprint of one instance: the longer of its shares of throughput and of IOPS.

        Writing the data, which the first step of its size does once, is spread over the points.
        """
        sharing, bytes_per_s = clients.sharing(storage), clients.bytes_per_s(storage, params["threads"])
        is_random = params["access"] == "random"
        pages = params["records"] if is_random else params["records"] * params["record_bytes"] / params["page_bytes"]
        fetched = pages * params["page_bytes"]
        waiting_s = pages / params["threads"] * storage.read_latency_s
        iops_s = pages * sharing / storage.effective_iops
        seconds = max(fetched / bytes_per_s, iops_s, waiting_s, self.paced_s(params))
        own, shared = self._data_of("own"), self._data_of("shared")
        stored, points = own + shared / clients.count, len(self.points())
        made = stored / points
        return Footprint(
            seconds,
            read_bytes=fetched,
            stored_bytes=stored,
            read_requests=pages,
            operations=pages,
            # What is read in sequence arrives by requests of 1 MiB, of which readahead makes pages.
            read_padding=pages * (metered_request_bytes(params["page_bytes"]) - params["page_bytes"]) * is_random,
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

    def _data_of(self, whose: str) -> int:
        """Return the bytes of an instance's own files, or of those that all share.

        A file for each size of records and of data stays until the cell ends, and one more for each shift.
        """
        files = {
            (point["record_bytes"], point["data_bytes"], point.get("shift", 0))
            for point in self.points()
            if point.get("data", "own") == whose
        }
        return sum(data_bytes for _, data_bytes, _ in files)

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (
            records_have_room_for_their_number,
            pages_hold_whole_records,
            direct_reads_are_aligned,
            requests_are_whole,
            only_random_requests_are_batched,
            byte_offsets_are_random_and_cached,
            data_holds_the_records,
            shared_data_are_no_neighbours,
            a_limit_has_its_rates,
            values_are_different,
        )


def records_have_room_for_their_number(part: ReadWorkload) -> Problems:
    """Yield a problem if a record is too small for its number, or a page too large for memory."""
    if min(part.record_bytes) < MIN_RECORD_BYTES:
        rule = f"each carries its number and checksum; at least {MIN_RECORD_BYTES} bytes"
        yield part.problem("recordBytes", rule, f"write {MIN_RECORD_BYTES} or more")
    if max(part.page_bytes) > MAX_PAGE_BYTES:
        yield part.problem("pageBytes", "each thread holds a page in memory; at most 64MiB", 'write "64MiB" or less')


def pages_hold_whole_records(part: ReadWorkload) -> Problems:
    """Yield a problem if a record would cross a page boundary."""
    for page in part.page_bytes:
        for record in part.record_bytes:
            if page % record:
                whole = max(page // record, 1) * record
                rule = f"must be a multiple of recordBytes {format_size(record)}, {format_size(page)} is not"
                yield part.problem("pageBytes", rule, f"write {_written(whole)}, or another recordBytes")
                return


def direct_reads_are_aligned(part: ReadWorkload) -> Problems:
    """Yield a problem for a page that O_DIRECT cannot read."""
    if "direct" not in part.caching:
        return
    for page in part.page_bytes:
        if page % DIRECT_BLOCK_BYTES:
            whole = -(-page // DIRECT_BLOCK_BYTES) * DIRECT_BLOCK_BYTES
            by_default = "" if "caching" in part.model_fields_set else " (the default caching)"
            rule = f"direct reads{by_default} take multiples of 4KiB, {format_size(page)} is none"
            yield part.problem("pageBytes", rule, f'write {_written(whole)}, or caching "cached"')
            return


def requests_are_whole(part: ReadWorkload) -> Problems:
    """Yield a problem if the threads cannot have equally many whole requests each."""
    for access in part.access:
        for records in part.records:
            for asked in _asked_at_once(part, access):
                for threads in part.threads:
                    if records % (asked * threads):
                        whole = max(records // (asked * threads), 1) * asked * threads
                        of_what = "a page has" if access == "sequential" else "recordsPerRequest"
                        sum_ = f"{count_of(threads, 'thread')} * {asked} ({of_what}) = {threads * asked}"
                        rule = f"{access} reads need a multiple of {sum_}, {records} is not"
                        yield part.problem("records", rule, f"write {whole}")
                        return


def _asked_at_once(part: ReadWorkload, access: str) -> list[int]:
    if access == "random":
        return list(part.records_per_request)
    pages = part.pages_per_request or 1
    return [pages * (page // record) for page in part.page_bytes for record in part.record_bytes if page >= record]


def only_random_requests_are_batched(part: ReadWorkload) -> Problems:
    """Yield a problem for batches of sequential reads: there the page is the batch."""
    if "sequential" in part.access and part.records_per_request != [1]:
        fix = "write access random, or two workloads"
        yield part.problem("recordsPerRequest", "is for random access; sequential reads ask for pages", fix)
    if "random" in part.access and part.pages_per_request is not None:
        fix = "write access sequential, or recordsPerRequest"
        yield part.problem("pagesPerRequest", "is for sequential access; random reads ask for records", fix)


def byte_offsets_are_random_and_cached(part: ReadWorkload) -> Problems:
    """Yield a problem if reads from any byte on would be sequential, of whole pages, or past the page cache."""
    if part.offsets is None:
        return
    if "sequential" in part.access:
        yield part.problem("offsets", "are drawn for random access only", "write access random, or two workloads")
    if "direct" in part.caching:
        yield part.problem(
            "offsets", "of any byte are none that direct reads (O_DIRECT) take", 'write caching "cached"'
        )
    if part.page_bytes != part.record_bytes:
        yield part.problem("pageBytes", "is what is read from a byte on, so it is recordBytes", "write recordBytes")
    for data, record, threads in product([part.data_size] if part.data_size else [], part.record_bytes, part.threads):
        if data // threads < record:
            rule = f"{threads} threads have {format_size(data // threads)} each, less than a record"
            yield part.problem("dataSize", rule, f"write {_written(threads * record)} or more")
            return


def data_holds_the_records(part: ReadWorkload) -> Problems:
    """Yield a problem if there is less data than the reads need, or if it does not consist of whole pages."""
    for records in part.records:
        for record in part.record_bytes:
            data = part.data_size or records * record
            if data < records * record and part.offsets is None:
                rule = f"holds fewer than the {records:,} records of {format_size(record)} that are read, each once"
                yield part.problem("dataSize", rule, f"write {_written(records * record)} or more")
                return
            for page in part.page_bytes:
                if data % page:
                    whole = -(-data // page) * page
                    rule = f"the data, {format_size(data)}, are not whole pages of {format_size(page)}"
                    yield part.problem("dataSize", rule, f"write dataSize {_written(whole)}")
                    return


def shared_data_are_no_neighbours(part: ReadWorkload) -> Problems:
    """Yield a problem if data that all instances share would be those of one of them."""
    if "shared" in part.data and any(part.shift):
        yield part.problem("shift", "is about data that each instance wrote; shared data are of all", "leave shift out")


def _written(size: int) -> str:
    text = format_size(size)
    return f'"{text}"' if isinstance(text, str) else str(text)
