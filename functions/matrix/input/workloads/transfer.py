"""Copy many files from the instance's own disk to the storage with common tools."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from matrix.fields.types import AS_GIVEN, Rule, Size, Sweep
from matrix.input.workloads.contract import Clients, Workload
from matrix.input.workloads.sizes import EQUAL, SizesField, a_list_has_all_sizes, metered_bytes, sizes_of, total_bytes
from matrix.input.workloads.sweeps import Footprint, Params, combinations, values_are_different
from matrix.storages.base import Storage
from matrix.terms.documents.parts import Volume
from matrix.terms.problems import Problems
from matrix.terms.sizes import format_size

# These copy one file after the other, with any number of threads.
ONE_AT_A_TIME = ("rsync", "cp")
THREADS_PER_VCPU = 4
# If `threads` is not given, the estimate assumes an instance of 8 vCPUs, like the tutorial's.
ASSUMED_THREADS = 8 * THREADS_PER_VCPU
# The data set is on a volume of its own, half full at the most. A gp3 gives 125 MiB/s, a gp2 of up to 170 GiB 128 (EBS
# user guide, volume types).
SOURCE_BYTES_PER_S = 125 * 2**20
# Of XFS and ext4: a file of a byte takes a block.
BLOCK_BYTES = 4096
# Files per second that a tool can start at all, measured on two cores, the median of 3 to 5 runs.
TOOL_FILES_PER_S = {
    "rsync": 690.0, "cp": 2_900.0, "fpsync": 700.0, "cp+parallel": 300.0, "fpart+cpio+parallel": 1_000.0,
}  # fmt: skip
MIB = 2**20


class TransferWorkload(Workload):
    """Copies files of a generated data set to the storage; primary metric mb_per_s."""

    primary_metric: ClassVar[str] = "mb_per_s"
    yields: ClassVar[frozenset[str]] = frozenset({"mb_per_s", "files_per_s"})
    size_field: ClassVar[str] = "files"
    setting_apart: ClassVar[tuple[str, ...]] = ("sizes", "source_volume_type", "source_volume_gib")

    type: Literal["transfer"]
    """Kind of workload."""
    tool: Annotated[
        Sweep[Literal["rsync", "cp", "fpsync", "cp+parallel", "fpart+cpio+parallel"]],
        Field(examples=[["cp", "cp+parallel"]]),
    ]
    """Tool: copies one file after another, or many at once."""
    files: Sweep[Annotated[int, Field(ge=1, le=1_000_000)]] = Field(default=[5_000])
    """Files that each instance copies in one step."""
    file_size: Sweep[Size] = Field(default=[1_000_000])
    """Size of each file; the data is incompressible."""
    sizes: Annotated[SizesField, Field(examples=[{"lognormal": 1.5}])] = EQUAL
    """All files have this size, or it is the mean of a distribution; or sizes with weights."""
    threads: Sweep[Annotated[int, Field(ge=1, le=256)]] | None = None
    """Copies at once, for the tools that can; 4 for each vCPU unless given."""
    source_volume_type: Literal["gp2", "gp3"] = "gp3"
    """Type of the volume that the files are copied from."""
    source_volume_gib: Annotated[int, Field(alias="sourceVolumeGiB", ge=1, le=1_000)] = 20
    """Its size in GiB; the data sets may fill half of it."""

    def points(self) -> list[Params]:
        """Return the parameters of each point; tools that copy one file at a time have one point for all threads."""
        apart = self.set_apart(self.document)
        swept = combinations(
            {
                "tool": self.tool,
                "files": self.files,
                "file_bytes": [sizes_of(size, self.sizes).mean_bytes for size in self.file_size],
                "threads": self.threads or [None],
            }
        )
        points: list[Params] = []
        for params in swept:
            point = params | {"threads": 1} if params["tool"] in ONE_AT_A_TIME else params
            if point not in points:
                points.append(point)
        return [point | apart for point in points]

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected footprint of one instance: the longest time of its bytes, its files, and the tool.

        A file waits for its create and for the write of each MiB: with 12 and 40 ms on EFS that is
        260 s for 5,000 files of 1 MB one by one, where the tutorial's table has 329 s (cp) and 435 s (rsync).
        """
        files = params["files"]
        stored = total_bytes(files, params["file_bytes"], self.sizes)
        moving_s = stored / min(clients.bytes_per_s(storage), SOURCE_BYTES_PER_S)
        blocks = -(-params["file_bytes"] // MIB)
        waiting_s = files * (storage.create_latency_s + blocks * storage.sync_latency_s)
        tool_s = files / TOOL_FILES_PER_S[params["tool"]]
        seconds = max(moving_s, waiting_s / (params["threads"] or ASSUMED_THREADS), tool_s)
        padding = metered_bytes(files, params["file_bytes"], self.sizes) - stored
        return Footprint(seconds, written_bytes=stored, stored_bytes=stored, written_padding=padding)

    def work_volume(self, storage: Storage) -> Volume | None:
        """Return the volume that the files are copied from."""
        del storage
        return {"volumeType": self.source_volume_type, "sizeGiB": self.source_volume_gib}

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (data_fits_on_its_volume, a_list_stands_alone, values_are_different)


def a_list_stands_alone(part: TransferWorkload) -> Problems:
    """Yield a problem for a size of the files beside sizes with weights."""
    yield from a_list_has_all_sizes(part, part.sizes, "file_size", "fileSize")


def data_fits_on_its_volume(part: TransferWorkload) -> Problems:
    """Yield a problem if the data sets of all points, which are made once and kept, are too large."""
    needed = sum(total_bytes(files, size, part.sizes, BLOCK_BYTES) for files in part.files for size in part.file_size)
    room = part.source_volume_gib * 2**30 // 2
    if needed > room:
        shapes = len(part.files) * len(part.file_size)
        of_all = f"{shapes} data sets of together " if shapes > 1 else "a data set of "
        volume = f"its volume of {part.source_volume_gib} GiB takes {format_size(room)}"
        rule = f"{of_all}{needed:,} bytes in whole blocks; {volume}"
        yield part.problem(
            "files",
            rule,
            "copy fewer or smaller files, or write a larger sourceVolumeGiB",
            value=AS_GIVEN if "files" in part.model_fields_set else part.files[0],
        )
