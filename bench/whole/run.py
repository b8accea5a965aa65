"""One run: a matrix of so many cells, instances and steps, through the definition until it is swept."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest.mock import patch

import aws.stack.clock
from aws.records import plans
from aws.results import observing
from aws.stack import retrying
from bench.scale.cases import ENVIRONMENT
from bench.whole.clock import Clock
from bench.whole.cloud import World
from bench.whole.engine import Engine, Functions, Histories
from bench.whole.fleets import Agents
from matrix.check.read import check_matrix
from matrix.plan.planning import plan
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.keys import run_key

TYPES = [f"{family}.{size}" for family in ("c5", "m5", "r5", "c6i", "m6i") for size in ("xlarge", "4xlarge")]
SWEEP_S = 900.0
BEGINS_AT = 1_800_000_000.0
FILES = 27_720  # so many threads as a point may have divide them


@dataclass
class Played:
    """A run that has ended, with all that took part in it."""

    name: str
    plan: PlanDocument
    histories: Histories
    functions: Functions
    agents: Agents
    seconds: float


@cache
def _engine() -> Engine:
    return Engine()


def matrix_of(storages: int, fleets: int, instances: int, steps: int, files: int = FILES) -> dict[str, Any]:
    """Return a matrix of storages × fleets, each fleet of so many instances with a data volume each."""
    repetitions = next(number for number in (5, 4, 3, 2, 1) if steps % number == 0)
    return {
        "name": "whole",
        "storage": [
            {"type": "ebs", "volumeType": "gp3", "sizeGiB": 100, "iops": 3_000 + number} for number in range(storages)
        ],
        "workload": [
            {"type": "touch", "tool": "engine", "files": files, "threads": list(range(1, steps // repetitions + 1))}
        ],
        "fleet": [{"instanceType": name, "count": instances} for name in TYPES[:fleets]],
        "repetitions": repetitions,
    }


def lasting(storages: int, fleets: int, instances: int, steps: int, minutes: float) -> dict[str, Any]:
    """Return the matrix whose cells take about so many minutes, by the plan."""
    one, two = (_seconds(matrix_of(1, 1, instances, steps, FILES * number)) for number in (1, 2))
    number = max(1, round((60 * minutes - one) / (two - one)) + 1)
    return matrix_of(storages, fleets, instances, steps, FILES * number)


def _seconds(matrix: dict[str, Any]) -> float:
    return float(plan(check_matrix(matrix)).to_document()["cells"][0]["expected_s"])


def play(matrix: dict[str, Any], name: str = "r", processor_s: Callable[[], float] = time.process_time) -> Played:
    """Let a run take place, and the sweep that follows it. Raises AssertionError if not all was measured and deleted.

    With a `processor_s` that stands still, all figures are the same each time.
    """
    os.environ.update(ENVIRONMENT)
    plans.plan_of.cache_clear()
    observing.described_type.cache_clear()
    clock = Clock(BEGINS_AT)
    for module in (aws.stack.clock, retrying):
        patch.object(module, "time", clock).start()
    world = World(clock, volumes_each=2)
    world.play()
    functions, agents = Functions(clock, world, processor_s), Agents(clock, world, name)
    _sweep_later(clock, functions)
    histories = _engine().run(functions, name, matrix)
    if histories.status != "SUCCEEDED":
        raise AssertionError(histories.reason)
    seconds = clock.now - BEGINS_AT
    functions.call("reap", json.dumps({"detail": {"name": name, "status": histories.status}}).encode())
    receipt = json.loads(world.objects[run_key(name, "receipt.json")])
    if not receipt["is_complete"]:
        raise AssertionError(f"left behind: {[part['id'] for part in receipt['resources'] if not part['gone_at']]}")
    return Played(name, json.loads(world.objects[run_key(name, "plan.json")]), histories, functions, agents, seconds)


def _sweep_later(clock: Clock, functions: Functions) -> None:
    """Sweep as the schedule of the template does, as long as the run goes on."""

    def sweep() -> None:
        functions.call("reap", b"{}")
        _sweep_later(clock, functions)

    clock.at(clock.now + SWEEP_S, sweep)
