"""Create empty files, to measure a storage's metadata rate."""

import math
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from matrix.fields.types import Rule, Sweep
from matrix.input.workloads.contract import Clients
from matrix.input.workloads.open_loop import OpenLoopModel, a_limit_has_its_rates
from matrix.input.workloads.sweeps import Footprint, Params, combinations, values_are_different
from matrix.storages.base import Ability, Need, Storage
from matrix.terms.charges import METERED_METADATA_BYTES
from matrix.terms.metrics import latencies
from matrix.terms.open_loop import HIGHEST_RATE
from matrix.terms.problems import Problems
from matrix.terms.sentences import MAX_NAMED

# Files per second that a tool can start at all, measured on two cores, the median of 3 to 5 runs.
TOOL_CEILING_PER_S = {"engine": 100_000.0, "touch": 900.0, "parallel": 300.0}
MAX_FILES = 10_000_000
# More files than this multiple of the wanted ones would be another measurement.
MAX_FACTOR = 4


class TouchWorkload(OpenLoopModel):
    """Creates empty files; primary metric files_per_s."""

    primary_metric: ClassVar[str] = "files_per_s"
    open_loop_metric: ClassVar[str] = "create_lat_p99_us"
    yields: ClassVar[frozenset[str]] = frozenset(
        {"files_per_s", "creates_per_s", "longest_stall_s", HIGHEST_RATE, *latencies("create")}
    )

    type: Literal["touch"]
    """Kind of workload."""
    files: Annotated[Sweep[Annotated[int, Field(ge=1, le=MAX_FILES)]], Field(examples=[1024])]
    """Files that each instance creates in one step, over all its threads."""
    threads: Sweep[Annotated[int, Field(ge=1, le=1_024)]] = Field(default=[1])
    """Threads (or processes, by the tool) of each instance."""
    directories: Sweep[Literal["shared", "own"]] = Field(default=["shared"])
    """Whether the threads of an instance share one directory or each have their own."""
    tool: Sweep[Literal["engine", "touch", "parallel"]] = Field(default=["engine"])
    """Tool: the agent's own engine, loops of touch, or touch under GNU parallel (as published)."""
    sync: Sweep[Literal["none", "end", "each"]] = Field(default=["none"])
    """When a create counts: when the kernel has it, or (engine only) stored: each by itself, or all at the end."""

    def needs(self) -> Iterator[Need]:
        """Yield the needs of a sync at the end (of the directory), and of GNU parallel's separate processes."""
        if "parallel" in self.tool:
            yield Need(Ability.EVERYTHING, "tool", "parallel", 'write tool "engine"')
        if "end" in self.sync:
            yield Need(Ability.SYNC_NAMES, "sync", "end", 'write sync "each"')

    def points(self) -> list[Params]:
        points = combinations(
            {
                "files": self.files,
                "threads": self.threads,
                "directories": self.directories,
                "tool": self.tool,
                "sync": self.sync,
            }
        )
        return self.with_rates(points)

    def operations(self, params: Params) -> float:
        return float(params["files"])

    def latencies_of(self, operation: str, params: Params, storage: Storage, clients: Clients) -> float:
        """Return its creates; only the engine has their latencies."""
        is_measured = params["tool"] == "engine"
        return super().latencies_of(operation, params, storage, clients) if is_measured else 0.0

    @property
    def moves_data(self) -> bool:
        return False

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected footprint of one instance for one step of `params`."""
        # A shared storage answers when a file is stored, so a sync has nothing left to wait for.
        sync_s = storage.sync_latency_s if params.get("sync") == "each" and not storage.traits.is_shared else 0.0
        per_s = min(params["threads"] / (storage.create_latency_s + sync_s), TOOL_CEILING_PER_S[params["tool"]])
        if storage.traits.is_shared:
            per_s = min(per_s, storage.effective_iops / clients.count)
        seconds = max(params["files"] / per_s, self.paced_s(params))
        files = params["files"]
        return Footprint(seconds, written_bytes=files * METERED_METADATA_BYTES, write_requests=files)

    def can_be_emulated(self, params: Params) -> bool:
        """Return whether our own engine does a point, which alone keeps to an emulated storage's speed."""
        return bool(params["tool"] == "engine")

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (
            files_divide_by_threads,
            only_the_engine_syncs,
            only_the_engine_keeps_a_rate,
            a_limit_has_its_rates,
            values_are_different,
        )


def files_divide_by_threads(part: Any) -> Problems:
    """Yield a problem if the threads cannot have equally many files each."""
    yield from files_divide_by(part, "threads")


def files_divide_by(part: Any, field: str) -> Problems:
    """Yield a problem for the first number of files that a value of another field does not divide.

    The fix names the nearest numbers that all values divide, or, if they are far away, values that divide this one.
    """
    values = getattr(part, field)
    for files in part.files:
        if value := next((value for value in values if files % value), None):
            rule = f"cannot be shared equally by {value} {field} ({files} % {value} = {files % value})"
            step = math.lcm(*values)
            near = {files // step * step, -(-files // step) * step}
            fits = [str(number) for number in sorted(near) if 0 < number <= min(MAX_FILES, MAX_FACTOR * files)]
            divisors = [str(number) for number in range(1, max(values) + 1) if files % number == 0]
            divided = f"{field} out of {', '.join(divisors[-MAX_NAMED:])}"
            yield part.problem(
                "files", rule, f"write {' or '.join(fits)}, or {divided}" if fits else f"write {divided}"
            )
            return


def only_the_engine_syncs(part: TouchWorkload) -> Problems:
    """Yield a problem if a program that cannot sync is to do so."""
    others = [tool for tool in part.tool if tool != "engine"]
    asked = [sync for sync in part.sync if sync != "none"]
    if others and asked:
        rule = f"{others[0]} does not sync what it creates"
        yield part.problem("sync", rule, 'write tool "engine", or leave sync out', value=asked[0])


def only_the_engine_keeps_a_rate(part: TouchWorkload) -> Problems:
    """Yield a problem if a program without a rate is to keep one, or if the last operation waits for all others."""
    if part.rate_per_second_per_instance is None:
        return
    others = [tool for tool in part.tool if tool != "engine"]
    if others:
        rule = f"{others[0]} works as fast as it can"
        yield part.problem("ratePerSecondPerInstance", rule, 'write tool "engine", or leave the rate out')
    if "end" in part.sync:
        rule = "one sync at the end is not the latency of an operation that was due at its own moment"
        yield part.problem("sync", rule, 'write sync "each" or "none", or leave the rate out')
