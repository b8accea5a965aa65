"""A small disk for one test, to be filled."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str, **options: int) -> Iterator[Path]:
    """Mount a file system in memory of this size; skips the test if that is not allowed."""
    folder.mkdir()
    wanted = ",".join([f"size={size}", *(f"{name}={value}" for name, value in options.items())])
    mount = ["mount", "-t", "tmpfs", "-o", wanted, "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount, and not in every container")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def loop_device(image: Path, size_bytes: int) -> Iterator[Path]:
    """Attach a file of this size as a block device; skips the test if that is not allowed."""
    if os.geteuid() != 0 or not shutil.which("losetup"):
        pytest.skip("a loop device needs root and losetup")
    with image.open("wb") as stream:
        stream.truncate(size_bytes)
    attach = ["losetup", "-f", "--show", str(image)]
    attached = subprocess.run(attach, capture_output=True, text=True, check=False)
    if attached.returncode != 0:
        pytest.skip(f"there is no loop device: {attached.stderr.strip()}")
    device = attached.stdout.strip()
    try:
        yield Path(device)
    finally:
        detach = ["losetup", "-d", device]
        subprocess.run(detach, check=False)


def fill(file: Path) -> None:
    with suppress(OSError), file.open("ab", buffering=0) as ballast:
        while True:
            ballast.write(bytes(4096))
