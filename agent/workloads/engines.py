"""Start the agent's own engines and read what they report."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import agent
from agent.engine import histogram
from agent.engine.emulation import BUCKET
from agent.errors import WorkIncomplete
from agent.programs.processes import Armed, Command

if TYPE_CHECKING:
    from agent.job import Job
    from agent.machine.workspace import Workspace

# Where `agent` was imported from, a folder or the zip: the engine's interpreter imports it from there, too.
IMPORT_ROOT = str(Path(agent.__file__).parents[1])
PERCENTS = (50, 90, 99)


@dataclass(frozen=True)
class Report:
    """What an engine did; times by the workers' own stamps, so what starts late cannot make the others look faster."""

    start_ns: int  # of the first worker, by the monotonic clock
    end_ns: int  # of the last worker
    operations: int
    bins: dict[int, int]  # latency of every operation in fio's bins (ns)
    how: dict[str, Any]  # mode, and the pilot that chose it
    workers: list[dict[str, int]]

    @property
    def duration_s(self) -> float:
        """From the first worker's start to the last one's end."""
        return (self.end_ns - self.start_ns) / 1e9

    @property
    def worked_ns(self) -> tuple[int, int]:
        """The work's own span, for an Outcome."""
        return self.start_ns, self.end_ns

    def latency_metrics(self, name: str, percents: tuple[int, ...] = PERCENTS) -> dict[str, float]:
        """Percentiles of the latency as metrics: `<name>_p99_us`."""
        return {f"{name}_p{p}_us": (histogram.percentile(self.bins, p) or 0) / 1000 for p in percents}

    def histograms(self, name: str) -> bytes:
        """The raw document that merges with those of other instances and of fio."""
        document = {
            "schema": 1,
            "unit": "ns",
            "histograms": {name: {"bins": self.bins, "samples": self.operations}},
            "workers": self.workers,
        }
        return json.dumps(document).encode()


def emulation(job: Job, workspace: Workspace) -> dict[str, Any] | None:
    """The `emulation` of an engine's plan: what the job says, and where the storage's bucket is."""
    return {**job.emulation, "path": str(workspace.mount / BUCKET)} if job.emulation else None


def arm(name: str, plan: dict[str, Any], scratch: Path, *, needs_packages: bool = False) -> Armed:
    """Start `agent.engine.<name>`; it has chosen its mode and all its workers stand at the gate when this returns."""
    # Without the packages of the system an interpreter starts faster.
    alone = [] if needs_packages else ["-S"]
    argv = [sys.executable, *alone, "-m", f"agent.engine.{name}", json.dumps(plan)]
    return Armed([Command(argv, scratch, runners=plan["threads"])], scratch, {"PYTHONPATH": IMPORT_ROOT})


def read_report(output: Path, *, threads: int, operations: int) -> Report:
    """Read an engine's output; raises WorkIncomplete when a worker or an operation is missing."""
    how, *workers = (json.loads(line) for line in output.read_text().splitlines())
    done = sum(worker["operations"] for worker in workers)
    if len(workers) != threads or done != operations:
        raise WorkIncomplete(f"{len(workers)} of {threads} engine workers reported {done} of {operations} operations")
    return Report(
        start_ns=min(worker["start_ns"] for worker in workers),
        end_ns=max(worker["end_ns"] for worker in workers),
        operations=done,
        bins=histogram.merge({int(value): n for value, n in worker["bins"].items()} for worker in workers),
        how=how,
        workers=[{key: worker[key] for key in ("start_ns", "end_ns", "operations")} for worker in workers],
    )
