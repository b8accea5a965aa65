"""Data: the write and read engines beside fio, IOR and elbencho, with the same bytes, blocks and threads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agent.machine.workspace import remove
from agent.workloads import read
from bench import blocks
from bench.blocks import DATA_BYTES, FIO_S, MIB, PAGE_BYTES, READS
from bench.peers import outputs
from bench.peers.contests import Contest, Peer, Seen
from bench.peers.programs import MPI, fio_argv, fio_client_argv, output_of

THREADS = 4
WRITTEN_BYTES = 256 * MIB
EACH_MIB = WRITTEN_BYTES // MIB // THREADS
READ_EACH_MIB = DATA_BYTES // MIB // THREADS
DIRECT = {"direct": 1, "ioengine": "psync", "numjobs": THREADS, "thread": 1}


def contests(folder: Path, fio_server: str) -> tuple[Contest, ...]:
    """Return the contests of writes, of sequential reads, and of random reads."""
    direct = (sequential_reads(folder, fio_server), random_reads(folder, fio_server))
    return (writes(folder), *(direct if blocks.has_direct(folder) else ()))


def writes(folder: Path) -> Contest:
    """Return the contest of zeros written to new files, each synchronised at its end."""
    job = {
        "rw": "write", "bs": "1m", "size": f"{EACH_MIB}m", "numjobs": THREADS, "end_fsync": 1, "zero_buffers": 1,
        "fallocate": "none", "directory": folder / "written",
    }  # fmt: skip
    own = f"-np {THREADS} ior -w -e -F -t 1m -b {EACH_MIB}m -o {folder / 'written' / 'file'}".split()
    return Contest(
        f"MB/s written, 1 MiB blocks, {THREADS} files at once",
        "write",
        lambda: Seen(blocks.run_writes(folder, "engine", THREADS, "end")),
        (
            Peer("fio", "fio", lambda: Seen(outputs.fio_mb_per_s(written(folder, fio_argv(job))))),
            Peer("IOR", "ior", lambda: Seen(outputs.ior(written(folder, [*MPI, *own]), "Write"))),
        ),
    )


def written(folder: Path, argv: list[str]) -> str:
    """Return the output of a program that writes into an empty folder."""
    remove(folder / "written")
    (folder / "written").mkdir()
    return output_of(argv, folder)


def sequential_reads(folder: Path, fio_server: str) -> Contest:
    """Return the contest of sequential direct reads, each thread in its own part of a file."""
    data = data_path(folder)
    stretch = f"{READ_EACH_MIB}m"
    job = {**DIRECT, "rw": "read", "bs": "1m", "size": stretch, "offset_increment": stretch, "filename": data}
    shape = {"access": "sequential", "page_bytes": MIB}
    # IOR reads the data that it wrote; beside the file of the others there is room for less.
    ior = f"-np {THREADS} ior -w -r -e -F -t 1m -b {EACH_MIB}m --posix.odirect -o {folder / 'written' / 'file'}".split()
    elbencho = f"elbencho -r --direct -b 1m -s {DATA_BYTES} -t {THREADS} --nolive {data}".split()
    return Contest(
        f"MB/s read, direct, 1 MiB blocks, {THREADS} at once",
        "read",
        lambda: Seen(
            DATA_BYTES / 1e6 / blocks.engine_reads(folder, THREADS, DATA_BYTES // PAGE_BYTES, **shape).duration_s
        ),
        (
            *fio_peers(folder, fio_server, job, outputs.fio_mb_per_s),
            Peer("IOR", "ior", lambda: Seen(outputs.ior(written(folder, [*MPI, *ior]), "Read"))),
            Peer(
                "elbencho",
                "elbencho",
                lambda: Seen(outputs.elbencho(output_of(elbencho, folder), "Throughput MiB/s") * MIB / 1e6),
            ),
        ),
    )


def random_reads(folder: Path, fio_server: str) -> Contest:
    """Return the contest of random direct reads of single pages; the engine reads each page at most once."""
    data = data_path(folder)
    job = {
        **DIRECT, "rw": "randread", "bs": PAGE_BYTES, "size": DATA_BYTES, "runtime": FIO_S, "time_based": 1,
        "filename": data,
    }  # fmt: skip
    elbencho = (
        f"elbencho -r --rand --direct -b {PAGE_BYTES} -s {DATA_BYTES} -t {THREADS} --timelimit {FIO_S} --nolive {data}"
    ).split()
    return Contest(
        f"IOPS, direct, random {PAGE_BYTES // 1024} KiB, {THREADS} at once",
        "read",
        lambda: Seen(blocks.run_reads(folder, THREADS, DATA_BYTES // PAGE_BYTES // 4)),
        (
            *fio_peers(folder, fio_server, job, outputs.fio_iops),
            Peer("elbencho", "elbencho", lambda: Seen(outputs.elbencho(output_of(elbencho, folder), "IOPS"))),
        ),
    )


def fio_peers(
    folder: Path, server: str, job: dict[str, object], read_output: Callable[[str], float]
) -> tuple[Peer, Peer]:
    """Return fio by itself, and fio as a client that lets a server do the same job."""
    return (
        Peer("fio", "fio", lambda: Seen(read_output(output_of(fio_argv(job), folder)))),
        Peer(
            "fio, client and server",
            "fio",
            lambda: Seen(read_output(output_of(fio_client_argv(folder, server, job), folder))),
        ),
    )


def data_path(folder: Path) -> str:
    """Return the file that all tools read; the first caller writes it."""
    return str(read.data_file(READS, folder)["path"])
