"""Owners of a working folder: one cloud has it at a time, and a cloud stays up while any command uses it.

Both are locks of the kernel on files of the folder, so a process that is killed gives them back.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

# Of the cloud, from before it looks at anything in the folder until its process has ended.
OWNER = "cloud.lock"
# Shared by the commands that use a cloud which they have not started; the cloud's own once it begins to end.
USERS = "cloud.users"


def own(workdir: Path) -> IO[bytes] | None:
    """Return what makes the folder this process's own until it is closed; None while another process has it."""
    return _locked(_opened(workdir, OWNER), fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def used(workdir: Path) -> Iterator[None]:
    """Keep a cloud of this folder up during the block, if there is one; one that is about to end has ended before."""
    with _opened(workdir, USERS) as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def is_used(workdir: Path) -> bool:
    """Return whether a command uses the cloud of this folder that another one has started."""
    with _opened(workdir, USERS) as lock:
        if _locked(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
            return False
        # Commands share it. A cloud that ends does not.
        return _locked(lock, fcntl.LOCK_SH | fcntl.LOCK_NB) is not None


def wait_until_unused(workdir: Path) -> IO[bytes]:
    """Wait for the last command to have ended that uses the cloud; from then on nobody uses it."""
    lock = _opened(workdir, USERS)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def _opened(workdir: Path, name: str) -> IO[bytes]:
    # No other user of the machine may read what is in it.
    workdir.mkdir(mode=0o700, parents=True, exist_ok=True)
    return (workdir / name).open("ab")


def _locked(lock: IO[bytes], how: int) -> IO[bytes] | None:
    with suppress(BlockingIOError):
        fcntl.flock(lock, how)
        return lock
    return None
