"""The metadata engine beside C loops: stat, open-read, rename and delete of existing files."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from agent.engine.crew import share
from agent.workloads import engines
from bench.creates import FILES, compile_c, fresh, run_c_in
from bench.pairs import Result, in_turns

WORKERS = 2
ACTS = {
    "stat": "if (stat(name, &about)) _exit(1);",
    "open-read": "int fd = open(name, O_RDONLY | O_CLOEXEC); if (fd < 0 || read(fd, other, 1)) _exit(1); close(fd);",
    "rename": 'snprintf(other, sizeof other, "%sr", name); if (rename(name, other)) _exit(1);',
    "delete": "if (unlink(name)) _exit(1);",
}
# Python's own part of a call, measured on two cores in memory; the storage's part is added to both.
BARS = {"stat": 0.35, "open-read": 0.5, "rename": 0.6, "delete": 0.7}


def bars(folder: Path, rounds: int) -> Iterator[Result]:
    """Yield a bar for each phase."""
    for phase, act in ACTS.items() if shutil.which("cc") else ():
        create, program = compile_c(folder), compile_c(folder, phase, act)
        engine = partial(run_engine, folder, create, phase)
        c = partial(run_c_phase, folder, create, program)
        name = f"metadata engine / C loop, {phase}, {WORKERS} workers"
        yield in_turns(name, engine, c, bar=BARS[phase], unit="files/s", rounds=rounds)


def filled(folder: Path, create: Path) -> list[str]:
    """Create directories with files, one per worker; return their paths."""
    directories = fresh(folder, WORKERS)
    run_c_in(directories, create)
    return directories


def run_c_phase(folder: Path, create: Path, program: Path) -> float:
    """Return files per second of a C loop."""
    return run_c_in(filled(folder, create), program)


def run_engine(folder: Path, create: Path, phase: str) -> float:
    """Return files per second of the engine, started as a metadata point starts it."""
    plan = {
        "phase": phase,
        "threads": WORKERS,
        "directories": filled(folder, create),
        "prefix": "",
        "counts": share(FILES, WORKERS),
        "renamed": [0] * WORKERS,
        "file_bytes": 0,
        "sync": "none",
        "stonewall": "none",
        "pilot_directory": str(folder),
        "mode": "auto",
    }
    armed = engines.arm("phases", plan, folder)
    armed.release()
    [ended] = armed.wait()
    return FILES / engines.read_report(ended.stdout, threads=WORKERS, operations=FILES).duration_s
