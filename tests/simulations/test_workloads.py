"""Worlds of each workload, from the agent's own outcome to the ★, and of a fleet that shares a known capacity.

Seconds are drawn, as in test_decisions.py, and each tool reports them in its own way: creates, requests and blocks of a
given number, or a job of fio that does more in its runtime. Each claim is red with the broken product that it is for.
"""

from collections import Counter

import numpy as np
import pytest
from simulations import test_decisions as decisions
from simulations.fleets import FILES, SHARED, FleetTruth, at_least, at_most, plan_of, result_of
from simulations.worlds import decided, plan_of_world

from matrix.answer import results
from matrix.answer.decision.pairs import Pairs
from matrix.statistics.deciding import Slowdown

pytestmark = pytest.mark.slow
TRIALS = 15
WELL = FleetTruth(instances=6, repetitions=5, of_instances=0.01, of_repetitions=0.002, residual=0.01)
EBS = decisions.DEAR, decisions.CHEAP
READ = {"type": "read", "requests": 4000, "requestSize": "64KiB", "dataSize": "256MiB", "threads": 4}
WORKLOADS = {
    "read": (READ, EBS),
    "dd": ({"type": "dd", "dataSize": "1GiB", "blockSize": "1MiB", "threads": 4, "tool": "dd"}, EBS),
    "fio": (
        {"type": "fio", "rw": "randread", "bs": "64k", "direct": 1, "size": "1G", "time_based": 1, "runtime": 60},
        EBS,
    ),
    "objects": (
        {"type": "objects", "operation": "get", "requests": 4000, "objects": 1000, "objectSize": "64KiB", "threads": 4},
        ({"type": "s3", "client": "boto3"}, {"type": "s3-express"}),
    ),
}


@pytest.mark.parametrize("times", [1.0, 1.15])
@pytest.mark.parametrize("name", WORKLOADS)
def test_the_star_of_each_workload_is_on_the_cheapest_that_is_less_than_5_percent_slower(name, times):
    workload, storages = WORKLOADS[name]
    planned = plan_of_world(storages, fleet={"instanceType": "m6i.large", "count": 6}, workload=workload, repetitions=5)
    truths = [WELL, decisions.slower(WELL, times)]
    rng, found = np.random.default_rng(1), []
    for _ in range(TRIALS):
        measured = [result_of(cell, truth.draw(rng)) for cell, truth in zip(planned["cells"], truths, strict=True)]
        [question] = decided(planned, measured)["decision"]["questions"]
        costs = [each["cost"]["usd"] for each in question["candidates"]]
        found.append((decisions.star_of(question), costs.index(min(costs)) if times == 1 else 0))

    assert at_least([star == right for star, right in found], 0.9), Counter(found)
    assert at_most([star not in (right, None) for star, right in found], 0.02), Counter(found)


def shared(rng, instances):
    """When each instance of a fleet has done an equal piece of work on a storage that they share, unequally."""
    weights, left, ends = np.exp(rng.normal(size=instances)), np.full(instances, 1.0), np.zeros(instances)
    now = 0.0
    while left.any():
        speed = np.where(left > 0, weights, 0.0)
        speed /= speed.sum()
        first = int(np.argmin(np.where(left > 0, left / np.maximum(speed, 1e-300), np.inf)))
        passed = left[first] / speed[first]
        now, left = now + passed, left - speed * passed
        left[first], ends[first] = 0.0, now
    return ends


def test_no_rate_of_a_fleet_is_above_the_capacity_that_it_shares():
    rng = np.random.default_rng(2)
    [cell] = plan_of(FleetTruth(instances=10), storage=SHARED)["cells"]
    best = []
    for _ in range(20):
        seconds = np.array([shared(rng, 10) for _ in range(3)]).T
        [point] = result_of(cell, seconds)["points"]
        # One piece a second is the capacity: the files of an instance.
        rates = [rate[f"files_per_s{end}"] / FILES for rate in point["fleet"] for end in ("", "_best")]
        best += [rate["files_per_s_best"] / FILES for rate in point["fleet"]]
        assert max(*rates, point["fleet_use"]["files_per_s"] / FILES) <= 1.001

    # All of them worked until the last end, so it was reached.
    assert min(best) == pytest.approx(1.0, rel=0.001)


# --- broken products ---


def as_durations(pairs, base, other):
    """A product to which each higher figure is a slower one."""
    between = pairs.between(base, other)
    return between and Slowdown.of(between, higher_is_better=False)


def while_all_work(together, totals, first_start):
    """A product that takes the progress of all as even until the first end."""
    ends = [sample.work_span[1] - first_start for sample in together]
    done = {unit: sum(s.work[unit] * min(ends) / end for s, end in zip(together, ends, strict=True)) for unit in totals}
    return {"best_s": min(ends)} | {f"{unit}_per_s_best": each / min(ends) for unit, each in done.items()}


@pytest.mark.parametrize("name", ["fio", "objects"])
def test_a_product_to_which_a_higher_rate_is_slower_is_found(name, monkeypatch):
    monkeypatch.setattr(Pairs, "slowdown", as_durations)

    with pytest.raises(AssertionError):
        test_the_star_of_each_workload_is_on_the_cheapest_that_is_less_than_5_percent_slower(name, 1.15)


def test_a_product_that_takes_progress_as_even_is_found(monkeypatch):
    monkeypatch.setattr(results, "_best_rates", while_all_work)

    with pytest.raises(AssertionError):
        test_no_rate_of_a_fleet_is_above_the_capacity_that_it_shares()
