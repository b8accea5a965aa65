"""Creates: the create engine beside other tools, with the seconds before the first file and after the last."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.creates import fresh, run_engine, run_parallel
from bench.peers import outputs
from bench.peers.contests import Contest, Peer, Seen
from bench.peers.programs import MPI, fio_argv, fio_client_argv, output_of

WORKERS = 4
FILES = 20_000
EACH = FILES // WORKERS
# GNU parallel starts a program for each file: with this many files it takes as long as the others with all of theirs.
PARALLEL_FILES = 256
# As fio's own example creates files: one at a time, empty, each when it is opened.
FIO = {
    "ioengine": "filecreate", "numjobs": WORKERS, "nrfiles": EACH, "filesize": "4k", "openfiles": 1,
    "create_on_open": 1, "fallocate": "none",
}  # fmt: skip

Read = Callable[[str], float]


def contest(folder: Path, fio_server: str) -> Contest:
    """Return the contest: empty files, four at once, each worker in a separate directory."""
    top = folder / "work"
    # Relative, because fs_mark accepts fewer than 40 bytes.
    own = [f"work/{number}" for number in range(WORKERS)]
    job = {**FIO, "directory": ":".join(str(folder / path) for path in own)}
    fs_mark = ["fs_mark", "-S", "0", "-s", "0", "-k", "-n", str(EACH), "-t", str(WORKERS), "-l", str(folder / "log")]
    mdtest = [*MPI, "-np", str(WORKERS), "mdtest", "-C", "-F", "-u", "-n", str(EACH), "-d", str(top)]
    elbencho = f"elbencho -w -d -t {WORKERS} -n 1 -N {EACH} -s 0 --nolive {top}".split()
    smallfile = (
        f"smallfile_cli.py --operation create --threads {WORKERS} --files {EACH} --file-size 0 --top {top}"
        f" --network-sync-dir {folder / 'sync'}"
    ).split()
    run = partial(run_tool, folder)
    return Contest(
        f"creates/s, {WORKERS} at once",
        "create",
        partial(run_ours, folder),
        (
            Peer("fio, filecreate", "fio", partial(run, lambda: fio_argv(job), outputs.fio_iops)),
            Peer(
                "fio, client and server",
                "fio",
                partial(run, lambda: fio_client_argv(folder, fio_server, job), outputs.fio_iops),
            ),
            Peer(
                "fs_mark",
                "fs_mark",
                partial(run, lambda: [*fs_mark, *(part for path in own for part in ("-d", path))], outputs.fs_mark),
            ),
            Peer(f"GNU parallel, touch, {PARALLEL_FILES} files", "parallel", partial(run_touches, folder)),
            Peer("mdtest", "mdtest", partial(run, lambda: mdtest, outputs.mdtest)),
            Peer("elbencho", "elbencho", partial(run, lambda: elbencho, partial(outputs.elbencho, result="Files/s"))),
            Peer("smallfile", "smallfile_cli.py", partial(run, lambda: smallfile, outputs.smallfile)),
        ),
    )


def run_ours(folder: Path) -> Seen:
    """Create with the engine, started as a touch point starts it."""
    return watched(folder, lambda: run_engine(folder, WORKERS, FILES), FILES)


def run_touches(folder: Path) -> Seen:
    """Create with GNU parallel, used as published."""
    return watched(folder, lambda: run_parallel(folder, WORKERS, PARALLEL_FILES, 0), PARALLEL_FILES)


def run_tool(folder: Path, argv: Callable[[], list[str]], read: Read) -> Seen:
    """Create with a tool that prints its rate."""
    return watched(folder, lambda: read(output_of(argv(), folder)), FILES)


def watched(folder: Path, create: Callable[[], float], files: int) -> Seen:
    """Create files in empty directories; return the rate, and the waits according to the files' times."""
    fresh(folder, WORKERS)
    # Times of files lag behind the clock by up to a tick (4 ms), so the start is a file's time as well.
    mark = folder / "begun"
    mark.unlink(missing_ok=True)
    mark.touch()
    rate = create()
    ended_s = time.time()
    begun_s, *times_s = (path.stat().st_ctime_ns / 1e9 for path in (mark, *files_of(folder / "work")))
    if len(times_s) != files:
        raise ValueError(f"{len(times_s)} files are there, {files} were wanted")
    return Seen(rate, min(times_s) - begun_s, ended_s - max(times_s))


def files_of(top: Path) -> list[Path]:
    """Return all files below a folder, at any depth."""
    return [path for path in top.rglob("*") if path.is_file()]
