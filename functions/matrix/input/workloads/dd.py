"""Write large files in blocks with dd, to measure a storage's throughput."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from matrix.fields.types import Rule, Size, Sweep
from matrix.input.workloads.contract import Clients, Workload
from matrix.input.workloads.sweeps import Footprint, Params, combinations, values_are_different
from matrix.storages.base import Ability, Need, Storage
from matrix.terms.charges import PUT_PART_BYTES, metered_request_bytes
from matrix.terms.metrics import latencies
from matrix.terms.problems import Problems
from matrix.terms.quantities import count_of
from matrix.terms.sizes import UNITS, format_size

MAX_BLOCK_BYTES = UNITS["GiB"]
# A stamp has 32 bytes (agent/engine/stamps.py).
MIN_STAMPED_BYTES = 64


class DdWorkload(Workload):
    """Writes files in blocks; primary metric mb_per_s."""

    primary_metric: ClassVar[str] = "mb_per_s"
    yields: ClassVar[frozenset[str]] = frozenset(
        {"mb_per_s", "mib_per_s", "longest_stall_s", "slowest_dd_s", "slowest_dd_mb_per_s", *latencies("write")}
    )
    size_field: ClassVar[str] = "dataSize"

    type: Literal["dd"]
    """Kind of workload."""
    data_size: Annotated[Sweep[Size], Field(examples=["2GiB"])]
    """Bytes that each instance writes in one step, over all its threads."""
    block_size: Sweep[Size] = Field(default=[2**20])
    """Size of one write."""
    sync: Sweep[Literal["end", "block"]] = Field(default=["end"])
    """Synchronise once at the end (conv=fsync) or with each block (oflag=sync)."""
    threads: Sweep[Annotated[int, Field(ge=1, le=256)]] = Field(default=[1])
    """dd processes (of the engine: workers) at once on each instance; they share dataSize."""
    tool: Sweep[Literal["dd", "parallel", "engine"]] = Field(default=["dd"])
    """dd started by the agent behind one barrier, dd under GNU parallel (as published), or the agent's own engine."""
    source: Sweep[Literal["random", "zero"]] = Field(default=["random"])
    """Written data: incompressible, or zeros (as published)."""
    verify: bool = False
    """Whether each block is stamped, read back past the cache after the time, and compared (engine only)."""

    def needs(self) -> Iterator[Need]:
        """Yield that blocks that are synchronised one by one go on after it."""
        if "block" in self.sync:
            yield Need(Ability.SYNC_MIDWAY, "sync", "block", 'write sync "end"')

    def points(self) -> list[Params]:
        points = combinations(
            {
                "data_bytes": self.data_size,
                "block_bytes": self.block_size,
                "sync": self.sync,
                "threads": self.threads,
                "tool": self.tool,
                "source": self.source,
            }
        )
        return [{**point, "verify": True} for point in points] if self.verify else points

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected footprint of one instance: the longer of moving the bytes and waiting for the blocks."""
        data_bytes = params["data_bytes"]
        moving_s = data_bytes / clients.bytes_per_s(storage, params["threads"])
        blocks = data_bytes / params["block_bytes"]
        waiting_s = blocks / params["threads"] * storage.sync_latency_s if params["sync"] == "block" else 0.0
        is_read_back = params.get("verify", False)
        seconds = max(moving_s, waiting_s) + (moving_s if is_read_back else 0.0)
        read_bytes = data_bytes if is_read_back else 0
        each = params["block_bytes"]
        padding = blocks * (metered_request_bytes(each) - each) if params["sync"] == "block" else 0.0
        return Footprint(
            seconds,
            written_padding=padding,
            read_bytes=read_bytes,
            written_bytes=data_bytes,
            stored_bytes=data_bytes,
            write_requests=max(params["threads"], data_bytes / PUT_PART_BYTES),
        )

    def can_be_emulated(self, params: Params) -> bool:
        """Return whether our own engine does a point, which alone keeps to an emulated storage's speed."""
        return bool(params["tool"] == "engine")

    @property
    def writes_zeros(self) -> bool:
        return "zero" in self.source

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (blocks_fill_the_total, blocks_fit_into_memory, only_the_engine_verifies, values_are_different)


def blocks_fill_the_total(part: DdWorkload) -> Problems:
    """Yield a problem if the threads cannot write equally many whole blocks each."""
    for total in part.data_size:
        for threads in part.threads:
            for block in part.block_size:
                if total % (threads * block):
                    whole = max(total // (threads * block), 1) * threads * block
                    sum_ = f"{count_of(threads, 'thread')} * {format_size(block)} = {format_size(threads * block)}"
                    rule = f"must be a multiple of {sum_}, {format_size(total)} is not"
                    yield part.problem("dataSize", rule, f'write "{format_size(whole)}", or other threads or blockSize')
                    return


def blocks_fit_into_memory(part: DdWorkload) -> Problems:
    """Yield a problem if dd would need more memory for one block than a small instance has."""
    for block in part.block_size:
        if block > MAX_BLOCK_BYTES:
            yield part.problem("blockSize", "dd holds a whole block in memory; at most 1GiB", 'write "1GiB" or less')
            return


def only_the_engine_verifies(part: DdWorkload) -> Problems:
    """Yield a problem if a program without stamps is to verify, or if a block is too small for its stamp."""
    if not part.verify:
        return
    others = [tool for tool in part.tool if tool != "engine"]
    if others:
        rule = f"{others[0]} writes no stamps that could be read back"
        yield part.problem("verify", rule, 'write tool "engine", or leave verify out')
    elif min(part.block_size) < MIN_STAMPED_BYTES:
        rule = f"each block carries its stamp; at least {MIN_STAMPED_BYTES} bytes"
        yield part.problem("blockSize", rule, f"write {MIN_STAMPED_BYTES} or more")
