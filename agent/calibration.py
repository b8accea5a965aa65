"""Ceiling of each tool of a cell without a storage: the work of its points, shortened, in this machine's memory.

A point near its tool's ceiling measured the tool, not the storage: GNU parallel starts about 300 touches a second on
any storage. Calibration runs before the first timed step, outside of every sample. A workload whose module has no
`calibration` has no such ceiling (a build computes most of its time, by design).
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent import mounts, samples, workloads
from agent.engine.emulation import UNLIMITED
from agent.errors import AgentError
from agent.job import Step
from agent.machine import host
from agent.machine.workspace import free_bytes, remove

if TYPE_CHECKING:
    import logging
    from pathlib import Path

    from agent.job import Job
    from agent.machine.workspace import Workspace, Workspaces

# Seconds for all tools of a cell together; ceilings that do not fit into them are reported as unknown.
BUDGET_S = 20.0
# Share of the free memory that one calibration may fill: the source of its data and the tools need memory too.
USABLE_SHARE = 1 / 8
MAX_USABLE_BYTES = 256 << 20


def calibrate(job: Job, workspaces: Workspaces, log: logging.Logger) -> list[dict[str, Any]]:
    """Return the `calibration` of samples.json: each tool's ceiling with the points that it holds for."""
    # Neither has a counterpart in memory: an SDK needs a service, and a file server is another machine.
    if job.kind != "measure" or mounts.is_by_requests(job.mount):
        return []
    workspace = workspaces.in_memory()
    if mounts.describe("directory", workspace.mount).fstype != "tmpfs":
        log.warning("not calibrated: %s is not memory", workspace.mount)
        return []
    give_up_at = time.monotonic() + BUDGET_S
    ceilings = []
    for points, params, metric in shortened(job, usable_bytes(job, workspace.mount)):
        if time.monotonic() > give_up_at:
            ceilings.append({"points": points, "not_done": f"the {BUDGET_S:g} s for calibrations were used up"})
            continue
        try:
            ceilings.append({"points": points, **measure(job, params, metric, workspace)})
        except (AgentError, OSError) as err:
            # An unknown ceiling must not fail the cell.
            ceilings.append({"points": points, "not_done": f"{type(err).__name__}: {err}"})
        log.info("calibration: %s", samples.describe(ceilings[-1]))
    return ceilings


def shortened(job: Job, room: int) -> list[tuple[list[str], dict[str, Any], str]]:
    """Return the calibration runs: the points that share a ceiling, the parameters to find it, and its metric."""
    runs: dict[str, tuple[list[str], dict[str, Any], str]] = {}
    for step in job.steps:
        wanted = workloads.calibration(job.workload["type"], step.params, room)
        if wanted is not None:
            points = runs.setdefault(json.dumps(wanted, sort_keys=True), ([], *wanted))[0]
            if step.point not in points:
                points.append(step.point)
    return list(runs.values())


def measure(job: Job, params: dict[str, Any], metric: str, workspace: Workspace) -> dict[str, Any]:
    """Return one tool's ceiling, measured by the code that also measures the storage."""
    mount = {"kind": "directory", "path": str(workspace.mount)}
    in_memory = replace(job, mount=mount, emulation=UNLIMITED if job.emulation else None)
    workspace.target.mkdir()
    trial = workloads.prepare(in_memory, Step(0, "calibration", 1, params), workspace)
    try:
        outcome = trial.read(trial.run())
    finally:
        trial.armed.kill()
        for folder in (workspace.mount, workspace.scratch, workspace.data):
            for path in folder.iterdir():
                remove(path)
    return {
        "metric": metric,
        "value": outcome.metrics[metric],
        "duration_s": outcome.metrics["duration_s"],
        "params": params,
        "tool": {name: outcome.tool.get(name) for name in ("name", "version", "mode")},
    }


def usable_bytes(job: Job, folder: Path) -> int:
    """Return the bytes that one calibration may use; on a user's own machine all instances share the memory."""
    free = min(host.memory_kib("MemAvailable") * 1024, free_bytes(folder))
    sharing = 1 if job.may_administer else job.instances
    return int(min(free * USABLE_SHARE / sharing, MAX_USABLE_BYTES))
