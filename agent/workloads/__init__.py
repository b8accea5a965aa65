"""The workloads: what each needs, how it is prepared, run, verified and put into figures."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.job import Job, Step
    from agent.machine.workspace import Workspace
    from agent.workloads.trial import Trial

TYPES = ("touch", "dd", "fio", "read", "build", "transfer", "yocto", "instance-throughput")


def problems(kind: str, params: dict[str, Any]) -> list[str]:
    """What in a point's parameters could be a command, or reach beyond the storage, before anything is touched."""
    sentences: list[str] = _module(kind).problems(params)
    return sentences


def tools(kind: str, params: dict[str, Any]) -> set[str]:
    """The programs that a point needs."""
    names: set[str] = _module(kind).tools(params)
    return names


def calibration(kind: str, params: dict[str, Any], room: int) -> tuple[dict[str, Any], str] | None:
    """What finds the ceiling of a point's tool in `room` bytes of memory: parameters and metric. None: nothing does."""
    module = _module(kind)
    shortened: tuple[dict[str, Any], str] | None = (
        module.calibration(params, room) if hasattr(module, "calibration") else None
    )
    return shortened


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Do everything that must not be timed; the trial then stands at its gate."""
    trial: Trial = _module(job.workload["type"]).prepare(job, step, workspace)
    return trial


def _module(kind: str) -> Any:
    # Only the job's own workload is imported: the others would only delay the start.
    return importlib.import_module(f"agent.workloads.{kind.replace('-', '_')}")
