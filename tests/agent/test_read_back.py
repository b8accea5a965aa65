"""What was written is read back and compared, and an fsync that has not synchronised is found."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.agent_cloud import needs, parsed

from agent.engine import readback, stamps
from agent.errors import ReadBackWrong
from agent.job import Step
from agent.machine import fsync_check
from agent.machine.workspace import Workspace, disk_folder
from agent.workloads import dd

BLOCK, BLOCKS = 5000, 6  # of each of two files; no multiple of what O_DIRECT reads

LIAR = """
int fsync(int file) { return 0; }
int fdatasync(int file) { return 0; }
"""


@pytest.fixture
def disk() -> Iterator[Path]:
    """A folder on a disk: what is in memory is never synchronised."""
    with tempfile.TemporaryDirectory(dir=disk_folder()) as folder:
        yield Path(folder)


@pytest.fixture
def write(make_job, disk):
    """Write by a tool; returns the folder of the files, and what reads the trial."""

    def run(**changes):
        params = {"data_bytes": 2 * BLOCK * BLOCKS, "block_bytes": BLOCK, "sync": "end", "threads": 2,
                  "tool": "engine", "source": "random", **changes}  # fmt: skip
        folders = {name: disk / name for name in ("target", "scratch", "shm", "data")}
        for folder in folders.values():
            folder.mkdir()
        job = parsed(make_job("dd", [params]))
        trial = dd.prepare(job, Step(0, "p01", 1, params), Workspace(mount=disk, **folders))
        ended = trial.run()
        return folders["target"], lambda: trial.read(ended)

    return run


@pytest.mark.parametrize("source", ["random", "zero"])
def test_what_was_written_is_read_back(write, source):
    _, read = write(verify=True, source=source)

    assert ", 12 blocks read back by " in read().tool["command"]


def flip(path):
    with path.open("r+b") as stream:
        stream.seek(2 * BLOCK + 4000)
        byte = stream.read(1)
        stream.seek(2 * BLOCK + 4000)
        stream.write(bytes([byte[0] ^ 1]))


def overwrite(path, content):
    with path.open("r+b") as stream:
        stream.seek(2 * BLOCK)
        stream.write(content[:BLOCK])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (flip, "has its stamp, and something else behind it"),
        (lambda path: overwrite(path, path.read_bytes()[4 * BLOCK :]), "holds block 4 of file 1, read"),
        (lambda path: overwrite(path, (path.parent / "0").read_bytes()[2 * BLOCK :]), "holds block 2 of file 0, read"),
        (lambda path: overwrite(path, stamps.stamp(7, 1, 2)), "holds block 2 of file 1 of another step"),
        (lambda path: overwrite(path, bytes(BLOCK)), "is empty"),
        (lambda path: overwrite(path, b"x" * BLOCK), "holds what was never written there"),
    ],
)
def test_a_block_that_the_storage_lost_or_changed_fails_the_sample_with_its_place(write, damage, said):
    folder, read = write(verify=True)
    damage(folder / "1")

    with pytest.raises(ReadBackWrong, match=f"block 2 of file 1 .5000 bytes each. {said}"):
        read()


def test_without_o_direct_the_cache_is_given_back_and_that_is_said(write, monkeypatch, disk):
    folder, _ = write()
    opened = os.open

    def refuse(path, flags, *rest):
        if flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, "no O_DIRECT")
        return opened(path, flags, *rest)

    monkeypatch.setattr(os, "open", refuse)
    paths = [str(folder / "0")]
    # Without a seed nothing was stamped, so what is there is not what would be wanted.
    report = readback.read_back({"paths": paths, "block_bytes": BLOCK, "blocks": 1, "source": "zero", "seed": 1})

    assert report["how"].startswith("the page cache, given back before")
    assert report["wrong"] == "block 0 of file 0 (5000 bytes each) holds what was never written there"


def is_reported(folder: Path) -> bool:
    """Whether kernel and file system tell which pages are dirty, so that a liar can be found here."""
    probe = folder / "probe"
    probe.write_bytes(b"x")
    return bool(fsync_check.unwritten_pages(probe))


@pytest.mark.parametrize("tool", ["engine", "dd"])
def test_an_honest_fsync_is_not_warned_about(write, tool):
    _, read = write(tool=tool)

    assert read().warnings == []


@needs("cc")
@pytest.mark.parametrize("tool", ["engine", "dd"])
def test_an_fsync_that_a_library_eats_is_called_not_honest(write, disk, monkeypatch, tool):
    if not is_reported(disk):
        pytest.skip("this kernel or file system does not tell which pages are dirty (cachestat, Linux 6.5)")
    source, library = disk / "liar.c", disk / "liar.so"
    source.write_text(LIAR)
    subprocess.run([shutil.which("cc"), "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))

    _, read = write(tool=tool)

    [warning] = read().warnings
    assert warning.startswith("fsync is not honest: ")
    assert "bytes of 2 files were still only in this machine's memory" in warning


def test_a_kernel_that_cannot_say_is_no_reason_to_warn(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"x")
    monkeypatch.setattr(fsync_check, "CACHESTAT", 100_000)

    assert fsync_check.unwritten_pages(tmp_path / "file") is None
    assert fsync_check.warnings([tmp_path / "file"]) == []
