"""Deleting many files: rm -r of each directory under GNU parallel, as the EFS tutorial cleans up, or our own engine."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.engine.worker_pool import share
from agent.errors import WorkIncomplete
from agent.machine.workspace import WORKERS, Workspace
from agent.programs import tools as tool_box
from agent.programs.processes import Armed, Command, Ended
from agent.workloads import engines, metadata
from agent.workloads.trial import Outcome, Trial

if TYPE_CHECKING:
    from agent.job import Job, Step

# As the EFS tutorial cleans up.
THREADS_PER_CPU = 8
REMOVE_PARALLEL = 'cd "$1" && ls -d */ | parallel --will-cite -j "$2" rm -r'
MAX_CALIBRATED = 10_000
PREFIX = "f"
CHUNK_BYTES = 1 << 20


def tools(params: dict[str, Any]) -> set[str]:
    return {"bash", "ls", "rm", "parallel"} if params["tool"] == "parallel" else set()


def calibration(params: dict[str, Any], room: int) -> tuple[dict[str, Any], str] | None:
    """Return fewer and empty files for the engine; a few starts of rm would not show its ceiling."""
    del room
    directories = params["directories"]
    files = min(params["files"], MAX_CALIBRATED) // directories * directories
    if params["tool"] != "engine" or not files:
        return None
    return {**params, "files": files, "file_bytes": 0}, "files_per_s"


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Create the files outside of the measured time, and start the tool at its gate."""
    params, target = step.params, workspace.target
    directories = make(params, target)
    if params["tool"] == "engine":
        return _engine(job, step, directories, workspace)
    threads = params.get("threads") or THREADS_PER_CPU * (os.cpu_count() or 1)
    argv = ["bash", "-o", "pipefail", "-c", REMOVE_PARALLEL, "bash", str(target), str(threads)]
    command = Command([tool_box.find("bash") or "bash", *argv[1:]], workspace.scratch)
    armed = Armed([command], workspace.scratch, {"PARALLEL_HOME": str(workspace.scratch)})

    def read(ended: list[Ended]) -> Outcome:
        del ended
        _verify(target)
        tool = {
            "name": "parallel",
            "version": tool_box.recorded_version("parallel"),
            "command": REMOVE_PARALLEL,
            "argv": argv,
        }
        duration_s = armed.duration_s()
        metrics = {"files_per_s": params["files"] / duration_s, "duration_s": duration_s}
        return Outcome(metrics, {"files": params["files"]}, tool)

    return Trial(armed, threads, read)


def make(params: dict[str, Any], target: Path) -> list[str]:
    """Make the directories and their files, many at once; return the directories. Raises WorkIncomplete."""
    directories = [target / f"d{number:05d}" for number in range(params["directories"])]
    each = params["files"] // params["directories"]
    names = []
    for number, directory in enumerate(directories):
        directory.mkdir()
        names += [f"{directory}/{PREFIX}{number}-{n}" for n in range(each)]
    with ThreadPoolExecutor(WORKERS) as workers:
        shares = [workers.submit(_fill, names[n::WORKERS], params["file_bytes"]) for n in range(WORKERS)]
    try:
        for share in shares:
            share.result()
    except OSError as err:
        raise WorkIncomplete(f"{params['files']} files that are to be deleted could not all be made: {err}") from err
    return [str(directory) for directory in directories]


def _fill(names: list[str], size: int) -> None:
    chunk = os.urandom(min(size, CHUNK_BYTES))
    for name in names:
        with open(name, "xb", buffering=0) as file:  # noqa: PTH123 strings, 100,000 of them
            for done in range(0, size, CHUNK_BYTES):
                file.write(chunk[: size - done])


def _engine(job: Job, step: Step, directories: list[str], workspace: Workspace) -> Trial:
    params, workers = {**step.params, "phase": "delete", "sync": "none"}, len(directories)
    plan = {name: params[name] for name in ("phase", "file_bytes")} | {"prefix": PREFIX}
    armed = metadata.arm(plan, directories, share(params["files"], workers), job, step, workspace)

    def read(ended: list[Ended]) -> Outcome:
        done = engines.read_report(ended[0].stdout, threads=workers, operations=params["files"])
        _verify(workspace.target)
        return metadata.outcome(params, done, done.operations)

    return Trial(armed, workers, read)


def _verify(target: Path) -> None:
    left = sum(len(files) for _, _, files in os.walk(target))
    if left:
        raise WorkIncomplete(f"{left} files are left after all were said to be deleted")
