"""Files to copy from: incompressible, made once per instance, on its own disk and not on the storage that is measured.

A pool of random bytes is drawn once, and each file is a stretch of it at a random place: 1.5 to 2.6 GB/s, where
os.urandom for each file makes 230 MB/s and random.randbytes 200 MB/s (2 cores, into memory and to the disk). No file
repeats itself, and stretches that overlap do so at odd offsets, so neither a compressor nor a block-wise deduplication
finds anything in them.
"""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import dataclass
from pathlib import Path

from agent.errors import SourceDoesNotFit

FILES_PER_DIRECTORY = 500  # as the EFS tutorial's data set has: 10 directories of 500 files
POOL_BYTES = 1 << 26
# What must stay free beside the data set: the tools' own lists and the system's logs.
SPARE_BYTES = 1 << 26


@dataclass(frozen=True)
class DataSet:
    """`files` files of `file_bytes` below `folder`."""

    folder: Path
    files: int
    file_bytes: int

    @property
    def total_bytes(self) -> int:
        """All files together."""
        return self.files * self.file_bytes

    def names(self) -> list[str]:
        """Each file's path below the folder; the last part alone tells them apart, too."""
        return [f"d{n // FILES_PER_DIRECTORY:05d}/f{n:08d}" for n in range(self.files)]


def provide(root: Path, files: int, file_bytes: int) -> DataSet:
    """The data set of that shape below `root`: the one that is there, or a new one. Raises SourceDoesNotFit."""
    found = DataSet(root / f"{files}x{file_bytes}", files, file_bytes)
    if found.folder.exists():
        return found
    free = shutil.disk_usage(root).free
    if found.total_bytes + SPARE_BYTES > free:
        raise SourceDoesNotFit(
            f"a data set of {files} x {file_bytes} bytes needs {found.total_bytes + SPARE_BYTES} bytes of the "
            f"instance's own disk ({root}), {free} are free; copy fewer or smaller files"
        )
    # Under another name until it is whole: what a killed agent left half-made is never copied from.
    unfinished = root / f"unfinished-{found.folder.name}"
    shutil.rmtree(unfinished, ignore_errors=True)
    _fill(unfinished, found)
    unfinished.rename(found.folder)
    return found


def _fill(folder: Path, wanted: DataSet) -> None:
    pool = memoryview(os.urandom(max(POOL_BYTES, 2 * wanted.file_bytes)))
    last_start = len(pool) - wanted.file_bytes
    for name in wanted.names():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        start = random.randrange(last_start + 1)  # noqa: S311 where a stretch begins is no secret
        path.write_bytes(pool[start : start + wanted.file_bytes])
