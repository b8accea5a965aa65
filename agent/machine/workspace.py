"""An agent's working folders: fresh and empty for each step, removed afterwards."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from agent.errors import CacheMissing, RootSquashed

# Removing 1,024 files one by one takes 10 s on a file system that answers in 10 ms; 16 hands take less than 1 s. Where
# it answers at once they only wait for each other: 2,048 files take 22 ms of processor time, of one hand 15.
WORKERS, ALONE_S = 16, 0.05
DEFAULT_CACHE = "cache"
# So many names of a storage are in the message about a folder that is not among them.
MAX_NAMES = 10


@dataclass(frozen=True)
class Workspace:
    """Where one step works."""

    mount: Path  # the storage itself
    target: Path  # on the storage: fresh, empty, this step's alone
    scratch: Path  # on this machine's own disk: outputs of tools, never measured
    shm: Path  # in memory: sources of data; kept from step to step
    data: Path  # on this machine's own disk, too: data sets to copy from; kept from step to step
    # Files of the cell outside of this instance's folder that it removes at the end, since it is the last to use them.
    at_end: set[Path] = field(default_factory=set)
    is_borrowed: bool = False  # the storage is somebody's own, and is written in a folder of the run
    is_read_only: bool = False  # the storage is somebody's own, and nothing is written to it

    def cache(self, path: str | None) -> Path:
        """Return the folder of a cache that outlives a step: on the storage, in the run's own folder if it has one.

        It is made where it is missing, but not on a storage that is only read: without a path that is its root, and a
        missing folder is a CacheMissing.
        """
        if self.is_read_only:
            folder = self.mount / (path or "")
            try:
                os.scandir(folder).close()
            except PermissionError as err:
                raise RootSquashed(f"{err}: the storage's server maps root to a user who may not read it") from err
            except OSError as err:
                had = _names_in(self.mount)
                raise CacheMissing(f"cachePath {path} is not a folder of the storage, which has {had}: {err}") from err
            return folder
        folder = (self.target.parent if self.is_borrowed else self.mount) / (path or DEFAULT_CACHE)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def device(self) -> Path | None:
        """The storage if it is a device without a file system; `target` is then on this machine's own disk."""
        return self.mount if self.mount.is_block_device() else None


class Workspaces:
    """Makes and removes the folders of one agent."""

    def __init__(
        self, mount: Path, run: str, cell: str, instance_id: str, disk: Path | None = None, *,
        is_borrowed: bool = False, is_read_only: bool = False,
    ) -> None:  # fmt: skip
        """Claim <mount>/<run>/<cell>/<instance> and a scratch folder on `disk`, without it on the local one.

        The scratch folder has both of a device, and of a storage that is only read.
        """
        self.mount = mount
        self._is_borrowed, self._is_read_only = is_borrowed, is_read_only
        self.scratch = own_folder(disk or disk_folder())
        folder = self.scratch / "beside" if is_read_only or mount.is_block_device() else mount
        self._claimed = [folder / run, folder / run / cell, folder / run / cell / instance_id]
        self._data = self.scratch / "data"
        self._data.mkdir()
        # An agent that was killed may have left files of an earlier attempt.
        remove(self._claimed[-1])
        self._shm: Path | None = None
        self._at_end: set[Path] = set()

    def fresh(self, step: int) -> Workspace:
        """Empty folders for a step."""
        target = self._claimed[-1] / f"step-{step:04d}"
        scratch = self.scratch / f"step-{step:04d}"
        target.mkdir(parents=True)
        scratch.mkdir(exist_ok=True)
        return Workspace(
            self.mount, target, scratch, self._memory(), self._data, self._at_end, self._is_borrowed, self._is_read_only
        )

    def in_memory(self) -> Workspace:
        """Folders that play a storage without any device below it."""
        root = self._memory() / "calibration"
        scratch = self.scratch / "calibration"
        for folder in (root / "storage", root / "data", scratch):
            folder.mkdir(parents=True, exist_ok=True)
        return Workspace(root / "storage", root / "storage" / "step", scratch, self._memory(), root / "data")

    def _memory(self) -> Path:
        if self._shm is None:
            in_memory = Path("/dev/shm")  # noqa: S108 memory is what a source of data must not compete with storage for
            parent = in_memory if os.access(in_memory, os.W_OK) else self.scratch
            self._shm = own_folder(parent)
        return self._shm

    def done(self, workspace: Workspace) -> None:
        remove(workspace.target)
        remove(workspace.scratch)

    def close(self) -> None:
        """Remove everything of this agent, and the parents if no other instance works there."""
        remove(self._claimed[-1])
        for file in self._at_end:
            with contextlib.suppress(OSError):
                file.unlink()
        for parent in {file.parent for file in self._at_end}:
            with contextlib.suppress(OSError):
                # Files whose names begin with a dot are of all that have a file there: the last removes them.
                left = [*parent.iterdir()]
                for path in left if all(path.name.startswith(".") for path in left) else ():
                    remove(path)
        for parent in (*{file.parent for file in self._at_end}, *{file.parent.parent for file in self._at_end}):
            with contextlib.suppress(OSError):
                parent.rmdir()
        for parent in reversed(self._claimed[:-1]):
            with contextlib.suppress(OSError):
                parent.rmdir()
        for folder in (self.scratch, self._shm):
            if folder is not None:
                remove(folder)


def own_folder(parent: Path | str | None = None) -> Path:
    """Make a folder with its owner's pid in the name: a killed agent cannot remove it, so the local cloud does."""
    return Path(tempfile.mkdtemp(prefix=f"storage-matrix-{os.getpid()}-{_started_ticks()}-", dir=parent))


def _started_ticks() -> int:
    """When this process started, in clock ticks since boot: field 22 of stat, the first after the brackets is 3."""
    return int(Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[22 - 3])


def disk_folder() -> str | None:
    """Return a folder for temporary files on a disk: Amazon Linux 2023 has /tmp in memory. None: the default."""
    on_disk = "/var/tmp"  # noqa: S108 (mkdtemp makes a folder of our own in it)
    return on_disk if "TMPDIR" not in os.environ and os.access(on_disk, os.W_OK) else None


def remove(folder: Path) -> None:
    """Remove a folder and its content, with several threads if it takes long, or a file."""
    if not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    paths = iter([f"{parent}/{name}" for parent, _, files in os.walk(folder) for name in files])
    _unlink_all(paths, time.monotonic() + ALONE_S)
    if rest := list(paths):
        # Each hand takes a stretch of files: the bookkeeping of a pool costs more than a local unlink.
        workers = [threading.Thread(target=_unlink_all, args=(rest[n::WORKERS],)) for n in range(WORKERS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    shutil.rmtree(folder, ignore_errors=True)


def free_bytes(folder: Path) -> int:
    """Bytes that a file system still takes."""
    about = os.statvfs(folder)
    return about.f_bavail * about.f_frsize


def count_files(folder: Path) -> int:
    """Regular files directly in a folder."""
    with os.scandir(folder) as entries:
        return sum(entry.is_file(follow_symlinks=False) for entry in entries)


def _names_in(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir())
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more or "nothing"


def _unlink_all(paths: Iterable[str], until: float = math.inf) -> None:
    """Unlink all paths, or those that can be started before a moment (monotonic clock)."""
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108 strings from os.walk, 100,000 of them
        if time.monotonic() > until:
            return
