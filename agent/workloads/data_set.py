"""Source files for copies: incompressible, made once per instance, on its own disk and not on the measured storage.

A pool of random bytes is drawn once. Each file is a part of it at a random position, a large file several parts: 1.5 to
2.6 GB/s, while os.urandom for each file makes 230 MB/s and random.randbytes 200 MB/s (2 cores, into memory and to the
disk). Overlaps are at odd offsets and far apart, so neither a compressor nor block-wise deduplication finds them.
Memory use is that of the pool, however large the files are.
"""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import dataclass
from functools import cached_property
from io import FileIO
from pathlib import Path

from agent.engine import sizes
from agent.errors import SourceDoesNotFit

FILES_PER_DIRECTORY = 500  # as the EFS tutorial's data set has: 10 directories of 500 files
POOL_BYTES = 1 << 26
STRETCH_BYTES = POOL_BYTES // 2  # at most, of the pool at once: the longest still begins at one of 2^25 places
# Space that must stay free beside the data set, for the tools' own lists and the system's logs.
SPARE_BYTES = 1 << 26


@dataclass(frozen=True)
class DataSet:
    """`files` files of `file_bytes` below `folder`, or exponentially distributed sizes of this mean."""

    folder: Path
    files: int
    file_bytes: int
    is_exponential: bool = False

    @cached_property
    def sizes(self) -> list[int]:
        """Size of each file, in the order of `names`; drawn sizes are the same on each instance and in each run."""
        if not self.is_exponential:
            return [self.file_bytes] * self.files
        draw = random.Random(0)  # noqa: S311 a size is not a secret
        return [sizes.drawn(self.file_bytes, draw) for _ in range(self.files)]

    @property
    def total_bytes(self) -> int:
        return sum(self.sizes)

    def names(self) -> list[str]:
        """Path of each file below the folder; its last part is unique, too."""
        return [f"d{n // FILES_PER_DIRECTORY:05d}/f{n:08d}" for n in range(self.files)]


def provide(root: Path, files: int, file_bytes: int, *, is_exponential: bool = False) -> DataSet:
    """Return the data set of that shape below `root`, an existing or a new one. Raises SourceDoesNotFit."""
    shape = f"{files}x{file_bytes}{'-exponential' if is_exponential else ''}"
    data_set = DataSet(root / shape, files, file_bytes, is_exponential)
    if data_set.folder.exists():
        return data_set
    free = shutil.disk_usage(root).free
    if data_set.total_bytes + SPARE_BYTES > free:
        raise SourceDoesNotFit(
            f"a data set of {files} x {file_bytes} bytes needs {data_set.total_bytes + SPARE_BYTES} bytes of the "
            f"instance's own disk ({root}), {free} are free; copy fewer or smaller files"
        )
    # Under another name until it is complete, so that nothing is copied from the half-made files of a killed agent.
    unfinished = root / f"unfinished-{data_set.folder.name}"
    shutil.rmtree(unfinished, ignore_errors=True)
    _fill(unfinished, data_set)
    unfinished.rename(data_set.folder)
    return data_set


def _fill(folder: Path, wanted: DataSet) -> None:
    pool = memoryview(os.urandom(POOL_BYTES))
    for name, size in zip(wanted.names(), wanted.sizes):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb", buffering=0) as file:
            for done in range(0, size, STRETCH_BYTES):
                _write(file, _stretch(pool, min(STRETCH_BYTES, size - done)))


def _stretch(pool: memoryview, length: int) -> memoryview:
    start = random.randrange(len(pool) - length + 1)  # noqa: S311 where a stretch begins is not a secret
    return pool[start : start + length]


def _write(file: FileIO, piece: memoryview) -> None:
    while piece:
        piece = piece[file.write(piece) :]
