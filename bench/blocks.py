"""The read and write engines beside fio and dd, and fio under the agent beside fio alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from agent import workloads
from agent.engine import reads
from agent.job import Step
from agent.job_check import parse
from agent.machine.workspace import Workspace, remove
from agent.workloads import engines, read
from agent.workloads.trial import Trial
from bench.pairs import Result, in_turns

MIB = 1 << 20
# No page is read twice: the file has enough pages for a fast disk during the whole read by fio.
PAGE_BYTES, DATA_BYTES = 4096, 1024 * MIB
FIO_S = 2
FIO = {"rw": "randread", "bs": "4k", "size": "64m", "runtime": FIO_S, "time_based": 1, "direct": 1, "ioengine": "psync"}
FIO_WRITES = {**FIO, "rw": "randwrite"}
READS = {
    "access": "random", "request_bytes": PAGE_BYTES, "data_bytes": DATA_BYTES, "caching": "direct",
}  # fmt: skip


def bars(folder: Path, rounds: int) -> Iterator[Result]:
    """Yield all bars of reads and writes."""
    for threads in (1, 4):
        for sync in ("end", "block"):
            name = f"write engine / dd, 1 MiB, sync {sync}, {threads} at once"
            ours, theirs = (partial(run_writes, folder, tool, threads, sync) for tool in ("engine", "dd"))
            yield in_turns(name, ours, theirs, bar=0.95, unit="MB/s", rounds=rounds)
    if shutil.which("fio") and has_direct(folder):
        for threads in (1, 4, 16):
            name = f"read engine / fio psync, direct 4 KiB, {threads} at once"
            raw = partial(run_fio_reads, folder, threads)
            # Both read for about the same time: within a tenth of a second a processor has not even reached its clock
            # rate.
            requests = min(DATA_BYTES // PAGE_BYTES, int(raw() * FIO_S)) // threads * threads
            engine = partial(run_reads, folder, threads, requests)
            yield in_turns(name, engine, raw, bar=0.97, unit="IOPS", rounds=rounds)
        ours, theirs = partial(run_fio_under_agent, folder), partial(run_fio_alone, folder)
        yield in_turns("fio under the agent / fio alone", ours, theirs, bar=0.99, unit="IOPS", rounds=rounds)


def has_direct(folder: Path) -> bool:
    """Return whether the file system supports reads that bypass the page cache."""
    path = folder / "direct"
    path.write_bytes(bytes(PAGE_BYTES))
    reading = subprocess.run(
        ["dd", f"if={path}", "of=/dev/null", "bs=4k", "iflag=direct"], capture_output=True, check=False
    )
    return reading.returncode == 0


def run_writes(folder: Path, tool: str, threads: int, sync: str) -> float:
    """Return MB/s of a dd point: by the clocks of the engine's workers, or by the clock of the slowest dd."""
    params = {"data_bytes": 256 * MIB, "block_bytes": MIB, "sync": sync, "threads": threads, "tool": tool}
    with_source = {**params, "source": "zero"}
    trial = prepare("dd", folder, with_source)
    metrics = trial.read(trial.run()).metrics
    return metrics.get("slowest_dd_mb_per_s", metrics["mb_per_s"])


def run_reads(folder: Path, threads: int, requests: int) -> float:
    """Return reads of random pages per second of the engine, with direct I/O."""
    params = {**READS, "requests": requests, "threads": threads}
    plan = read.plan_of(params, "bench", read.data_file(params, folder))
    armed = read.arm_engine(plan, folder)
    armed.release()
    [ended] = armed.wait()
    operations = reads.operations_of_each(plan) * threads
    return operations / engines.read_report(ended.stdout, threads=threads, operations=operations).duration_s


def run_fio_reads(folder: Path, threads: int) -> float:
    """Return reads per second of fio on the same file."""
    data = read.data_file(READS, folder)["path"]
    options = {**FIO, "filename": data, "size": DATA_BYTES, "numjobs": threads, "thread": 1}
    return fio_iops(folder, options)


def fio_iops(folder: Path, options: dict[str, object]) -> float:
    """Run fio from the command line, as a user would; return its IOPS."""
    lines = [f"--{name}={value}" for name, value in options.items()]
    argv = ["fio", "--name=bench", "--output-format=json", "--group_reporting", *lines]
    output = subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout
    job = json.loads(output)["jobs"][0]
    return float(job["read"]["iops"] + job["write"]["iops"])


# Writes, because before reads fio would lay out a file, which takes fio's time and not the agent's.
def run_fio_alone(folder: Path) -> float:
    """Return writes per second of fio by itself."""
    (folder / "bench.0.0").unlink(missing_ok=True)
    return fio_iops(folder, {**FIO_WRITES, "directory": folder})


def run_fio_under_agent(folder: Path) -> float:
    """Return writes per second of the same job in the agent."""
    trial = prepare("fio", folder, {"options": FIO_WRITES})
    return trial.read(trial.run()).metrics["iops"]


def prepare(kind: str, folder: Path, params: dict[str, object]) -> Trial:
    """Prepare a point as the agent does."""
    document = {
        "schema": 1, "kind": "measure", "run": "bench", "cell": "bench", "environment": "local", "bucket": "none",
        "prefix": "none", "storage": {}, "mount": {"kind": "directory", "path": str(folder)},
        "workload": {"type": kind}, "points": [{"id": "p01", "params": params}],
        "steps": [{"point": "p01", "repetition": 1}],
    }  # fmt: skip
    target, scratch = folder / "target", folder / "scratch"
    for path in (target, scratch):
        remove(path)
        path.mkdir()
    workspace = Workspace(folder, target, scratch, folder, folder)
    return workloads.prepare(parse(json.dumps(document).encode(), "i-0"), Step(0, "p01", 1, params), workspace)
