"""Source files for copies: incompressible, made once per instance, on its own disk and not on the measured storage.

A pool of random bytes is drawn once. Each file is a part of it at a random position, a large file several parts: 1.5 to
2.6 GB/s, while os.urandom for each file makes 230 MB/s and random.randbytes 200 MB/s (2 cores, into memory and to the
disk). No compressor finds the overlaps, which are far apart. Deduplication in blocks of 4 KiB finds two that begin at
the same place of a block: of 8 GiB from one pool 1.6 %, so then another pool is drawn. Memory use is that of the pool,
however large the files are.
"""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agent.errors import SourceDoesNotFit
from contract.sizes import Sizes, name_of

FILES_PER_DIRECTORY = 500  # as the EFS tutorial's data set has: 10 directories of 500 files
POOL_BYTES = 1 << 26
STRETCH_BYTES = POOL_BYTES // 2  # at most, of the pool at once: the longest still begins at one of 2^25 places
# Of a block at one of 4,096 places in a pool of 2^26 bytes there are 2^26 different ones, which are 256 GiB. Half of
# the share of them that is taken (8/256) comes twice.
POOL_SERVES_BYTES = 1 << 33
# Space that must stay free beside the data set, for the tools' own lists and the system's logs.
SPARE_BYTES = 1 << 26
# Of XFS, which makes inodes in its free space; ext4 has set theirs aside before.
INODE_BYTES = 512


@dataclass(frozen=True)
class DataSet:
    """`files` files of `file_bytes` below `folder`, or of a distribution of `sizes` with this mean."""

    folder: Path
    files: int
    file_bytes: int
    sizes: str = ""

    @cached_property
    def file_sizes(self) -> list[int]:
        """Bytes of each file, in the order of `paths`; drawn sizes are the same on each instance and in each run."""
        return [*map(Sizes(self.file_bytes, self.sizes).of, range(self.files))]

    @property
    def total_bytes(self) -> int:
        return sum(self.file_sizes)

    def paths(self) -> list[str]:
        """Path of each file below the folder; its last part is unique, too."""
        return [f"d{n // FILES_PER_DIRECTORY:05d}/f{n:08d}" for n in range(self.files)]


def provide(root: Path, files: int, file_bytes: int, sizes: str = "") -> DataSet:
    """Return the data set of that shape below `root`, an existing or a new one. Raises SourceDoesNotFit."""
    shape = f"{files}x{file_bytes}{name_of(sizes)}"
    data_set = DataSet(root / shape, files, file_bytes, sizes)
    if data_set.folder.exists():
        return data_set
    # Under another name until it is complete, so that nothing is copied from the half-made files of a killed agent.
    unfinished = root / f"unfinished-{data_set.folder.name}"
    shutil.rmtree(unfinished, ignore_errors=True)
    _check_free_space(root, data_set)
    _fill(unfinished, data_set)
    unfinished.rename(data_set.folder)
    return data_set


def _check_free_space(root: Path, wanted: DataSet) -> None:
    """Raise SourceDoesNotFit if a disk has too few bytes, in whole blocks, or too few inodes for a data set."""
    disk = os.statvfs(root)
    blocks = sum(-(-size // disk.f_frsize) for size in wanted.file_sizes)
    needed, free = blocks * disk.f_frsize + wanted.files * INODE_BYTES + SPARE_BYTES, disk.f_bavail * disk.f_frsize
    inodes = wanted.files + wanted.files // FILES_PER_DIRECTORY + 2  # a directory is an inode, too
    has_inodes = disk.f_files > 0  # btrfs has no number of its own
    for count, kind, there_are in (
        (needed, "bytes", free),
        (inodes, "inodes", disk.f_favail if has_inodes else inodes),
    ):
        if count > there_are:
            raise SourceDoesNotFit(
                f"a data set of {wanted.files} x {wanted.file_bytes} bytes needs {count} {kind} of the instance's own "
                f"disk ({root}), {there_are} are free; copy fewer or smaller files"
            )


def _fill(folder: Path, wanted: DataSet) -> None:
    content = _RandomBytes()
    for name, size in zip(wanted.paths(), wanted.file_sizes):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for done in range(0, size, STRETCH_BYTES):
                file.write(content.take(min(STRETCH_BYTES, size - done)))


class _RandomBytes:
    """Stretches of a random pool, which is drawn again before blocks come twice."""

    def __init__(self) -> None:
        self._draw()

    def take(self, length: int) -> memoryview:
        if self._serves < length:
            self._draw()
        self._serves -= length
        start = random.randrange(len(self._pool) - length + 1)  # noqa: S311 where a stretch begins is not a secret
        return self._pool[start : start + length]

    def _draw(self) -> None:
        self._pool, self._serves = memoryview(os.urandom(POOL_BYTES)), POOL_SERVES_BYTES
