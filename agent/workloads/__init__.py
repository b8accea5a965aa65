"""The workloads: programs, preparation, run, verification and figures of each."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from agent.job import Job, Step
    from agent.machine.workspace import Workspace
    from agent.workloads import (
        build,
        command,
        dd,
        delete,
        fio,
        metadata,
        objects,
        read,
        touch,
        transfer,
        yocto,
    )
    from agent.workloads.trial import Trial

    # mypy holds each module against the protocol here. At run time only the job's own is imported.
    _MODULES: tuple[WorkloadModule, ...] = (
        build, command, dd, delete, fio, metadata, objects, read, touch, transfer, yocto,
    )  # fmt: skip


class WorkloadModule(Protocol):
    """Interface of a workload's module. `params` are those of a point. A module may also have:

    - `tools(params)`, the programs that the point needs: by default none;
    - `check(points)`, which asks the tool about all points' params before anything is filled;
    - `calibration(params, room)`, how to find its tool's ceiling, which is what the tool does in memory, without a
      storage: the parameters of a short step of the same kind that fits into `room` bytes, and the metric that is the
      ceiling. `dd` of 1 GiB in blocks of 1 MiB: the same with as many blocks as fit, and `mb_per_s`. By default None:
      the tool has no such ceiling.
    """

    def prepare(self, job: Job, step: Step, workspace: Workspace) -> Trial:
        """Do everything that must not be timed."""
        ...


def tools(kind: str, params: dict[str, Any]) -> set[str]:
    needed: set[str] = getattr(_module(kind), "tools", lambda _: set())(params)
    return needed


def check(kind: str, points: list[dict[str, Any]]) -> None:
    """Let the tool say before anything is filled what it would refuse later."""
    getattr(_module(kind), "check", lambda _: None)(points)


def calibration(kind: str, params: dict[str, Any], room: int) -> tuple[dict[str, Any], str] | None:
    """Return parameters and metric of the step that finds a tool's ceiling; None if it has none."""
    found: tuple[dict[str, Any], str] | None = getattr(_module(kind), "calibration", lambda *_: None)(params, room)
    return found


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Do all preparation that must not be timed; the trial then waits at its gate."""
    return _module(job.workload["type"]).prepare(job, step, workspace)


def _module(kind: str) -> WorkloadModule:
    # Only the job's own workload is imported: the others would only delay the start.
    return cast("WorkloadModule", importlib.import_module(f"agent.workloads.{kind.replace('-', '_')}"))
