"""Synthetic fleets with known truths, written by the agent's code and analysed by the functions' code.

Only the durations of steps are random. The real planner makes the plan, the agent's own code writes samples.json, and
the functions' own code reads it, so an error in either shows here too.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.random import Generator
from scipy import optimize, special, stats
from simulations import outcomes

from agent import job_check, samples
from agent.machine.metadata import Identity
from agent.mounts import Mounted
from matrix.answer import bottleneck, launches
from matrix.answer.comparing import compare
from matrix.answer.decision import decide
from matrix.answer.results import cell_result, run_summary
from matrix.answer.values import values_of
from matrix.check.read import check_matrix
from matrix.plan.planning import plan
from matrix.run.job import measuring_job
from matrix.samples.file import read_samples
from matrix.samples.histograms import read_histograms
from matrix.statistics.fleet_values import Floats
from matrix.terms.documents.compared import ComparedPair
from matrix.terms.documents.parts import Part
from matrix.terms.documents.plan import PlanCell, PlanDocument
from matrix.terms.documents.result import Interval, Latency, ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import percentile_of

RUN, THREADS, FILES = "simulated", 4, 400
MAX_INSTANCES = 1_000
BEGUN_AT = 1_800_000_000.0
UNLIKELY = 0.01
# FSx: all instances share it, so noise of a repetition affects all of them.
SHARED = {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 64, "iops": 1000}


@dataclass(frozen=True)
class FleetTruth:
    """True distribution of the step durations of a fleet.

    A step takes `seconds`, times known factors of its repetition and instance, times log-normal noise. `of_instances`,
    `of_repetitions` (shared by all instances) and `residual` are the standard deviations of its logarithm.
    """

    seconds: float = 2.0
    instances: int = 10
    repetitions: int = 3
    of_instances: float = 0.03
    of_repetitions: float = 0.0
    residual: float = 0.02
    by_repetition: tuple[float, ...] = ()  # empty: all alike
    of_hosts: float = 0.0  # five instances share a host
    autocorrelation: float = 0.0  # between a repetition and the one before it
    slow_instances: int = 0
    slow_times: float = 2.0
    stragglers: float = 0.0  # share of all steps
    straggler_times: float = 3.0
    tails: int = 0  # degrees of freedom of Student's t, which noise has then; 0: it is normal
    hosts: float = 0.0  # share of instances on hosts of another kind
    host_times: float = 1.5
    stalls: float = 0.0  # share of repetitions in which all instances wait for the storage
    stall_times: float = 2.0

    def draw(self, rng: Generator) -> Floats:
        """Return seconds of instances (rows) in repetitions (columns)."""
        shape = self.instances, self.repetitions
        logarithms = (
            self.of_instances * self._noise(rng, (self.instances, 1))
            + self.of_repetitions * self._in_a_row(rng)[None, :]
            + self.residual * self._noise(rng, shape)
        )
        if self.of_hosts:
            hosts = self.of_hosts * rng.normal(size=-(-self.instances // 5))
            logarithms += np.repeat(hosts, 5)[: self.instances, None]
        times = np.where(np.arange(self.instances) < self.slow_instances, self.slow_times, 1.0)[:, None]
        known = np.array(self.by_repetition or [1.0] * self.repetitions)[None, :]
        seconds: Floats = self.seconds * np.exp(logarithms) * times * known
        events = (
            (self.stragglers, self.straggler_times, shape),
            (self.hosts, self.host_times, (self.instances, 1)),
            (self.stalls, self.stall_times, (1, self.repetitions)),
        )
        for share, longer, of_which in events:
            if share:
                seconds = seconds * np.where(rng.random(of_which) < share, longer, 1.0)
        return seconds

    def _noise(self, rng: Generator, shape: tuple[int, ...]) -> Floats:
        """Draw standardised deviations."""
        return (
            rng.standard_t(self.tails, shape) * math.sqrt(1 - 2 / self.tails) if self.tails else rng.normal(size=shape)
        )

    def _in_a_row(self, rng: Generator) -> Floats:
        """Draw standardised deviations of repetitions: independent, or autocorrelated as AR(1)."""
        drawn = self._noise(rng, (self.repetitions,))
        for number in range(1, self.repetitions if self.autocorrelation else 0):
            own = np.sqrt(1 - self.autocorrelation**2) * drawn[number]
            drawn[number] = self.autocorrelation * drawn[number - 1] + own
        return drawn

    def percentile(self, level: float) -> float:
        """Return the true percentile of the seconds that such a fleet may show."""
        spread = float(np.hypot(np.hypot(self.of_instances, self.of_repetitions), self.residual))
        slow = self.slow_instances / self.instances

        def below(seconds: float) -> float:
            usual, limping = (np.log(seconds / self.seconds / times) / spread for times in (1.0, self.slow_times))
            return float((1 - slow) * special.ndtr(usual) + slow * special.ndtr(limping))

        limits = self.seconds / 10, self.seconds * self.slow_times * 10
        return float(optimize.brentq(lambda seconds: below(seconds) - level / 100, *limits))

    @property
    def mean(self) -> float:
        """Return the true mean of the seconds."""
        variance = self.of_instances**2 + self.of_repetitions**2 + self.residual**2
        slow = self.slow_instances / self.instances
        return float(self.seconds * np.exp(variance / 2) * (1 - slow + slow * self.slow_times))


def plan_of(*fleets: FleetTruth, files: int = FILES, storage: Part = SHARED) -> PlanDocument:
    """Return the plan of a run with one storage for each fleet; all fleets are of one size."""
    matrix = {
        "name": RUN,
        "emulate": True,
        "storage": [{**storage, "name": f"storage-{number}"} for number in range(1, len(fleets) + 1)],
        "workload": [{"type": "touch", "files": files, "threads": THREADS, "directories": "own"}],
        "fleet": [{"instanceType": "m6i.large", "count": fleets[0].instances}],
        "repetitions": fleets[0].repetitions,
        "order": "as-written",
    }
    return plan(check_matrix(matrix), region="us-east-1").to_document()


def uploads(cell: PlanCell, seconds: Floats, latencies_ns: Sequence[int] = ()) -> dict[str, tuple[bytes, list[bytes]]]:
    """Return the uploads of each instance: samples.json, and the histograms of its steps."""
    job = measuring_job(
        cell=cell, gate_margin_s=1.0, run=RUN, mount={"kind": "directory", "path": "/storage"}, bucket="bucket",
        environment="emulated", now=BEGUN_AT,
    )  # fmt: skip
    body = json.dumps(job).encode()
    mounted = Mounted("directory", Path("/storage"), "storage", "ext4", "rw")
    written = {}
    # Each launch has instances of its own.
    for number, row in enumerate(seconds, start=MAX_INSTANCES * cell.get("launch", 0)):
        identity = Identity(instance_of(number), cell["fleet"]["instanceType"], "us-east-1a", "ami-1", "us-east-1")
        checked = job_check.parse(body, identity.instance_id)
        setting = samples.Setting(checked, identity, "role", {"cpus": 2}, mounted, {})
        taken, raw = [], []
        for step in checked.steps:
            outcome, sample = _sample(cell["workload"]["type"], step, float(row[step.repetition - 1]), latencies_ns)
            taken.append(sample)
            raw += outcome.raw.values()
        written[identity.instance_id] = json.dumps(samples.document(setting, taken)).encode(), raw
    return written


def instance_of(number: int) -> str:
    """Return the id of the n-th instance."""
    return f"i-{number:017x}"


def holds(interval: Interval | None, truth: float) -> bool:
    """Return whether there is an interval and it contains the truth."""
    return interval is not None and interval["low"] <= truth <= interval["high"]


def level_of(latency: Latency, name: str) -> float:
    """Return a percentile of latencies by its name, such as p99; NaN if there are too few samples for it."""
    value = percentile_of(latency, name)
    return math.nan if value is None else value


def _sample(kind: str, step: Any, seconds: float, latencies_ns: Sequence[int]) -> tuple[Any, dict[str, Any]]:
    """Return one sample as the agent makes it of a tool's report: all work of the step took so long."""
    if len(latencies_ns):
        outcome = outcomes.of_touch(step.params, seconds, latencies_ns)
    else:
        outcome = outcomes.OUTCOMES[kind](step.params, seconds)
        # Without latencies the metrics take half of the time to analyse.
        kept = ("files_per_s", "requests_per_s", "mb_per_s", "iops", "duration_s")
        outcome.metrics = {name: value for name, value in outcome.metrics.items() if name in kept}
    start, took_s = BEGUN_AT + 100.0 * step.number, outcome.metrics["duration_s"]
    span = start, start + took_s
    conditions = samples.Conditions(start, *span, span, step.params.get("threads", 1), "", {"cpu_s": took_s / 100})
    return outcome, samples.sample(step, outcome, conditions, list(outcome.raw))


def result_of(cell: PlanCell, seconds: Floats, latencies_ns: Sequence[int] = ()) -> ResultDocument:
    """Return the result of a cell whose steps took so long, analysed as Analyse cell does it."""
    files, latencies = [], []
    for instance, (text, raw) in uploads(cell, seconds, latencies_ns).items():
        files.append(read_samples(text, instance=instance, cell=cell["id"]))
        latencies += [read_histograms(content)["create_lat"] for content in raw] if len(latencies_ns) else []
    [point] = cell["points"]
    histograms = {point["id"]: {"create_lat": latencies}} if latencies else None
    result = cell_result(cell, files, error=None, actual_s=100.0, histograms=histograms)
    return cast("ResultDocument", {**result, "bottleneck": bottleneck.find(result, "local")})


def summary_of(plan_document: PlanDocument, results: Sequence[ResultDocument]) -> SummaryDocument:
    """Return the summary of a run, with its decision."""
    by_cell = launches.join(plan_document, {result["id"]: result for result in results})
    summary = run_summary(
        run=RUN, plan=plan_document, environment="emulated", started_at=BEGUN_AT, finished_at=BEGUN_AT + 1000,
        results=by_cell, left_behind=[],
    )  # fmt: skip
    return cast("SummaryDocument", {**summary, "decision": decide(summary, results=by_cell)})


def verdict_of(base: ResultDocument, run: ResultDocument) -> ComparedPair:
    """Return the verdict of `matrix compare` on two results, as if they were of one storage in two runs."""
    runs = cast(
        "Iterator[SummaryDocument]",
        (
            {
                "run": name,
                "environment": "emulated",
                "cells": [{**result, "id": "c001", "storage": base["storage"], "file_system": "s001"}],
            }
            for name, result in (("base", base), ("run", run))
        ),
    )
    [compared] = compare(*map(values_of, runs), threshold=0.05)["compared"]
    return compared


def at_least(outcomes: Sequence[bool], share: float) -> bool:
    """Return whether the outcomes are consistent with a true share of at least `share`, at 99 %."""
    return float(stats.binomtest(sum(outcomes), len(outcomes), share, "less").pvalue) >= UNLIKELY


def at_most(outcomes: Sequence[bool], share: float) -> bool:
    """Return whether the outcomes are consistent with at most `share`, at 99 %: 4 of 30 are not with 2 %."""
    return float(stats.binomtest(sum(outcomes), len(outcomes), share, "greater").pvalue) >= UNLIKELY
