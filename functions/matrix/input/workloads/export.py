"""The time until files become objects: from close() until a listing of the bucket shows them."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from matrix.fields.types import Rule, Size, Sweep
from matrix.input.workloads.contract import Clients, Workload
from matrix.input.workloads.sweeps import Footprint, Params, combinations, values_are_different
from matrix.input.workloads.touch import files_divide_by_threads
from matrix.storages.base import Storage
from matrix.terms.problems import Problems

# Seconds between two listings of one thread (agent/engine/exports.py).
POLL_EVERY_S = 1.0
# S3 user guide, S3 Files performance: an export begins about 60 s after the last change, 800 files a second.
BEGINS_AFTER_S, FILES_PER_S = 60.0, 800.0
# Each thread's files are compared with one page of a listing.
MAX_FILES_OF_A_THREAD = 1_000


class ExportWorkload(Workload):
    """Writes files and waits until each is an object of the bucket; primary metric visible_p90_s."""

    primary_metric: ClassVar[str] = "visible_p90_s"
    yields: ClassVar[frozenset[str]] = frozenset({"visible_p50_s", "visible_p90_s", "visible_p100_s"})
    size_field: ClassVar[str] = "fileSize"

    type: Literal["export"]
    """Kind of workload."""
    files: Sweep[Annotated[int, Field(ge=1, le=1_000_000)]] = Field(default=[64])
    """Files that each instance writes in one step, over all its threads."""
    file_size: Sweep[Size] = Field(default=[65_536])
    """Size of each file."""
    threads: Sweep[Annotated[int, Field(ge=1, le=1_024)]] = Field(default=[1])
    """Writers of each instance; each has a directory of its own, and lists it each second."""
    at_most_seconds: Annotated[int, Field(ge=1, le=3_600, examples=[1_800])] = 600
    """Seconds after which the cell fails if a file is not an object yet."""

    def points(self) -> list[Params]:
        swept = combinations({"files": self.files, "file_bytes": self.file_size, "threads": self.threads})
        return [point | {"at_most_s": self.at_most_seconds} for point in swept]

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected footprint of one instance: the wait, its bytes, its PUTs and listings."""
        files, total_bytes = params["files"], params["files"] * params["file_bytes"]
        writing_s = files * storage.create_latency_s / params["threads"] + total_bytes / storage.bandwidth_bytes_per_s
        waiting_s = BEGINS_AFTER_S + files * clients.count / FILES_PER_S
        listings = params["threads"] * waiting_s / POLL_EVERY_S
        return Footprint(
            writing_s + waiting_s,
            written_bytes=total_bytes,
            stored_bytes=total_bytes,
            write_requests=files + listings,
        )

    @property
    def wants_exports(self) -> bool:
        """Whether it waits for files to become objects: it does."""
        return True

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (files_divide_by_threads, files_of_a_thread_are_a_page, values_are_different)


def files_of_a_thread_are_a_page(part: ExportWorkload) -> Problems:
    """Yield a problem if a thread would need several pages of a listing, which would not show one moment."""
    most, threads = max(part.files), min(part.threads)
    if most > MAX_FILES_OF_A_THREAD * threads:
        rule = f"each thread looks at one page of {MAX_FILES_OF_A_THREAD:,} files, {most:,} on {threads} are more"
        yield part.problem("files", rule, f"write {MAX_FILES_OF_A_THREAD * threads} or less, or more threads")
