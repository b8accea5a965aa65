"""Workloads that are shell commands of the user's: prepared and populated outside of the time, then timed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from agent.errors import JobInvalid
from agent.machine.workspace import Workspace
from agent.programs import containers
from agent.programs import tools as tool_box
from agent.programs.containers import Container, Network
from agent.programs.processes import Armed, Command, Ended, run
from agent.workloads import printed, read, uploads
from agent.workloads.trial import LeadingTrial, Outcome, ServingTrial, Trial

if TYPE_CHECKING:
    from agent.board.peers import Peers
    from agent.job import Job, Step

# Paths of the step's folder and the cache inside a container.
WORK, CACHE = "/workspace", "/cache"


def is_on_s3(job: Job) -> bool:
    """Return whether commands request objects themselves; Mountpoint has a bucket too, but its files are mounted."""
    kind: str = job.mount["kind"]
    return kind == "s3"


def shell(command: str) -> list[str]:
    """A command line under bash that stops at the first failure, also within a pipe or at an unset variable."""
    return [tool_box.find("bash") or "bash", "-euo", "pipefail", "-c", command]


@dataclass(frozen=True)
class ShellWorkload:
    """One type of these workloads. Its methods are the interface of a workload's module."""

    timed: str  # the parameter with the command that is timed
    folder: str  # the variable with the folder that is new for each step
    folder_field: str  # the field of the workload with that folder
    work: str  # unit of work of one execution
    cpu_metric: str

    def tools(self, params: dict[str, Any]) -> set[str]:
        """Return the programs that a point needs, without programs that its commands call."""
        return {containers.engine()} if params.get("container") else {"bash"}

    def prepare(self, job: Job, step: Step, workspace: Workspace) -> Trial:
        """Fill the cache if no instance has, prepare the step, arm its command."""
        params = step.params
        declared = printed.declared(job.workload)
        place = self._place(job, params, workspace)
        if job.kind == "populate":
            if not params.get("populate"):
                raise JobInvalid(
                    "populate: the workload has no populate command, so there is nothing to fill its cache with"
                )
            return self._arm(place, params["populate"], "populations", [])
        is_first = not (workspace.scratch.parent / "populated").exists()
        if job.is_own_storage and params.get("populate") and is_first:
            place.run(params["populate"], "populate")
            (workspace.scratch.parent / "populated").touch()
        if params.get("prepare"):
            place.run(params["prepare"], "prepare")
        if job.peers and not job.peers.is_leader:
            return self._serve(place, job.peers, step.number)
        trial = self._arm(place, params[self.timed], self.work, declared)
        if job.peers:
            trial = LeadingTrial(trial.armed, trial.workers, trial.read, job.peers, step.number)
        return _reading(trial, job, params) if is_on_s3(job) else trial

    def _place(self, job: Job, params: dict[str, Any], workspace: Workspace) -> _Place:
        image = params.get("container")
        cache = workspace.cache(params.get("cache_path"))
        is_local = job.workload.get(self.folder_field) == "local"
        folder = workspace.scratch / "build" if is_local else workspace.target
        folder.mkdir(parents=True, exist_ok=True)
        jobs = int(params.get("jobs", 1))
        seen = (WORK, CACHE) if image else (str(folder), str(cache))
        env = {"CACHE_DIR": seen[1], self.folder: seen[0], "JOBS": str(jobs)}
        if job.peers:
            env.update(job.peers.variables(workspace.scratch))
        if is_on_s3(job):
            env.update(uploads.variables(job.mount, params, workspace.target.parent))
        elif "exported_to" in job.mount:
            exported = uploads.exported(job.mount["exported_to"], workspace.target.relative_to(workspace.mount))
            env.update(uploads.variables(exported, {}, workspace.target.parent))
        if not image:
            tool = {"name": "bash", "version": tool_box.recorded_version("bash")}
            return _Place(workspace.scratch, env, jobs, tool, lambda command: Command(shell(command), folder))
        # As outside of a container. Of a language that the image lacks bash warns in the last words of each failure.
        containers.make_writable(folder)
        if not workspace.is_read_only:
            containers.make_writable(cache)
        read_only = [cache] if workspace.is_read_only else []
        container = Container(image, {folder: WORK, cache: CACHE}, {**env, "LC_ALL": "C"}, read_only)
        tool = {"name": "container", "version": image, "container_id": container.make_ready(workspace.scratch / "pull")}

        # A bridge adds a network hop, which the metadata service's responses do not survive (HttpPutResponseHopLimit of
        # the launch template), and it could limit a reader. With the machine's network the container has the role's
        # keys.
        network: Network = "host" if is_on_s3(job) else "bridge"

        def contained(command: str) -> Command:
            return container.command(workspace.scratch, f"set -u\n{command}", [], network=network)

        return _Place(workspace.scratch, {}, jobs, tool, contained)

    def _serve(self, place: _Place, peers: Peers, step: int) -> Trial:
        """Wait until the leader has ended the step; the sample has counters and no figures."""
        tool = {**place.tool, "command": "what the leader asks for"}
        return ServingTrial(Armed([], place.scratch), 1, lambda *_: Outcome({}, {}, tool), peers, step)

    def _arm(self, place: _Place, command: str, work: str, declared: list[printed.Number]) -> Trial:
        armed = Armed([place.command(command)], place.scratch, place.env)

        def read(ended: list[Ended]) -> Outcome:
            metrics = {"duration_s": armed.duration_s()}
            if place.tool["name"] == "bash":
                # For a container these would be the seconds of the waiting client.
                metrics[self.cpu_metric] = ended[0].user_s + ended[0].system_s
            metrics.update(printed.read(declared, ended[0]))
            return Outcome(metrics, {work: 1}, {**place.tool, "command": command})

        return Trial(armed, place.jobs, read)


def _reading(trial: Trial, job: Job, params: dict[str, Any]) -> Trial:
    """Return the trial of a command that reads objects, whose outcome has their bytes and warnings."""
    read_bytes = uploads.total_bytes(params)

    def read_objects(ended: list[Ended]) -> Outcome:
        outcome = trial.read(ended)
        if job.workload.get("primaryMetric") == "mb_per_s":
            outcome.metrics["mb_per_s"] = read_bytes / 1e6 / outcome.metrics["duration_s"]
            outcome.work["read_bytes"] = read_bytes
            if job.environment != "local":
                outcome.reached["received"] = read_bytes
        if job.environment == "local":
            outcome.warnings.append(read.PLAYED_S3)
        return outcome

    return replace(trial, read=read_objects)


@dataclass(frozen=True)
class _Place:
    """Where the commands of a step run: this machine, or a container."""

    scratch: Path
    env: dict[str, str]
    jobs: int
    tool: dict[str, Any]
    command: Callable[[str], Command]

    def run(self, command: str, name: str) -> None:
        """Run a command that is not timed."""
        run(self.command(command), self.scratch / name, self.env)
