"""One large write, watched each second: how fast an instance may write, and how long before it is throttled."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import agent
from agent.errors import WorkIncomplete
from agent.machine import counters, steady_state
from agent.machine.levels import find_levels
from agent.machine.traffic import DISK, FILE, NETWORK, Sampler, Traffic
from agent.machine.workspace import Workspace
from agent.programs import tools as tool_box
from agent.programs.processes import Armed, Command, Ended
from agent.workloads import dd, engines
from agent.workloads.trial import Outcome, Trial
from contract.keys import SERIES

if TYPE_CHECKING:
    from agent.job import Job, Step

ALLOWANCES = ("bw_in_allowance_exceeded", "bw_out_allowance_exceeded")
CARRIERS = {NETWORK: "network", DISK: "disk", FILE: "file's growth"}
# Less than this share of the bytes on the counter means that they went another way than the series shows.
MIN_COUNTED = 0.9
# A single file uses one TCP connection, which EC2 limits to 5 Gbit/s outside of a cluster placement group (EC2 user
# guide, instance network bandwidth, single-flow traffic). Above this share of it, the connection was the bottleneck.
SINGLE_FLOW_MB_PER_S = 625.0
FLOW_BOUND_SHARE = 0.8
# Burst and baseline are found in even seconds. A reading that comes later than this blurs where one ends.
MAX_INTERVAL_S = 2.0


@dataclass
class WatchedTrial(Trial):
    """A trial whose counters are read each second to its end, however long it takes."""

    sampler: Sampler

    def run(self) -> list[Ended]:
        """The measured part, between the first and the last reading."""
        with self.sampler:
            return super().run()


def tools(params: dict[str, Any]) -> set[str]:
    """The program that a point needs; without one the agent writes itself."""
    return {"dd"} if params.get("tool") == "dd" else set()


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Arm the writer, find the counters that its bytes will move."""
    params = step.params
    path = workspace.target / "stream"
    is_dd = params.get("tool") == "dd"
    if is_dd:
        argv = dd.dd_argv({**params, "threads": 1, "sync": "end"}, "/dev/zero", str(path), 0)
        command = Command([tool_box.find("dd") or "dd", *argv[1:]], workspace.scratch)
        tool: dict[str, Any] = {"name": "dd", "version": tool_box.version("dd"), "argv": argv}
    else:
        command = replace(engines.command("stream", {**params, "path": str(path)}, workspace.scratch), runners=1)
        tool = {"name": "engine", "version": agent.VERSION, "command": "write blocks, fsync"}
    armed = Armed([command], workspace.scratch, engines.environment())
    traffic = Traffic(job.mount["kind"], workspace.mount, path)
    sampler = Sampler(traffic.read)
    allowances_before = counters.allowances()

    def read(ended: list[Ended]) -> Outcome:
        exceeded = counters.difference(allowances_before, counters.allowances())
        verify(path, params["total_bytes"])
        writer = {} if is_dd else engines.read_reports(ended[0].stdout)[0]
        worked_ns = writer.get("start_ns", armed.released_ns), writer.get("end_ns", armed.ended_ns)
        duration_s = (worked_ns[1] - worked_ns[0]) / 1e9
        metrics = {"mb_per_s": params["total_bytes"] / 1e6 / duration_s, "duration_s": duration_s}
        metrics.update(levels(sampler, traffic.carrier))
        flow = flow_warnings(traffic.carrier, metrics.get("burst_mb_per_s", metrics["mb_per_s"]))
        metrics.update({name: exceeded[name] for name in ALLOWANCES if name in exceeded})
        counted = sampler.series()
        if "steal_s" in counted:
            metrics["cpu_steal_s"] = counted["steal_s"][-1]
        return Outcome(
            metrics,
            {"bytes": params["total_bytes"]},
            {**tool, "watched": traffic.carrier},
            {SERIES: json.dumps(series(sampler, traffic.carrier)).encode()} if traffic.carrier in counted else {},
            warnings(sampler, traffic.carrier, params["total_bytes"], exceeded) + flow,
            worked_ns=worked_ns,
            steadiness=steady_state.find(sampler.rates(traffic.carrier)),
        )

    return WatchedTrial(armed, 1, read, sampler)


def series(sampler: Sampler, carrier: str) -> dict[str, Any]:
    """Return the counters of each second, for the raw output."""
    return {
        "schema": 1,
        "carrier": carrier,
        "seconds": [round(at, 3) for at in sampler.seconds()],
        "counted": sampler.series(),
    }


def levels(sampler: Sampler, carrier: str) -> dict[str, float]:
    """Return burst and baseline (MB/s) and the burst's duration; empty if the rate has no fall."""
    fall = find_levels(sampler.rates(carrier))
    if fall is None:
        return {}
    return {
        "burst_mb_per_s": fall.burst / 1e6,
        "baseline_mb_per_s": fall.baseline / 1e6,
        "burst_s": float(fall.samples),  # of a second each
    }


def warnings(sampler: Sampler, carrier: str, total_bytes: int, exceeded: dict[str, float]) -> list[str]:
    """Return warnings about the figures: their counter, uncounted traffic, missing counters."""
    sentences = sampler.warnings()
    if carrier != NETWORK:
        sentences.append(
            f"the rate over time is of the {CARRIERS[carrier]}: this storage is not reached over the network"
        )
    counted = sampler.series().get(carrier)
    if counted and counted[-1] < MIN_COUNTED * total_bytes:
        sentences.append(f"the {CARRIERS[carrier]} counted less than {MIN_COUNTED:.0%} of the bytes that were written")
    seconds = sampler.seconds()
    longest_s = max((after - before for before, after in zip(seconds, seconds[1:])), default=0.0)
    if longest_s > MAX_INTERVAL_S:
        sentences.append(
            f"the counters were read up to {longest_s:.1f} s apart instead of each second: a burst shorter than ten "
            "such intervals cannot be seen, and none that is named can be trusted to the second"
        )
    absent = [name for name in ALLOWANCES if name not in exceeded]
    if absent:
        sentences.append(f"absent: {', '.join(absent)} ({counters.why_no_allowances()})")
    return sentences


def flow_warnings(carrier: str, mb_per_s: float) -> list[str]:
    """Return the warning about a rate that one TCP connection may have limited instead of instance or storage."""
    if carrier != NETWORK or mb_per_s < FLOW_BOUND_SHARE * SINGLE_FLOW_MB_PER_S:
        return []
    return [
        f"{mb_per_s:.0f} MB/s is near the {SINGLE_FLOW_MB_PER_S:.0f} MB/s (5 Gbit/s) that EC2 lets one TCP connection"
        " have: this may be its limit, not the instance's. Mount FSx with nconnect, or write several files by dd"
    ]


def verify(path: Path, total_bytes: int) -> None:
    """The file must have its size. Raises WorkIncomplete."""
    size = path.stat().st_size if path.exists() else 0
    if size != total_bytes:
        raise WorkIncomplete(f"the file has {size} of {total_bytes} bytes though the writer said it was done")
