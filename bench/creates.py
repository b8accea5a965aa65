"""The create engine beside a C loop, beside the ideal rate of a slow storage, and beside GNU parallel."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from agent.engine import emulation
from agent.machine.workspace import remove
from agent.workloads import engines
from bench.pairs import Result, against, in_turns

FILES = 40_000
# The engine and the C loop call open(O_CREAT) + close on relative names in separate directories, one process per
# worker, rate = files / (last end - first start).
CREATE = "int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0666); if (fd < 0) _exit(1); close(fd);"
C_LOOP = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
int main(int argc, char **argv) {
    int files = atoi(argv[1]), workers = argc - 2, gate[2], ready[2];
    long long *stamps = mmap(0, workers * 16, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char byte = '\n', name[64], other[72];
    struct stat about;
    if (pipe(gate) || pipe(ready)) return 1;
    for (int w = 0; w < workers; w++)
        if (!fork()) {
            int share = files / workers + (w < files % workers);
            if (chdir(argv[2 + w]) || write(ready[1], &byte, 1) != 1 || read(gate[0], &byte, 1) != 1) _exit(1);
            stamps[2 * w] = now();
            for (int i = 0; i < share; i++) {
                snprintf(name, sizeof name, "%d-%d", w, i);
                ACT
            }
            stamps[2 * w + 1] = now();
            _exit(0);
        }
    for (int w = 0; w < workers; w++) if (read(ready[0], &byte, 1) != 1) return 1;
    for (int w = 0; w < workers; w++) if (write(gate[1], &byte, 1) != 1) return 1;
    int status, bad = 0;
    while (wait(&status) > 0) bad |= status;
    long long first = stamps[0], last = 0;
    for (int w = 0; w < workers; w++) {
        if (stamps[2 * w] < first) first = stamps[2 * w];
        if (stamps[2 * w + 1] > last) last = stamps[2 * w + 1];
    }
    printf("%f\n", files / ((last - first) / 1e9));
    return bad != 0;
}
"""


def bars(folder: Path, rounds: int) -> Iterator[Result]:
    """Yield all bars of creates."""
    for workers in (1, 4) if shutil.which("cc") else ():
        program = compile_c(folder)
        name = f"create engine / C loop, own directories, {workers} worker{'s' * (workers > 1)}"
        engine, c = partial(run_engine, folder, workers, FILES), partial(run_c, folder, program, workers)
        yield in_turns(name, engine, c, bar=0.95, unit="files/s", rounds=rounds)
    for latency_s, least, times, bar in ((0.01, 100, 8, 0.97), (0.002, 300, 41, 0.94)):
        slow = partial(run_engine, folder, 32, 32 * least, latency_s)
        what = f"{1000 * latency_s:g} ms, 32 workers"
        yield against(f"create engine / ideal, {what}", slow, 32 / latency_s, bar=bar, unit="files/s", rounds=rounds)
        if shutil.which("parallel"):
            parallel = partial(run_parallel, folder, 32, 256, latency_s)
            name = f"create engine / GNU parallel, {what}"
            yield in_turns(name, slow, parallel, bar=times, unit="files/s", rounds=2)
    if shutil.which("parallel"):
        engine, parallel = partial(run_engine, folder, 4, FILES), partial(run_parallel, folder, 32, 256, 0)
        yield in_turns(
            "create engine / GNU parallel, as fast as it goes", engine, parallel, bar=300, unit="files/s", rounds=2
        )


def run_engine(folder: Path, workers: int, files: int, latency_s: float = 0.0) -> float:
    """Return files per second of the engine, started as a touch point starts it."""
    directories = fresh(folder, workers)
    plan = {
        "files": files,
        "threads": workers,
        "directories": directories,
        "pilot_directory": str(folder),
        "mode": "auto",
        "sync": "none",
        "emulation": slow_storage(folder, latency_s) if latency_s else None,
    }
    armed = engines.arm("creates", plan, folder)
    armed.release()
    [ended] = armed.wait()
    done = engines.read_report(ended.stdout, threads=workers, operations=files)
    return files / done.duration_s


def slow_storage(folder: Path, create_s: float) -> dict[str, object]:
    """Return the emulation of a storage that takes `create_s` for each create, at any concurrency.

    Delays of the timer count as the engine's loss.
    """
    own = {"create_s": create_s, "create_operations": 0, "catch_up_s": 0}
    return {**emulation.UNLIMITED, **own, "path": str(folder / "bucket")}


def compile_c(folder: Path, name: str = "create", act: str = CREATE) -> Path:
    """Build the C loop with the call `act` on a file named `name`; return its path."""
    source, program = folder / f"{name}.c", folder / f"{name}-loop"
    source.write_text(C_LOOP.replace("ACT", act))
    subprocess.run(["cc", "-O2", "-o", str(program), str(source)], check=True)
    return program


def run_c(folder: Path, program: Path, workers: int) -> float:
    """Return files per second of the C loop in empty directories."""
    return run_c_in(fresh(folder, workers), program)


def run_c_in(directories: list[str], program: Path) -> float:
    """Return files per second of the C loop, one process for each directory."""
    command = [str(program), str(FILES), *directories]
    return float(subprocess.run(command, check=True, capture_output=True).stdout)


def run_parallel(folder: Path, jobs: int, files: int, latency_s: float) -> float:
    """Return files per second of GNU parallel, used as published; a sleep before each touch emulates slow storage."""
    [directory] = set(fresh(folder, 1))
    wait = f"sleep {latency_s}; " if latency_s else ""
    line = f"seq {files} | parallel --will-cite -j {jobs} '{wait}touch {directory}/{{}}'"
    begun = time.monotonic()
    subprocess.run(
        ["bash", "-c", line],
        check=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "PARALLEL_HOME": str(folder)},
    )
    return files / (time.monotonic() - begun)


def fresh(folder: Path, workers: int) -> list[str]:
    """Create empty directories, one per worker; return their paths."""
    remove(folder / "work")
    directories = [folder / "work" / str(number) for number in range(workers)]
    for directory in directories:
        directory.mkdir(parents=True)
    return [str(directory) for directory in directories]
