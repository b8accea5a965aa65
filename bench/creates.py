"""The metadata engine's creates beside a C loop."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from agent.engine.worker_pool import share
from agent.machine.workspace import remove
from agent.workloads import engines
from bench.pairs import Result, in_turns

FILES = 40_000
# The engine and the C loop call open(O_CREAT) + close on relative names in separate directories, one process per
# worker, rate = files / (last end - first start).
C_LOOP = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
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
    char byte = '\n', name[64];
    if (pipe(gate) || pipe(ready)) return 1;
    for (int w = 0; w < workers; w++)
        if (!fork()) {
            int share = files / workers + (w < files % workers);
            if (chdir(argv[2 + w]) || write(ready[1], &byte, 1) != 1 || read(gate[0], &byte, 1) != 1) _exit(1);
            stamps[2 * w] = now();
            for (int i = 0; i < share; i++) {
                snprintf(name, sizeof name, "%d-%d", w, i);
                int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
                if (fd < 0) _exit(1);
                close(fd);
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
        engine, c = partial(run_engine, folder, workers), partial(run_c, folder, program, workers)
        yield in_turns(name, engine, c, bar=0.95, unit="files/s", rounds=rounds)


def run_engine(folder: Path, workers: int) -> float:
    """Return files per second of the engine, started as a touch point starts it."""
    directories = fresh(folder, workers)
    plan = {
        "phase": "create",
        "counts": share(FILES, workers),
        "threads": workers,
        "directories": directories,
        "pilot_directory": str(folder),
        "mode": "auto",
    }
    armed = engines.arm("phases", plan, folder)
    armed.release()
    [ended] = armed.wait()
    return FILES / engines.read_report(ended.stdout, threads=workers, operations=FILES).duration_s


def compile_c(folder: Path) -> Path:
    """Build the C loop; return its path."""
    source, program = folder / "create.c", folder / "create-loop"
    source.write_text(C_LOOP)
    subprocess.run(["cc", "-O2", "-o", str(program), str(source)], check=True)
    return program


def run_c(folder: Path, program: Path, workers: int) -> float:
    """Return files per second of the C loop, one process for each of the empty directories."""
    command = [str(program), str(FILES), *fresh(folder, workers)]
    return float(subprocess.run(command, check=True, capture_output=True).stdout)


def fresh(folder: Path, workers: int) -> list[str]:
    """Create empty directories, one per worker; return their paths."""
    remove(folder / "work")
    directories = [folder / "work" / str(number) for number in range(workers)]
    for directory in directories:
        directory.mkdir(parents=True)
    return [str(directory) for directory in directories]
