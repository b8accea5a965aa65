"""Zero-byte creates: the literal `touch` loop and GNU parallel of the published tables, and the agent's own engine."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.engine.worker_pool import share
from agent.errors import WorkIncomplete
from agent.machine.workspace import Workspace, count_files
from agent.programs import tools as tool_box
from agent.programs.processes import Armed, Command, Ended
from agent.workloads import engines, metadata
from agent.workloads.trial import Outcome, Trial

if TYPE_CHECKING:
    from agent.job import Job, Step

# A second of GNU parallel, a third of one of a touch loop, less of the engine (two cores, in memory).
MAX_CALIBRATED = {"engine": 20_000, "touch": 300, "parallel": 300}
# In memory the engine has its full speed from the first file on. This number takes 50 ms, so that the delay between the
# starts of a few workers is short in comparison; further workers get enough files to overlap with all others.
MIN_CALIBRATED, CALIBRATED_PER_THREAD = 5_120, 1_024


def tools(params: dict[str, Any]) -> set[str]:
    return {"engine": set(), "touch": {"bash", "touch"}, "parallel": {"bash", "seq", "touch", "parallel"}}[
        params["tool"]
    ]


def calibration(params: dict[str, Any], room: int) -> tuple[dict[str, Any], str] | None:
    """Enough files for all of the engine's workers to work at once; of the tools that start programs, some.

    GNU parallel with own directories starts one touch for each: a quarter as fast with a quarter of the files, so they
    stay as they are.
    """
    del room
    threads, most = params["threads"], MAX_CALIBRATED[params["tool"]]
    engine_files = min(most, max(MIN_CALIBRATED, CALIBRATED_PER_THREAD * threads))
    files = engine_files if params["tool"] == "engine" else min(params["files"], most)
    if (params["tool"], params["directories"]) == ("parallel", "own"):
        if params["files"] > MAX_CALIBRATED["engine"]:
            return None
        files = params["files"]
    return {**engines.closed(params), "files": max(threads, files // threads * threads)}, "files_per_s"


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Make the directories (outside of the time, as published) and arm the tool."""
    params, threads = step.params, step.params["threads"]
    directories = _directories(workspace.target, threads, params["directories"])
    if params["tool"] == "engine":
        return _engine(job, step, directories, workspace)
    lines = touch_lines(params, directories) if params["tool"] == "touch" else [parallel_line(params, workspace.target)]
    # Without a home of its own GNU parallel would write into the user's.
    env = {"PARALLEL_HOME": str(workspace.scratch)}
    commands = [Command([tool_box.find("bash") or "bash", "-c", line], workspace.scratch) for line in lines]
    armed = Armed(commands, workspace.scratch, env)

    def read(ended: list[Ended]) -> Outcome:
        del ended
        _verify(params, directories)
        tool = {"name": params["tool"], "version": tool_box.recorded_version(params["tool"]), "command": lines[0]}
        metrics = {"files_per_s": params["files"] / armed.duration_s(), "duration_s": armed.duration_s()}
        return Outcome(metrics, {"files": params["files"]}, tool)

    return Trial(armed, threads, read)


def touch_lines(params: dict[str, Any], directories: list[str]) -> list[str]:
    """One bash loop per thread, each with its own stretch of the files."""
    lines, first = [], 1
    for directory, files in zip(directories, share(params["files"], params["threads"])):
        prefix = shlex.quote(f"{directory}/")
        lines.append(f"for i in {{{first}..{first + files - 1}}}; do touch {prefix}$i; done")
        first += files
    return lines


def parallel_line(params: dict[str, Any], target: Path) -> str:
    """The published forms: one touch per file, or one touch per directory with all of its files."""
    threads, quoted = params["threads"], shlex.quote(f"{target}/")
    # parallel hands its command to a shell once more; a path that needs quotes needs them there, too.
    start = f"parallel --will-cite{' -q' if quoted[0] == chr(39) else ''} -j {threads}"
    if params["directories"] == "shared":
        return f"seq {params['files']} | {start} touch {quoted}{{}}"
    return f"seq {threads} | {start} touch {quoted}{{}}/{{1..{params['files'] // threads}}}"


def _directories(target: Path, threads: int, kind: str) -> list[str]:
    if kind == "shared":
        return [str(target)] * threads
    directories = [target / str(number + 1) for number in range(threads)]
    for directory in directories:
        directory.mkdir()
    return [str(directory) for directory in directories]


def _engine(job: Job, step: Step, directories: list[str], workspace: Workspace) -> Trial:
    params, threads = step.params, step.params["threads"]
    plan = {"phase": "create", "sync": params["sync"], "open_loop": engines.open_loop(job, step, workspace)}
    armed = metadata.arm(plan, directories, share(params["files"], threads), job, step, workspace)

    def read(ended: list[Ended]) -> Outcome:
        _verify(params, directories)
        return engine_outcome(engines.read_report(ended[0].stdout, threads=threads, operations=params["files"]), params)

    return Trial(armed, threads, read)


def engine_outcome(done: engines.Report, params: dict[str, Any]) -> Outcome:
    outcome = metadata.outcome({**params, "phase": "create"}, done, done.operations)
    if params["sync"] != "end":
        # There creates are counted before they are stored.
        outcome.steadiness = done.steadiness(params)
    return outcome


def _verify(params: dict[str, Any], directories: list[str]) -> None:
    files = sum(count_files(Path(directory)) for directory in sorted(set(directories)))
    if files != params["files"]:
        raise WorkIncomplete(f"{files} of {params['files']} files are there after {params['tool']} said it was done")
