"""Delete many files that were created before the measured time."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from matrix.fields.types import Rule, Size, Sweep
from matrix.input.workloads.contract import Clients, Workload
from matrix.input.workloads.sizes import metered_bytes
from matrix.input.workloads.sweeps import Footprint, Params, combinations, values_are_different
from matrix.input.workloads.touch import TOOL_CEILING_PER_S, files_divide_by
from matrix.storages.base import Ability, Need, Storage
from matrix.terms.charges import METERED_METADATA_BYTES
from matrix.terms.metrics import latencies
from matrix.terms.problems import Problems

# Number of threads that create the files before the measurement; the plan includes their time.
WORKERS = 16
# If `threads` is not given: 8 for each of the 8 vCPUs of the tutorial's instance.
ASSUMED_THREADS = 64


class DeleteWorkload(Workload):
    """Deletes files in many directories at once; primary metric files_per_s."""

    primary_metric: ClassVar[str] = "files_per_s"
    yields: ClassVar[frozenset[str]] = frozenset({"files_per_s", "deletes_per_s", "longest_stall_s"}) | latencies(
        "delete"
    )
    size_field: ClassVar[str] = "files"

    type: Literal["delete"]
    """Kind of workload."""
    files: Sweep[Annotated[int, Field(ge=1, le=1_000_000)]] = Field(default=[5_000])
    """Files that each instance deletes in one step; they are made before the time."""
    file_size: Sweep[Size] = Field(default=[4_096])
    """Size of each file."""
    directories: Sweep[Annotated[int, Field(ge=1, le=1_024)]] = Field(default=[10])
    """Directories that the files lie in, equally many in each."""
    tool: Sweep[Literal["engine", "parallel"]] = Field(default=["engine"])
    """Tool: our own engine with a worker for each directory, or rm -r of each under GNU parallel (as published)."""
    threads: Annotated[int, Field(ge=1, le=1_024)] | None = None
    """Directories that GNU parallel deletes at once; 8 for each vCPU unless given (as published)."""

    def needs(self) -> Iterator[Need]:
        """Yield that rm -r expects to find the directories that it has emptied."""
        if "parallel" in self.tool:
            yield Need(Ability.EVERYTHING, "tool", "parallel", 'write tool "engine"')

    def points(self) -> list[Params]:
        swept = combinations(
            {"files": self.files, "file_bytes": self.file_size, "directories": self.directories, "tool": self.tool}
        )
        return [point | {"threads": self.threads} for point in swept]

    @property
    def moves_data(self) -> bool:
        return any(self.file_size)

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected footprint of one instance for creating and deleting the files."""
        files, total_bytes = params["files"], params["files"] * params["file_bytes"]
        at_once = params["directories"]
        if params["tool"] == "parallel":
            at_once = min(at_once, params["threads"] or ASSUMED_THREADS)
        most_per_s = min(TOOL_CEILING_PER_S["engine"], storage.effective_iops / clients.sharing(storage))
        making_s = files / min(WORKERS / storage.create_latency_s, most_per_s)
        making_s += total_bytes / clients.bytes_per_s(storage, WORKERS)
        deleting_s = files / min(at_once / storage.create_latency_s, most_per_s)
        written = 2 * files * METERED_METADATA_BYTES + total_bytes
        padding = metered_bytes(files, params["file_bytes"]) - total_bytes
        return Footprint(
            making_s + deleting_s, written_bytes=written, stored_bytes=total_bytes, written_padding=padding
        )

    def can_be_emulated(self, params: Params) -> bool:
        """Return whether our own engine does a point, which alone keeps to an emulated storage's speed."""
        return bool(params["tool"] == "engine")

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (files_divide_by_directories, values_are_different)


def files_divide_by_directories(part: DeleteWorkload) -> Problems:
    """Yield a problem if the directories cannot have equally many files each."""
    yield from files_divide_by(part, "directories")
