"""Metadata operations in phases, as mdtest and IO500 measure them: work with names instead of bytes."""

import json
import math
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from matrix.fields.types import Rule, SizeOrNone, Sweep
from matrix.input.workloads.contract import Clients, Workload
from matrix.input.workloads.sizes import (
    EQUAL,
    SizesField,
    a_list_has_all_sizes,
    is_listed,
    metered_bytes,
    sizes_of,
    total_bytes,
)
from matrix.input.workloads.sweeps import Footprint, Params, combinations, values_are_different
from matrix.input.workloads.touch import TOOL_CEILING_PER_S, files_divide_by_threads
from matrix.storages.base import Ability, Need, Storage
from matrix.terms.charges import METERED_METADATA_BYTES
from matrix.terms.metrics import latencies
from matrix.terms.problems import Problems

# Always in this order, as in mdtest; list is IO500's find.
PHASES = ("create", "stat", "open-read", "list", "rename", "delete")
# Phases that change a directory; the others only read.
CHANGES = frozenset({"create", "rename", "delete"})
# Phases that write or read what is in the files.
WITH_CONTENTS = frozenset({"create", "open-read"})
# A READDIR reply of 32 KiB with about 256 bytes for each entry: an emulated storage counts it as one operation.
ENTRIES_OF_A_REPLY = 128
MAX_FILE_BYTES = 2**20
# Of XFS and ext4.
BLOCK_BYTES = 4_096


class MetadataWorkload(Workload):
    """Creates files and then looks at, opens, lists, renames and deletes them; primary metric files_per_s."""

    primary_metric: ClassVar[str] = "files_per_s"
    yields: ClassVar[frozenset[str]] = frozenset(
        {
            *("files_per_s", "longest_stall_s"),
            *(f"{phase.replace('-', '_')}s_per_s" for phase in PHASES),
            *latencies(*(phase.replace("-", "_") for phase in PHASES)),
        }
    )
    size_field: ClassVar[str] = "files"
    setting_apart: ClassVar[tuple[str, ...]] = ("sizes",)

    type: Literal["metadata"]
    """Kind of workload."""
    files: Annotated[Sweep[Annotated[int, Field(ge=1, le=10_000_000)]], Field(examples=[1024])]
    """Files that each instance creates, over all its threads."""
    phases: list[Literal["stat", "open-read", "list", "rename"]] = Field(
        default=["stat", "open-read", "list", "rename"], max_length=4
    )
    """Phases between create and delete, which are always measured."""
    threads: Sweep[Annotated[int, Field(ge=1, le=1_024)]] = Field(default=[1])
    """Workers of each instance: threads or processes, chosen by the storage's speed."""
    directories: Sweep[Literal["own", "fleet"]] = Field(default=["own"])
    """Each worker has its own, or all workers of all instances work in one (of a volume: all of its instance)."""
    file_size: Sweep[Annotated[SizeOrNone, Field(le=MAX_FILE_BYTES)]] = Field(default=[0])
    """Size of each file: written by create, read by open-read. IO500's hard files have 3901 bytes."""
    sizes: Annotated[SizesField, Field(examples=[{"lognormal": 1.5}])] = EQUAL
    """All files have this size, or it is the mean of a distribution; or sizes with weights."""
    sync: Sweep[Literal["none", "end", "each"]] = Field(default=["none"])
    """When a create, rename or delete counts: when the kernel has it, or stored: each by itself, or all at the end."""
    stonewall: Sweep[Literal["none", "first"]] = Field(default=["none"])
    """Whether a phase ends for all workers of an instance when its first worker is done."""
    at_most_seconds: Annotated[int | None, Field(ge=1, le=3_600, examples=[300])] = None
    """Seconds after which a phase ends for all workers of all instances. Work done by then counts."""

    def needs(self) -> Iterator[Need]:
        """Yield the needs of its phases, directories and syncs."""
        if "rename" in self.phases:
            kept = [phase for phase in self.phases if phase != "rename"]
            yield Need(Ability.RENAME, "phases", "rename", f"write phases {json.dumps(kept)}")
        if "fleet" in self.directories:
            yield Need(Ability.SEE_OTHERS, "directories", "fleet", 'write directories "own"')
        if "end" in self.sync:
            yield Need(Ability.SYNC_NAMES, "sync", "end", 'write sync "each"')

    def points(self) -> list[Params]:
        """Return the parameters of each point: the phases of each combination, one after the other."""
        points = combinations(
            {
                "files": self.files,
                "threads": self.threads,
                "directories": self.directories,
                "file_bytes": [sizes_of(size, self.sizes).mean_bytes for size in self.file_size],
                "sync": self.sync,
                "stonewall": self.stonewall,
                "phase": [phase for phase in PHASES if phase in {"create", "delete", *self.phases}],
            }
        )
        apart = {"at_most_s": self.at_most_seconds} | self.set_apart(self.document)
        return [{"phase": point.pop("phase"), **point, **apart} for point in points]

    @property
    def points_in_a_row(self) -> int:
        """Its phases: each works with the files of the phase before."""
        return len(self.phases) + 2

    @property
    def number_of_points(self) -> int:
        """The phases of each combination."""
        sweeps = (self.files, self.threads, self.directories, self.file_size, self.sync, self.stonewall)
        return math.prod(len(values) for values in sweeps) * self.points_in_a_row

    @property
    def moves_data(self) -> bool:
        return any(self.file_size)

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected footprint of one instance for one phase of `params`."""
        phase, files, threads = params["phase"], params["files"], params["threads"]
        if phase in CHANGES:
            # A shared storage answers when a name is stored, so a sync has nothing left to wait for.
            sync_s = storage.sync_latency_s if params["sync"] == "each" and not storage.traits.is_shared else 0.0
            latency_s = storage.create_latency_s + sync_s
        else:
            latency_s = storage.block_times.read_s if storage.block_times else storage.create_latency_s
        if phase == "list":
            # In the fleet's directory one worker of each instance lists the files of all.
            is_shared = params["directories"] == "fleet"
            files *= clients.count if is_shared and storage.traits.is_shared else 1
            latency_s, threads = latency_s / ENTRIES_OF_A_REPLY, 1 if is_shared else threads
        per_s = min(threads / latency_s, TOOL_CEILING_PER_S["engine"])
        operations = files * operations_of_a_file(phase)
        seconds = max(
            files / per_s, operations * clients.count / storage.effective_iops if storage.traits.is_shared else 0.0
        )
        names_bytes, is_change, is_writing = operations * METERED_METADATA_BYTES, phase in CHANGES, phase == "create"
        has_contents = phase in WITH_CONTENTS
        data_bytes = total_bytes(files, params["file_bytes"], self.sizes) if has_contents else 0
        padding = metered_bytes(files, params["file_bytes"], self.sizes) - data_bytes if has_contents else 0.0
        return Footprint(
            min(seconds, params["at_most_s"] or math.inf),
            read_bytes=0.0 if is_change else names_bytes + data_bytes,
            written_bytes=names_bytes + data_bytes if is_change else 0.0,
            read_padding=0.0 if is_change else padding,
            written_padding=padding if is_change else 0.0,
            stored_bytes=total_bytes(files, params["file_bytes"], self.sizes, BLOCK_BYTES) if is_writing else 0.0,
            read_requests=0.0 if is_change else operations,
            write_requests=files if is_writing else 0.0,
            longest_s=params["at_most_s"] or math.inf,
        )

    def latencies_of(self, operation: str, params: Params, storage: Storage, clients: Clients) -> float:
        """Return the files of a phase; how often it lists is not known."""
        if operation == "list":
            return super().latencies_of(operation, params, storage, clients)
        return float(params["files"]) if params["phase"].replace("-", "_") == operation else 0.0

    def can_be_emulated(self, params: Params) -> bool:
        """Return whether our own engine does a point, which alone keeps to an emulated storage's speed: it does all."""
        del params
        return True

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (files_divide_by_threads, contents_are_not_synced_at_the_end, sizes_have_bounds, values_are_different)


def operations_of_a_file(phase: str) -> float:
    """Return how many operations of a storage one file of a phase is; a reply lists many files at once."""
    return 1 / ENTRIES_OF_A_REPLY if phase == "list" else 1.0


def contents_are_not_synced_at_the_end(part: MetadataWorkload) -> Problems:
    """Yield a problem if names would be synced at the end, but not the contents of the files."""
    if "end" in part.sync and (any(part.file_size) or part.sizes != EQUAL):
        rule = "stores the names at the end, and not what is in the files"
        yield part.problem("sync", rule, 'write "each" or "none", or leave fileSize out', value="end")


def sizes_have_bounds(part: MetadataWorkload) -> Problems:
    """Yield a problem for a distribution without a mean, beside sizes with weights, or with too large files."""
    yield from a_list_has_all_sizes(part, part.sizes, "file_size", "fileSize")
    if part.sizes == EQUAL:
        return
    if not is_listed(part.sizes) and 0 in part.file_size:
        yield part.problem("sizes", "has no mean: fileSize is 0", "write the mean as fileSize, for example 3901")
    elif (largest := sizes_of(max(part.file_size), part.sizes).largest) > MAX_FILE_BYTES:
        field = "sizes" if is_listed(part.sizes) else "fileSize"
        rule = f"the largest file has {largest:,} bytes, and each worker holds one in memory"
        most = MAX_FILE_BYTES if is_listed(part.sizes) else MAX_FILE_BYTES * max(part.file_size) // largest
        yield part.problem(field, rule, f"write {most} or less")
