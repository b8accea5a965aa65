"""Files and processes of killed processes, found by their owner; those of a living owner are never touched."""

import os
import re
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from local.programs.liveness import is_alive

# Where agents keep sources of data and outputs of tools: agent/machine/workspace.py.
MEMORY, DISK = Path("/dev/shm"), Path("/var/tmp")  # noqa: S108 - only folders of our own there are touched
# Made by an agent for itself: its process, and when that started.
OWNED = re.compile(r"storage-matrix-(\d+)-(\d+)-\w+")
# SIGKILL ends a process within milliseconds, unless its disk does not respond.
GONE_WITHIN_S = 5.0


def remove_folders() -> int:
    """Remove the memory and temporary files of agents that no longer run; return their size in bytes.

    Another cloud of this user may remove the same files at the same time.
    """
    freed = 0
    for folder in folders():
        freed += sum(_bytes_of(Path(parent, name)) for parent, _, names in os.walk(folder) for name in names)
        shutil.rmtree(folder, ignore_errors=True)
    return freed


def folders() -> Iterator[Path]:
    """Yield the folders of agents that are no more, in memory and among temporary files."""
    for folder in chain.from_iterable(
        place.glob("storage-matrix-*") for place in {MEMORY, DISK, Path(tempfile.gettempdir())}
    ):
        owner = OWNED.fullmatch(folder.name)
        if owner and _is_own(folder) and not is_alive(int(owner[1]), int(owner[2])):
            yield folder


def _is_own(folder: Path) -> bool:
    try:
        return folder.lstat().st_uid == os.getuid()
    except FileNotFoundError:
        return False


def _bytes_of(path: Path) -> int:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def end_processes(workdir: Path) -> int:
    """End the processes of a dead cloud of this folder, and return their number; call it after claiming the folder.

    All processes of a cloud die with it, except grandchildren if their parents were killed too.
    """
    pids = processes(workdir)
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    give_up_at = time.monotonic() + GONE_WITHIN_S
    while any(_is_of(pid, workdir) for pid in pids) and time.monotonic() < give_up_at:
        time.sleep(0.02)
    return len(pids)


def processes(workdir: Path) -> list[int]:
    """Return the running processes that a cloud of this folder has started."""
    return [pid for pid in _own_processes() if _is_of(pid, workdir)]


def _own_processes() -> Iterator[int]:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if entry.stat().st_uid == os.getuid() and int(entry.name) != os.getpid():
                yield int(entry.name)
        except OSError:
            continue


def _is_of(pid: int, workdir: Path) -> bool:
    """Return whether a process is an instance, a sandbox or a file server of a cloud in this folder, or its descendant.

    The working directory is not a criterion, because a user's shell may be in it.
    """
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    homes = (f"HOME={workdir}/storage/".encode(), f"LAMBDA_TASK_ROOT={workdir}/code/".encode())
    is_server = command[0].endswith(b"ganesha.nfsd") and f"{workdir}/logs/nfs-".encode() in b" ".join(command)
    return is_server or any(variable.startswith(homes) for variable in environment)
