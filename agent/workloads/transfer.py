"""Copying many files from the instance's own disk to the storage, with the tools that people copy with."""

from __future__ import annotations

import hashlib
import os
import random
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import ToolFailed, WorkIncomplete
from agent.machine.workspace import Workspace
from agent.programs import tools as tool_box
from agent.programs.processes import Armed, Command, Ended
from agent.workloads import data_set
from agent.workloads.data_set import DataSet
from agent.workloads.trial import Outcome, Trial

if TYPE_CHECKING:
    from agent.job import Job, Step

# As the EFS tutorial takes it for the tools that copy in parallel.
THREADS_PER_CPU = 4
ONE_AT_A_TIME = ("rsync", "cp")
PROGRAMS = {
    "rsync": ("rsync",),
    "cp": ("cp",),
    "fpsync": ("fpsync", "rsync"),
    "cp+parallel": ("find", "parallel", "cp"),
    "fpart+cpio+parallel": ("fpart", "parallel", "cpio"),
}
# The sample has this tool's version: the tool that distributes the files decides the speed.
NAMESAKE = {"cp+parallel": "parallel", "fpart+cpio+parallel": "fpart"}
# $1 source, $2 destination, $3 threads, $4 a name for the list. -q: a path may need quotes in parallel's own shell.
COPY_PARALLEL = 'find "$1" -type f | parallel --will-cite -q -j "$3" cp {} "$2"'
# As published; -z packs empty directories too. fpart began to count its lists at 1 instead of 0.
FPART_PARALLEL = (
    'cd "$1" && fpart -z -n 1 -o "$4" . && parallel --will-cite -q -j "$3" --pipepart --round-robin --delay .1'
    ' --block 1M -a "$(ls "$4".[01])" cpio --quiet -dpmL "$2"'
)
# A copy ends when the data is on the storage, not in this machine's memory. NFS flushes each file when it is closed.
THEN_FLUSH = '"$@" && sync -f "$0"'
MAX_CALIBRATED_FILES = 600  # two seconds of GNU parallel
# A file of a byte takes a block.
BLOCK_BYTES = 4096
CHECKED_FILES = 64
CHUNK_BYTES = 1 << 20


def tools(params: dict[str, Any]) -> set[str]:
    return {"bash", "sync", *PROGRAMS[params["tool"]]}


def calibration(params: dict[str, Any], room: int) -> tuple[dict[str, Any], str] | None:
    """Return parameters and metric to measure the cost of copying itself, in memory; None if not possible.

    Sequential tools: bytes per second. GNU parallel, which starts a cp for each file: files per second. fpsync and
    fpart begin with seconds of their own, which would weigh too much in a shortened copy.
    """
    tool, files, size = params["tool"], params["files"], params["file_bytes"]
    params = {name: value for name, value in params.items() if name != "sizes"}
    if tool == "cp+parallel":
        return {**params, "files": min(files, MAX_CALIBRATED_FILES), "file_bytes": min(size, 4096)}, "files_per_s"
    on_disk = -(-size // BLOCK_BYTES) * BLOCK_BYTES
    fitting = min(files, room // 2 // on_disk)  # the source and its copy
    return ({**params, "files": fitting}, "mb_per_s") if tool in ONE_AT_A_TIME and fitting else None


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Make the data set if it does not exist (not timed) and arm the tool."""
    del job
    params = step.params
    source = data_set.provide(workspace.data, params["files"], params["file_bytes"], params.get("sizes", ""))
    threads = threads_of(params)
    argv = copy_argv(params["tool"], source.folder, workspace.target, threads, workspace.scratch)
    bash = tool_box.find("bash") or "bash"
    command = Command([bash, "-c", THEN_FLUSH, str(workspace.target), *argv], workspace.scratch)
    armed = Armed([command], workspace.scratch, {"PARALLEL_HOME": str(workspace.scratch)})

    def read(ended: list[Ended]) -> Outcome:
        del ended
        is_flat = params["tool"] == "cp+parallel"
        verify(source, workspace.target, is_flat=is_flat, seed=step.number)
        duration_s = armed.duration_s()
        metrics = {
            "mb_per_s": source.total_bytes / 1e6 / duration_s,
            "files_per_s": source.files / duration_s,
            "duration_s": duration_s,
        }
        version = tool_box.recorded_version(NAMESAKE.get(params["tool"], params["tool"]))
        tool = {"name": params["tool"], "version": version, "argv": argv}
        return Outcome(
            metrics,
            {"bytes": source.total_bytes},
            tool,
            warnings=same_disk(source.folder, workspace.mount),
            reached={"write": source.total_bytes},
        )

    return Trial(armed, threads, read)


def threads_of(params: dict[str, Any]) -> int:
    """Return the number of concurrent copies: one for sequential tools, else as given or 4 for each processor."""
    if params["tool"] in ONE_AT_A_TIME:
        return 1
    return params.get("threads") or THREADS_PER_CPU * (os.cpu_count() or 1)


def copy_argv(tool: str, source: Path, target: Path, threads: int, scratch: Path) -> list[str]:
    """The tool's command line, as published."""
    if tool == "rsync":
        return ["rsync", "-r", f"{source}/", str(target)]
    if tool == "cp":
        return ["cp", "-r", f"{source}/.", str(target)]
    if tool == "fpsync":
        _refuse_what_a_shell_would_read(source, target)
        return ["fpsync", "-n", str(threads), "-v", "-t", str(scratch / "fpsync"), f"{source}/", f"{target}/"]
    script = COPY_PARALLEL if tool == "cp+parallel" else FPART_PARALLEL
    return ["bash", "-o", "pipefail", "-c", script, tool, str(source), str(target), str(threads), str(scratch / "list")]


def _refuse_what_a_shell_would_read(*paths: Path) -> None:
    """fpsync is a shell script that hands its paths to a shell once more, without quotes: one could be a command."""
    for path in paths:
        if shlex.quote(str(path)) != str(path):
            raise ToolFailed(f"fpsync cannot copy from or to {path}; use a folder of letters, digits and / . _ -")


def verify(source: DataSet, target: Path, *, is_flat: bool, seed: int) -> None:
    """Check count and bytes of all files, and the content of some (others at each step).

    Two tools had reported success without copying anything. Raises WorkIncomplete.
    """
    sizes = [(Path(parent) / name).stat().st_size for parent, _, names in os.walk(target) for name in names]
    if (len(sizes), sum(sizes)) != (source.files, source.total_bytes):
        raise WorkIncomplete(
            f"{len(sizes)} of {source.files} files with {sum(sizes)} of {source.total_bytes} bytes are there "
            "after the tool said it was done"
        )
    names = source.paths()
    for name in random.Random(seed).sample(names, min(CHECKED_FILES, len(names))):  # noqa: S311
        copied = target / (Path(name).name if is_flat else name)
        if not copied.is_file():
            raise WorkIncomplete(f"{name} is not there, though as many files are as were to be copied")
        if checksum(copied) != checksum(source.folder / name):
            raise WorkIncomplete(f"{name} differs from what was to be copied, though its size does not")


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file on its storage. Its cached pages are dropped first."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def same_disk(source: Path, mount: Path) -> list[str]:
    """The warning of a sample whose source was read from the file system that it was written to."""
    if source.stat().st_dev != mount.stat().st_dev:
        return []
    return ["the data set was read from the same file system that it was copied to"]
