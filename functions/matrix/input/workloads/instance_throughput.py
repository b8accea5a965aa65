"""One large write from each instance, watched each second: how fast an instance type may write, and for how long."""

from typing import ClassVar, Literal

from pydantic import Field

from matrix.fields.types import Rule, Size, Sweep
from matrix.input.workloads.contract import Clients, Workload
from matrix.input.workloads.sweeps import Footprint, Params, combinations, values_are_different
from matrix.storages.base import Storage
from matrix.terms.problems import Problems
from matrix.terms.sizes import format_size

# Mean rate of the slowest instance of the published table (t2.micro, 20 GiB in 720 s). Faster ones end sooner than
# planned; with a faster rate the plan would give up a throttled instance before its baseline is known.
SLOWEST_BYTES_PER_S = 30e6
MAX_BLOCK_BYTES = 64 * 2**20


class InstanceThroughputWorkload(Workload):
    """Writes one large file and watches the bytes each second; primary metric mb_per_s."""

    primary_metric: ClassVar[str] = "mb_per_s"
    yields: ClassVar[frozenset[str]] = frozenset(
        {
            *("mb_per_s", "burst_mb_per_s", "baseline_mb_per_s", "burst_s", "cpu_steal_s"),
            *("bw_in_allowance_exceeded", "bw_out_allowance_exceeded"),
        }
    )

    type: Literal["instance-throughput"]
    """Kind of workload."""
    size: Sweep[Size] = Field(default=[20 * 2**30])
    """Bytes that each instance writes in one step into one file, synchronised at the end."""
    block_size: Sweep[Size] = Field(default=[2**20])
    """Size of one write."""
    source: Sweep[Literal["random", "zero"]] = Field(default=["random"])
    """Written data: incompressible, or zeros (as published)."""

    tool: Sweep[Literal["engine", "dd"]] = Field(default=["engine"])
    """Our own writer, or dd with conv=fsync (as published), which writes zeros."""

    def points(self) -> list[Params]:
        return combinations(
            {"total_bytes": self.size, "block_bytes": self.block_size, "source": self.source, "tool": self.tool}
        )

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected footprint of one instance: the bytes at the pace of the slowest published instance."""
        total_bytes = params["total_bytes"]
        seconds = total_bytes / min(clients.bytes_per_s(storage), SLOWEST_BYTES_PER_S)
        return Footprint(seconds, written_bytes=total_bytes, stored_bytes=total_bytes)

    @property
    def writes_zeros(self) -> bool:
        return "zero" in self.source

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (blocks_are_smaller_than_the_file, dd_writes_whole_blocks_of_zeros, values_are_different)


def blocks_are_smaller_than_the_file(part: InstanceThroughputWorkload) -> Problems:
    """Yield a problem if a block is larger than the file or than a small instance's memory."""
    largest = max(part.block_size)
    if largest > MAX_BLOCK_BYTES:
        rule = "blocks are drawn four at a time in memory; at most 64MiB"
        yield part.problem("blockSize", rule, 'write "64MiB" or less', value=format_size(largest))
    elif largest > min(part.size):
        rule = f"is larger than the smallest size, {format_size(min(part.size))}"
        yield part.problem("blockSize", rule, "write smaller blocks, or a larger size", value=format_size(largest))


def dd_writes_whole_blocks_of_zeros(part: InstanceThroughputWorkload) -> Problems:
    """Yield a problem if dd would have to write something else, or a part of a block."""
    if "dd" not in part.tool:
        return
    if "random" in part.source:
        yield part.problem("source", "dd has nothing but zeros to write as fast as it can", 'write source "zero"')
    if any(size % block for size in part.size for block in part.block_size):
        yield part.problem("blockSize", "dd writes whole blocks", "write a size that is a multiple of each block")
