"""Start the agent's own engines and read their reports."""

from __future__ import annotations

import contextlib
import json
import marshal
import math
import os
import random
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import agent
import contract
from agent.engine import worker_pool
from agent.engine.emulation import BUCKET
from agent.errors import WorkIncomplete
from agent.machine import steady_state
from agent.machine.steady_state import Steadiness
from agent.programs.processes import Armed, Command
from agent.workloads.trial import Outcome
from contract import histogram
from contract.keys import HISTOGRAMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.job import Job, Step
    from agent.machine.workspace import Workspace

# Where `agent` and `contract` were imported from: the folder into which their zip was unpacked, in a clone two folders.
IMPORT_ROOTS = tuple(dict.fromkeys(Path(str(package.__file__)).parents[1] for package in (agent, contract)))
# The parameter of an open loop: operations per second that fall due on each instance.
RATE = "rate_per_s_per_instance"
# Above these shares an open loop's latencies are to a notable part of its workers, or of the instance's clock.
MAX_OVERDUE, MAX_LATE = 0.1, 0.1


@dataclass(frozen=True)
class Report:
    """Report of an engine. Times are the workers' own, so a late start cannot make others look faster."""

    start_ns: int  # of the first worker, by the monotonic clock
    end_ns: int  # of the last worker
    operations: int
    bins: dict[int, int]  # latency of every operation in fio's bins (ns)
    longest_ns: int  # latency of the slowest operation
    how: dict[str, Any]  # mode, and the pilot that chose it
    workers: list[dict[str, int]]
    longest_stall_s: (
        float  # in which no worker ended an operation; 0 where all were shorter than worker_pool.MIN_WAIT_NS
    )
    seconds: dict[int, dict[int, int]]  # latencies in bins by the second (monotonic clock) in which they ended
    late: dict[int, int] = field(default_factory=dict)  # open loop: how late free workers began (ns, in bins)

    @property
    def duration_s(self) -> float:
        """From the first worker's start to the last one's end."""
        return (self.end_ns - self.start_ns) / 1e9

    @property
    def who(self) -> str:
        """Its workers, as part of a command: `4 threads`, `4 processes`, `16 threads of 2 processes`."""
        workers = len(self.workers)
        processes = self.how.get("processes", workers)
        return (
            f"{workers} {self.how['mode']}" if processes == workers else f"{workers} threads of {processes} processes"
        )

    def tool(self, command: str) -> dict[str, Any]:
        """Return the engine as the tool of a sample."""
        return {"name": "engine", "version": agent.VERSION, "command": command, **self.how}

    def latency_metrics(self, name: str) -> dict[str, float]:
        """Percentiles and maximum of the latency as metrics: `<name>_p99_us`."""
        return histogram.latency_metrics(name, self.bins, self.longest_ns)

    def open_loop(self, params: dict[str, Any]) -> dict[str, float]:
        """Return how well an open loop kept its schedule, for the tool's record; empty for a closed loop.

        `overdue_share`: share of operations that fell due while all workers were busy; `late_p50_us`: median delay of a
        free worker's start.
        """
        if RATE not in params:
            return {}
        late = histogram.percentile(self.late, 50) / 1000
        return {"overdue_share": 1 - sum(self.late.values()) / self.operations, "late_p50_us": late}

    def warnings(self, params: dict[str, Any]) -> list[str]:
        """Return warnings about latencies of an open loop that are not the storage's: busy workers, late wake-ups."""
        kept, sentences = self.open_loop(params), []
        if kept and kept["overdue_share"] > MAX_OVERDUE:
            sentences.append(
                f"more than {MAX_OVERDUE:.0%} of the operations were due while all {params['threads']} workers waited "
                "for others: their latency holds the wait for a worker, which more threads shorten unless the storage "
                "is at its end"
            )
        latency_us = histogram.percentile(self.bins, 50) / 1000
        if kept and kept["late_p50_us"] > MAX_LATE * latency_us:
            sentences.append(
                f"more than {MAX_LATE:.0%} of the latency at the median is that a free worker began late: that is the "
                "instance's clock and processors, not the storage"
            )
        return sentences

    def steadiness(self, params: dict[str, Any]) -> Steadiness | None:
        """Return the steadiness of the rate while all workers ran; None for an open loop, whose rate is given."""
        if RATE in params or not self.workers:
            return None
        first = -(-max(worker["start_ns"] for worker in self.workers) // worker_pool.SECOND_NS)
        last = min(worker["end_ns"] for worker in self.workers) // worker_pool.SECOND_NS
        return steady_state.find([sum(self.seconds.get(second, {}).values()) for second in range(first, last)])

    def operations_by(self) -> list[tuple[int, int]]:
        """Return the number of ended operations by the start, by each full second (monotonic ns) and by the end."""
        if not self.seconds:
            return []
        done, total = [(self.start_ns, 0)], 0
        for second in range(min(self.seconds), max(self.seconds) + 1):
            total += sum(self.seconds.get(second, {}).values())
            done.append((min((second + 1) * worker_pool.SECOND_NS, self.end_ns), total))
        return done

    def outcome(
        self,
        latencies: str | Mapping[str, tuple[dict[int, int], int]] | None,
        metrics: dict[str, float],
        work: dict[str, float],
        tool: dict[str, Any],
        warnings: list[str] | None = None,
    ) -> Outcome:
        """Return the outcome of a trial, with the histograms of its `latencies`.

        They are the name of all of its operations; or of several kinds, by name, bins and the longest latency (ns).
        """
        kinds = {latencies: (self.bins, self.longest_ns)} if isinstance(latencies, str) else latencies
        return Outcome(
            metrics,
            work,
            tool,
            {HISTOGRAMS: self._histograms(kinds)} if kinds else {},
            warnings or [],
            worked_ns=(self.start_ns, self.end_ns),
            operations=self.operations_by(),
        )

    def _histograms(self, latencies: Mapping[str, tuple[dict[int, int], int]]) -> bytes:
        """Return the raw document, which can be merged with those of other instances and of fio."""
        document = {
            "schema": 1,
            "unit": "ns",
            "histograms": {name: histogram.entry(*kept) for name, kept in latencies.items()},
            "workers": self.workers,
        }
        return json.dumps(document).encode()


def emulation(job: Job, step: Step, workspace: Workspace) -> dict[str, Any] | None:
    """Return the `emulation` of an engine's plan: that of the job, with the path of the storage's token bucket.

    Its `times` are the product of three factors: of the storage, of this repetition on all instances, and of this
    instance if it is the slow one.
    """
    if not job.emulation:
        return None
    generator = random.Random(f"{job.cell} {step.repetition}")  # noqa: S311 no secret
    of_repetition = generator.gauss(0, job.emulation.get("noise", 0))
    times = job.emulation.get("times", 1) * math.exp(of_repetition)
    if "slow_times" in job.emulation and _is_first(job, workspace):
        times *= job.emulation["slow_times"]
    return {**job.emulation, "times": times, "path": str(workspace.mount / BUCKET)}


def open_loop(job: Job, step: Step, workspace: Workspace) -> dict[str, Any] | None:
    """The `open_loop` of an engine's plan: its rate, and a seed that no other step or instance has."""
    if RATE not in step.params:
        return None
    seed = f"{job.cell} {step.point} {step.repetition} {workspace.target.parent.name}"
    return {"rate_per_s": step.params[RATE], "seed": seed}


def describe_rate(params: dict[str, Any]) -> str:
    """An open loop, as the end of a command."""
    return f", open loop: {params[RATE]} due per second" if RATE in params else ""


def closed(params: dict[str, Any]) -> dict[str, Any]:
    """The same point without its rate: as fast as it can."""
    return {name: value for name, value in params.items() if name != RATE}


def _is_first(job: Job, workspace: Workspace) -> bool:
    """Return whether this instance was the cell's first on the storage, by a link there."""
    first, instance = workspace.mount / f"{BUCKET}-first-{job.cell}", workspace.target.parent.name
    with contextlib.suppress(FileExistsError):
        first.symlink_to(instance)
    return str(first.readlink()) == instance


def arm(name: str, plan: dict[str, Any], scratch: Path, *, needs_packages: bool = False) -> Armed:
    """Start `agent.engine.<name>`; on return it has chosen its mode and all its workers wait at the gate."""
    started = command(name, plan, scratch, needs_packages=needs_packages)
    return Armed([replace(started, runners=plan["threads"])], scratch, environment())


def environment() -> dict[str, str]:
    """Return the environment of an engine's interpreter, so that it imports this `agent` and its packages.

    Compiling takes 18 of 47 ms of processor time at each start, so the first engine stores its byte code.
    """
    return {"PYTHONPATH": os.pathsep.join(map(str, IMPORT_ROOTS)), "PYTHONDONTWRITEBYTECODE": ""}


def command(name: str, plan: dict[str, Any], scratch: Path, *, needs_packages: bool = False) -> Command:
    """`agent.engine.<name>` as a program that is started with `environment`."""
    # Without the packages of the system an interpreter starts faster.
    alone = [] if needs_packages else ["-S"]
    # `-m` would import runpy first, for 7 ms.
    starting = ["-c", f"from agent.engine.{name} import main; main()"]
    # Not as an argument, which every user of the machine can read: a plan may hold the token of a file server.
    return Command([sys.executable, *alone, *starting], scratch, stdin=marshal.dumps(plan))


def read_reports(output: Path) -> list[dict[str, Any]]:
    """Return the reports in an engine's output (agent.engine.worker_pool.report), without an incomplete last one."""
    reports = []
    with output.open("rb") as stream, contextlib.suppress(EOFError):
        while True:
            reports.append(marshal.load(stream))  # noqa: S302 the engine's own
    return reports


def read_report(output: Path, *, threads: int, operations: int | None = None) -> Report:
    """Read an engine's output; raises WorkIncomplete when a worker or an operation is missing.

    Without `operations` any number is accepted: a phase that ends at a stonewall has no fixed number.
    """
    how, *reports = read_reports(output)
    workers = [report for report in reports if "operations" in report]
    done = sum(worker["operations"] for worker in workers)
    wanted = done if operations is None else operations
    if len(workers) != threads or done != wanted:
        raise WorkIncomplete(f"{len(workers)} of {threads} engine workers reported {done} of {wanted} operations")
    return Report(
        start_ns=min(worker["start_ns"] for worker in workers),
        end_ns=max(worker["end_ns"] for worker in workers),
        operations=done,
        bins=histogram.merge(worker["bins"] for worker in workers),
        longest_ns=max((worker["longest_ns"] for worker in workers), default=0),
        how=how,
        workers=[{key: worker[key] for key in ("start_ns", "end_ns", "operations")} for worker in workers],
        longest_stall_s=longest_stall_ns(workers) / 1e9,
        seconds=_by_second(workers),
        late=histogram.merge(worker["late"] for worker in workers),
    )


def longest_stall_ns(workers: list[dict[str, Any]]) -> int:
    """The longest time in which all workers at work waited for an operation and none of them ended one."""
    begins, waits, wait_ends, ends = range(4)
    events = [(worker["start_ns"], begins) for worker in workers] + [(worker["end_ns"], ends) for worker in workers]
    for worker in workers:
        for start, end in worker["waits"]:
            events += [(start, waits), (end, wait_ends)]
    working = waiting = longest = 0
    since: int | None = None
    # At the same moment an operation ends before the next one starts, and the last one before its worker's end.
    order = {wait_ends: 0, ends: 1, begins: 2, waits: 3}
    for moment, kind in sorted(events, key=lambda event: (event[0], order[event[1]])):
        if since is not None:
            longest = max(longest, moment - since)
        if kind == wait_ends:
            since = None
        working += (kind == begins) - (kind == ends)
        waiting += (kind == waits) - (kind == wait_ends)
        is_stalled = working > 0 and waiting == working
        since = (moment if since is None else since) if is_stalled else None
    return longest


def _by_second(workers: list[dict[str, Any]]) -> dict[int, dict[int, int]]:
    """Merge the workers' latencies of each second; empty if one worked too long to record seconds."""
    if not all(worker["seconds"] for worker in workers if worker["operations"]):
        return {}
    seconds: dict[int, list[dict[int, int]]] = {}
    for worker in workers:
        for second, bins in worker["seconds"].items():
            seconds.setdefault(second, []).append(bins)
    return {second: histogram.merge(of_workers) for second, of_workers in sorted(seconds.items())}
