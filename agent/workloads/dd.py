"""Sequential writes: dd under GNU parallel as published, dd's behind one barrier, or the agent's own engine."""

from __future__ import annotations

import os
import re
import secrets
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import ReadBackWrong, SourceDoesNotFit, WorkIncomplete
from agent.machine import fsync_check, host
from agent.machine.workspace import Workspace, free_bytes
from agent.programs import processes
from agent.programs import tools as tool_box
from agent.programs.processes import Armed, Command, Ended
from agent.workloads import engines
from agent.workloads.trial import Outcome, Trial

if TYPE_CHECKING:
    from agent.job import Job, Step

SYNC = {"end": "conv=fsync", "block": "oflag=sync"}
CHUNK_BYTES = 1 << 24
# Odd, so that only parts 64 GiB apart have the same alignment to blocks of 4 KiB.
STRIDE_BYTES = 5_123_457


def tools(params: dict[str, Any]) -> set[str]:
    return {"engine": set(), "dd": {"dd"}, "parallel": {"bash", "seq", "dd", "parallel"}}[params["tool"]]


def calibration(params: dict[str, Any], room: int) -> tuple[dict[str, Any], str] | None:
    """Return the same with fewer bytes, but GNU parallel only with all: its start would weigh more otherwise.

    Memory has nothing to synchronise (fsync of tmpfs is the kernel's noop_fsync), so points of dd that differ only in
    that share a ceiling. The engine works differently for each.
    """
    each = params["threads"] * params["block_bytes"]
    total = min(params["data_bytes"], room // each * each)
    if not total or (params["tool"] == "parallel" and total < params["data_bytes"]):
        return None
    sync = params["sync"] if params["tool"] == "engine" else "end"
    return {**params, "data_bytes": total, "sync": sync}, "mb_per_s"


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Make the source (outside of the time) and arm the dd's."""
    params = step.params
    if params["tool"] == "engine":
        return _engine(job, step, workspace)
    source = "/dev/zero"
    if _reads_source(params):
        # Use the largest size of any step, because growing it later would repeat the drawing.
        readers = [params, *(other.params for other in job.steps if _reads_source(other.params))]
        source = str(make_source(max(readers, key=_source_bytes), workspace.shm))
    if params["tool"] == "dd":
        lines = [dd_argv(params, source, str(workspace.target / str(n)), n) for n in range(params["threads"])]
        commands = [Command([tool_box.find("dd") or "dd", *argv[1:]], workspace.scratch) for argv in lines]
        shown: dict[str, Any] = {"argv": lines[0]}
    else:
        line = parallel_line(params, source, workspace.target)
        commands = [Command([tool_box.find("bash") or "bash", "-c", line], workspace.scratch)]
        shown = {"command": line}
    armed = Armed(commands, workspace.scratch, {"PARALLEL_HOME": str(workspace.scratch)})

    def read(ended: list[Ended]) -> Outcome:
        warnings = _verify(params, workspace.target)
        total = params["data_bytes"]
        tool = {"name": params["tool"], "version": tool_box.recorded_version(params["tool"]), **shown}
        return Outcome(
            _metrics(params, armed, ended), {"bytes": total}, tool, warnings=warnings, reached={"write": total}
        )

    return Trial(armed, params["threads"], read)


def _engine(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Write the same data as dd by the write engine."""
    params = step.params
    threads, size = params["threads"], params["block_bytes"]
    blocks = params["data_bytes"] // threads // size
    plan = {
        "threads": threads,
        "mode": "auto",
        "paths": [str(workspace.target / str(number)) for number in range(threads)],
        "block_bytes": size,
        "blocks": blocks,
        "sync": params["sync"],
        "source": params.get("source", "zero"),
        # Another one in each repetition: blocks that an earlier one has left are not taken for its own.
        "seed": secrets.randbits(64) if params.get("verify") else None,
        "pilot_directory": str(workspace.target),
        "emulation": engines.emulation(job, step, workspace),
    }
    armed = engines.arm("writes", plan, workspace.scratch)

    def read(ended: list[Ended]) -> Outcome:
        unsynchronised = _verify(params, workspace.target)
        done = engines.read_report(ended[0].stdout, threads=threads, operations=blocks * threads)
        total = params["data_bytes"]
        metrics = _rates(total, done.duration_s)
        # Without it a write ends in the page cache: how long that takes is not the latency of the storage.
        is_timed = params["sync"] == "block"
        if is_timed:
            metrics.update(done.latency_metrics("write_lat"))
            metrics["longest_stall_s"] = done.longest_stall_s
        command = f"pwrite of {size} bytes, {SYNC[params['sync']]}, in {done.who}"
        command += read_back(plan, workspace.scratch) if params.get("verify") else ""
        outcome = done.outcome("write_lat" if is_timed else None, metrics, {"bytes": total}, done.tool(command))
        # Emulated writes are durable by definition, and their data need never reach this machine's disk.
        if not job.emulation:
            outcome.warnings, outcome.reached = unsynchronised, {"write": total}
        if is_timed:
            outcome.steadiness = done.steadiness(params)
        return outcome

    return Trial(armed, threads, read)


def read_back(plan: dict[str, Any], scratch: Path) -> str:
    """Read every block back in another process, outside of the time; how, in words. Raises ReadBackWrong."""
    command = engines.command("readback", plan, scratch)
    read = processes.run(command, scratch / "readback", engines.environment())
    [report] = engines.read_reports(read.stdout)
    if "wrong" in report:
        raise ReadBackWrong(
            f"{report['wrong']}, read back by {report['how']}: the storage lost or changed what it took"
        )
    return f", {report['blocks']} blocks read back by {report['how']}"


def dd_argv(params: dict[str, Any], source: str, target: str, number: int) -> list[str]:
    count = params["data_bytes"] // params["threads"] // params["block_bytes"]
    argv = ["dd", f"if={source}", f"of={target}", f"bs={params['block_bytes']}", f"count={count}", SYNC[params["sync"]]]
    if source != "/dev/zero":
        # Each starts one block further on, so that no two write the same block at the same time.
        argv.append(f"skip={number}")
    return argv


def parallel_line(params: dict[str, Any], source: str, target: Path) -> str:
    """The published form."""
    argv = dd_argv(params, source, f"{target}/{{}}", 0)
    line = shlex.join(argv).replace("skip=0", "skip={}")
    # parallel hands its command to a shell once more; a path that needs quotes needs them there, too.
    quiet = " -q" if shlex.quote(str(target)) != str(target) else ""
    return f"seq 0 {params['threads'] - 1} | parallel --will-cite{quiet} -j {params['threads']} {line}"


def make_source(params: dict[str, Any], shm: Path) -> Path:
    """Make an incompressible file in memory for all dd's: the bytes of one dd, and a block more for each further dd.

    It stays from step to step and only grows. Of 64 MiB, which take 0.2 s to draw, a quarter is drawn; the rest repeats
    it from another offset each time. No storage compresses that: it repeats after some 16 MiB only, and FSx for
    OpenZFS compresses records of 4 MiB at the most, each by itself (RecordSizeKiB of its API). No block repeats either.
    """
    wanted = _source_bytes(params)
    source = shm / "random"
    present = source.stat().st_size if source.exists() else 0
    missing = wanted - present
    free = min(host.memory_kib("MemAvailable") * 1024, free_bytes(shm)) + present
    if missing > 0 and wanted > free // 2:
        raise SourceDoesNotFit(
            f"the random source needs {wanted} bytes in {shm.parent}, half of the free memory is {free // 2}; "
            "make room there (`df -h`), use more threads (each reads total / threads), a smaller total or source 'zero'"
        )
    if missing > 0:
        pool = memoryview(os.urandom(min(CHUNK_BYTES, missing)))
        with source.open("ab") as stream:
            for done in range(0, missing, len(pool)):
                start, length = done // len(pool) * STRIDE_BYTES % len(pool), min(len(pool), missing - done)
                stream.write(pool[start : start + length])
                stream.write(pool[: max(0, start + length - len(pool))])
    return source


def _reads_source(params: dict[str, Any]) -> bool:
    return params["tool"] != "engine" and params.get("source") == "random"


def _source_bytes(params: dict[str, Any]) -> int:
    return int(params["data_bytes"] // params["threads"] + (params["threads"] - 1) * params["block_bytes"])


def slowest_s(ended: list[Ended]) -> float | None:
    """The longest time that a dd itself printed: `… bytes (2.1 GB, 2.0 GiB) copied, 1.23 s, 1.7 GB/s`."""
    messages = "\n".join(dd.stderr.read_text(errors="replace") for dd in ended)
    times = re.findall(r"copied, ([0-9.e+-]+) s", messages)
    return max(float(seconds) for seconds in times) if times else None


def _metrics(params: dict[str, Any], armed: Armed, ended: list[Ended]) -> dict[str, float]:
    total = params["data_bytes"]
    metrics = _rates(total, armed.duration_s())
    slowest = slowest_s(ended)
    if slowest:
        # The published figures are dd's own; the start of GNU parallel (90 to 200 ms) is not in them.
        metrics["slowest_dd_s"] = slowest
        metrics["slowest_dd_mb_per_s"] = total / 1e6 / slowest
    return metrics


def _rates(data_bytes: int, duration_s: float) -> dict[str, float]:
    return {
        "mb_per_s": data_bytes / 1e6 / duration_s,
        "mib_per_s": data_bytes / 2**20 / duration_s,
        "duration_s": duration_s,
    }


def _verify(params: dict[str, Any], target: Path) -> list[str]:
    """Check that all is there; the warnings of files that were synchronised and are not on the storage."""
    expected = params["data_bytes"] // params["threads"]
    for number in range(params["threads"]):
        path = target / str(number)
        size = path.stat().st_size if path.exists() else 0
        if size != expected:
            raise WorkIncomplete(
                f"file {number} has {size} of {expected} bytes though {params['tool']} said it was done"
            )
    return fsync_check.warnings(target / str(number) for number in range(params["threads"]))
