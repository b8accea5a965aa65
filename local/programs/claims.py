"""Ownership of a working folder: one local cloud has it at a time, and stays up while any command uses it.

Both are kernel locks on files of the folder, so a killed process releases them.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

# Held by the cloud, from before its first access to the folder until its process ends.
OWNER = "cloud.lock"
# Shared by commands that use a cloud which they did not start; exclusive for the cloud when it ends.
USERS = "cloud.users"


def own(workdir: Path) -> IO[bytes] | None:
    """Return the lock that claims the folder until it is closed; None if another process has it."""
    return _locked(_opened(workdir, OWNER), fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def used(workdir: Path) -> Iterator[None]:
    """Keep a cloud of this folder up during the block, if there is one; wait for one that is ending."""
    with _opened(workdir, USERS) as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def is_used(workdir: Path) -> bool:
    """Return whether a command uses the cloud of this folder that another one has started."""
    with _opened(workdir, USERS) as lock:
        if _locked(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
            return False
        # Commands share the lock. A cloud that is ending has it exclusively.
        return _locked(lock, fcntl.LOCK_SH | fcntl.LOCK_NB) is not None


def wait_until_unused(workdir: Path) -> IO[bytes]:
    """Wait until the last command that uses the cloud has ended; the returned lock keeps new ones out."""
    lock = _opened(workdir, USERS)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def _opened(workdir: Path, name: str) -> IO[bytes]:
    # Other users of the machine must not read its content.
    workdir.mkdir(mode=0o700, parents=True, exist_ok=True)
    how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    return os.fdopen(os.open(workdir / name, how, 0o600), "ab")


def _locked(lock: IO[bytes], how: int) -> IO[bytes] | None:
    with suppress(BlockingIOError):
        fcntl.flock(lock, how)
        return lock
    return None
