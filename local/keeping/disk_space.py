"""A disk that is full: which one it is, and the end of the runs that it would otherwise spoil."""

import logging
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

LOG = logging.getLogger(__name__)
# The error that such a run ends with.
DISK_FULL = "DiskFull"
# The documents of a cell of one instance take some 100 KiB, those of a run as much again.
MIN_BYTES = 1 << 20
POLL_EVERY_S = 0.25
# A workload that fills the disk itself fails and removes its files within a second; callers retry for this time.
LOOKS = 4


class DiskSpace:
    """Watches the disks of some folders; `stop` is called with a sentence on the first that stays full."""

    def __init__(self, folders: Sequence[Path], stop: Callable[[str], None]) -> None:
        self._folders = folders
        self._stop = stop
        self._is_closed = threading.Event()

    def start(self) -> None:
        """Start to watch the disk."""
        threading.Thread(target=self._watch, name="disk-space", daemon=True).start()

    def close(self) -> None:
        """Watch no longer."""
        self._is_closed.set()

    def shortage(self) -> str:
        """Return which disk is full, with advice; empty if there is enough space."""
        return next(filter(None, map(_shortage, self._folders)), "")

    def _watch(self) -> None:
        full_looks = 0
        while not self._is_closed.wait(POLL_EVERY_S):
            shortage = self.shortage()
            full_looks = full_looks + 1 if shortage else 0
            if full_looks >= LOOKS:
                try:
                    self._stop(shortage)
                except Exception:
                    LOG.exception("no run could be stopped, though %s", shortage)


def _shortage(folder: Path) -> str:
    try:
        disk = os.statvfs(folder)
    except FileNotFoundError:  # as the folder of runs before the first
        return ""
    # ext4 keeps a twentieth for root.
    free = (disk.f_bfree if os.geteuid() == 0 else disk.f_bavail) * disk.f_frsize
    has_no_names = disk.f_files > 0 and disk.f_favail == 0
    if free >= MIN_BYTES and not has_no_names:
        return ""
    size = disk.f_blocks * disk.f_frsize
    left = "no more files can be made" if has_no_names else f"{free / 2**20:.1f} of {size / 2**20:,.1f} MiB are free"
    return f"the disk of {folder} is full, {left}; make room (`df -h {folder}`), or set MATRIX_WORKDIR to another disk"
