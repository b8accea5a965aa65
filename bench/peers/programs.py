"""Start peers as their users do, and the server for a fio client."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

READY_WITHIN_S = 10
MPI = ("mpirun", "--allow-run-as-root", "--oversubscribe")


def output_of(argv: list[str], folder: Path) -> str:
    """Return a program's output. Raises CalledProcessError with its error output."""
    # s5cmd prints the objects themselves, which are not text.
    ended = subprocess.run(argv, cwd=folder, check=True, capture_output=True, errors="replace")
    return ended.stdout


def fio_argv(options: Mapping[str, object]) -> list[str]:
    """Return the command of one fio job with its report in JSON."""
    lines = [f"--{name}={value}" for name, value in options.items()]
    return ["fio", "--name=bench", "--output-format=json", "--group_reporting", *lines]


def fio_client_argv(folder: Path, server: str, options: Mapping[str, object]) -> list[str]:
    """Write one fio job to a file; return the command that sends it to a server."""
    job = folder / "bench.fio"
    job.write_text("\n".join(["[bench]", "group_reporting=1", *(f"{name}={value}" for name, value in options.items())]))
    return ["fio", f"--client={server}", "--output-format=json", str(job)]


@contextlib.contextmanager
def fio_server(folder: Path) -> Iterator[str]:
    """Run a fio server on this machine; yield its address in the form for a client. Without fio there is none."""
    port = free_port()
    if shutil.which("fio") is None:
        yield f"127.0.0.1,{port}"
        return
    with running(["fio", f"--server=127.0.0.1,{port}"], folder, port):
        yield f"127.0.0.1,{port}"


@contextlib.contextmanager
def running(argv: list[str], folder: Path, port: int) -> Iterator[None]:
    """Run a server for the duration of the block. Raises OSError if it does not listen in time."""
    with subprocess.Popen(argv, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            deadline = time.monotonic() + READY_WITHIN_S
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    if time.monotonic() > deadline or server.poll() is not None:
                        raise
                    time.sleep(0.05)
            yield
        finally:
            server.terminate()


def free_port() -> int:
    """Return a port of this machine on which no program listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
