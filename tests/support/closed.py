"""Storages that the kernel lets nobody write, and a root that may do less: what really read-only mounts refuse.

They are file systems in memory, closed by `remount,bind,ro`, which an ordinary user may too in a namespace: that of the
agent, or this machine's for a whole run. A root without a capability is refused as a server that squashes root refuses.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.agent_cloud import PYTHON

# Root needs no namespace of users: there it would have only its own number.
NAMESPACE = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
# $0 is the folder, whose content was moved aside.
CLOSED = """\
set -e
mount -t tmpfs tmpfs "$0"
cp -a "$0.content/." "$0"
mount -o remount,bind,ro "$0"
exec "$@"
"""


def read_only(storage: Path) -> str:
    """Return an agent's Python for which a folder is a read-only mount of what `<folder>.content` has."""
    closed = [*NAMESPACE, "sh", "-c", CLOSED, str(storage)]
    if not shutil.which("unshare") or subprocess.run([*closed, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets us mount nothing, neither as root nor in a namespace of users (unshare)")
    return _python(storage.with_name("closed"), *closed)


def with_own_mounts(folder: Path) -> str:
    """Return an agent's Python that may mount at its mount point, which this machine does not see."""
    own = [*NAMESPACE, "sh", "-c", 'mount -t tmpfs tmpfs /mnt && exec "$@"', "sh"]
    if not shutil.which("bindfs") or not Path("/dev/fuse").exists() or os.geteuid() != 0:
        pytest.skip("Mountpoint's stand-in needs root, /dev/fuse and bindfs (apt-get install bindfs)")
    return _python(folder / "mounts", *own)


def root_without(folder: Path, *capabilities: str) -> str:
    """Return an agent's Python that is root without some of its rights."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can lose a right of root, by setpriv")
    return _python(folder / "less", "setpriv", f"--bounding-set=-{',-'.join(capabilities)}")


def _python(path: Path, *words: str) -> str:
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in (*words, PYTHON))
    path.write_text(f'#!/bin/sh\nexec {quoted} "$@"\n')
    path.chmod(0o755)
    return str(path)


@contextmanager
def closed(folder: Path) -> Iterator[None]:
    """Make a folder read-only for all programs of this machine: by a mount, or for an ordinary user by its rights."""
    paths = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    if os.geteuid() != 0:
        for path in paths:
            path.chmod(0o555)
        yield
        for path in paths:
            path.chmod(0o755)
        return
    content = folder.rename(folder.with_name(f"{folder.name}.content"))
    folder.mkdir()
    try:
        mounted = subprocess.run(["sh", "-c", CLOSED, str(folder), "true"], capture_output=True, text=True, check=False)
        if mounted.returncode:
            pytest.skip(f"this machine does not let root mount: {mounted.stderr.strip()}")
        yield
    finally:
        subprocess.run(["umount", str(folder)], capture_output=True, check=False)
        folder.rmdir()
        content.rename(folder)
