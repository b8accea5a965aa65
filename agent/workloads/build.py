"""Any shell build command with a cache on the storage: prepared and populated outside of the time, then timed."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from agent.errors import JobInvalid
from agent.machine.workspace import Workspace
from agent.programs import tools as tool_box
from agent.programs.processes import Armed, Command, Ended, run
from agent.workloads.trial import Outcome, Trial, integer_problems

if TYPE_CHECKING:
    from agent.job import Job, Step

DEFAULT_CACHE = "cache"


def problems(params: dict[str, Any]) -> list[str]:
    """What is wrong with the parameters."""
    sentences = integer_problems({"jobs": 1, **params}, jobs=1)
    sentences += [
        f"{name}: {params[name]!r} must be a shell command"
        for name in ("build", "prepare", "populate")
        if params.get(name) is not None and not (isinstance(params[name], str) and params[name].strip())
    ]
    if not params.get("build"):
        sentences.append("build: missing; the command to time")
    return sentences + cache_problems(params)


def cache_problems(params: dict[str, Any]) -> list[str]:
    """What is wrong with the folder of the cache."""
    path = PurePosixPath(str(params.get("cache_path") or DEFAULT_CACHE))
    if path.is_absolute() or ".." in path.parts:
        return [f"cache_path: {params['cache_path']!r} must be a path below the storage"]
    return []


def tools(params: dict[str, Any]) -> set[str]:
    """The programs that a point needs; what its commands call is theirs to say."""
    del params
    return {"bash"}


def calibration(params: dict[str, Any], room: int) -> tuple[dict[str, Any], str] | None:
    """A build is no tool with a ceiling."""
    del params, room
    return None


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Fill the cache where nobody else has, prepare the sources, arm the build."""
    params = step.params
    cache = workspace.mount / (params.get("cache_path") or DEFAULT_CACHE)
    cache.mkdir(parents=True, exist_ok=True)
    build = workspace.target
    if job.workload.get("buildDirectory") == "local":
        build = workspace.scratch / "build"
        build.mkdir()
    env = {"CACHE_DIR": str(cache), "BUILD_DIR": str(build), "JOBS": str(params.get("jobs", 1))}
    if job.kind == "populate":
        if not params.get("populate"):
            raise JobInvalid(
                "populate: the workload has no populate command, so there is nothing to fill its cache with"
            )
        return _arm(params["populate"], build, workspace.scratch, env, "populations")
    is_first = not (workspace.scratch.parent / "populated").exists()
    if job.is_own_storage and params.get("populate") and is_first:
        _run(params["populate"], build, workspace.scratch / "populate", env)
        (workspace.scratch.parent / "populated").touch()
    if params.get("prepare"):
        _run(params["prepare"], build, workspace.scratch / "prepare", env)
    return _arm(params["build"], build, workspace.scratch, env, "builds")


def shell(command: str) -> list[str]:
    """A command line under bash that stops at the first failure, also within a pipe or at an unset variable."""
    return [tool_box.find("bash") or "bash", "-euo", "pipefail", "-c", command]


def _run(command: str, cwd: Path, scratch: Path, env: dict[str, str]) -> None:
    run(Command(shell(command), cwd), scratch, env)


def _arm(command: str, cwd: Path, scratch: Path, env: dict[str, str], work: str) -> Trial:
    armed = Armed([Command(shell(command), cwd)], scratch, env)

    def read(armed: Armed, ended: list[Ended]) -> Outcome:
        used = ended[0].user_s + ended[0].system_s
        tool = {"name": "bash", "version": tool_box.version("bash"), "command": command}
        return Outcome({"duration_s": armed.duration_s(), "build_cpu_s": used}, {work: 1}, tool)

    return Trial(armed, int(env["JOBS"]), read)
