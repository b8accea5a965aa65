"""Without I/O: truths for which an adversarial review found wrong figures or verdicts that the data did not support.

A claim that holds only partly is shown as a limit, with its rate.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.random import Generator

from agent.machine import steady_state
from cli.selftest.fleets import (
    FILES,
    RUN,
    SHARED,
    THREADS,
    FleetTruth,
    level_of,
    plan_of,
    result_of,
    summary_of,
    verdicts_of,
)
from cli.selftest.judging import Row, Tally
from matrix.check.read import check_matrix
from matrix.plan.planning import plan
from matrix.statistics.intervals import CROSSED_TAIL_CONFIDENCE
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.result import MetricResult, ResultDocument

LAYER = "drawn"
METRIC = "duration_s"
POINTS = 200
MOST_WRONG = 0.05
# Least coverage in the cases that docs/method.md documents as below 95 %.
LEAST_HELD_IN_A_ROW, LEAST_HELD_ON_HOSTS = 0.85, 0.6
# Latencies are kept in fio's bins, whose relative error is at most this.
BIN_ERROR = 1 / 128


def rows(trials: int) -> Iterator[Row]:
    """Yield a row for each truth; `trials` fleets are drawn of each, fewer of large ones."""
    questions = (
        _stalls,
        _half_a_fleet,
        _two_directories,
        _tails,
        _one_after_another,
        _hosts,
        _saw_tooth,
        _many_points,
        _hours,
    )
    for number, question in enumerate(questions):
        yield from question(np.random.default_rng([2028, number]), trials)


def _metric(result: ResultDocument) -> MetricResult:
    return result["points"][0]["metrics"][METRIC]


def _stalls(rng: Generator, trials: int) -> Iterator[Row]:
    """One operation in twenty waits for 30 s, far above the last of fio's bins."""
    operations, stall_ns, each_ns = 400, 30e9, 5e6
    fleet = FleetTruth(instances=3, repetitions=2)
    [cell] = plan_of(fleet)["cells"]
    is_told = []
    for _ in range(max(5, trials // 10)):
        usual = each_ns * np.exp(0.1 * rng.normal(size=operations))
        latencies = np.where(rng.permutation(operations) < operations / 20, stall_ns, usual).astype(int)
        [point] = result_of(cell, fleet.draw(rng), latencies.tolist())["points"]
        told = point["latency"]["create_lat"]
        is_near = abs(level_of(told, "p99") * 1000 / stall_ns - 1) < BIN_ERROR
        is_told.append(told["p100"] * 1000 == stall_ns and is_near)
    words = f"P100 exactly and P99 to a bin's width in {Tally.of(is_told).words()}"
    yield Row(LAYER, "stalls of 30 s", "5 % of operations take 30 s", words, all(is_told))


def _half_a_fleet(rng: Generator, trials: int) -> Iterator[Row]:
    """A half fleet that met its quorum was twice as fast under half of the load: it must not be ranked."""
    whole = FleetTruth()
    half = replace(whole, seconds=whole.seconds / 2, instances=whole.instances // 2)
    planned = plan_of(whole, whole)
    is_ranked = []
    for _ in range(min(trials, 20)):
        first, second = planned["cells"]
        short = result_of(second, half.draw(rng))
        counts = {"expected": whole.instances, "launched": half.instances}
        short = cast("ResultDocument", {**short, "instances": {**short.get("instances", {}), **counts}})
        results = [result_of(first, whole.draw(rng)), short]
        [question] = summary_of(planned, results)["decision"]["questions"]
        is_ranked.append(any(each["cell"] == second["id"] and not each["lost"] for each in question["candidates"]))
    words = f"the half was ranked in {sum(is_ranked)} of {len(is_ranked)}"
    yield Row(LAYER, "half a fleet", "5 of 10 instances ran, twice as fast", words, not any(is_ranked))


def _two_directories(rng: Generator, trials: int) -> Iterator[Row]:
    """A build on the storage and one on the local disk are different questions, even with the same workload name."""
    fleet = FleetTruth()
    planned = plan_of(fleet, fleet)
    is_mixed = []
    for _ in range(min(trials, 20)):
        results = [
            cast("ResultDocument", {
                **result_of(cell, fleet.draw(rng)),
                "workload": {"type": "build", "build": "make", "buildDirectory": directory},
            })
            for cell, directory in zip(planned["cells"], ("storage", "local"), strict=True)
        ]  # fmt: skip
        is_mixed.append(len(summary_of(planned, results)["decision"]["questions"]) == 1)
    words = f"compared with each other in {sum(is_mixed)} of {len(is_mixed)}"
    yield Row(LAYER, "two build directories", "one builds on the storage, one beside it", words, not any(is_mixed))


def _tails(rng: Generator, trials: int) -> Iterator[Row]:
    """P90 of 50 instances whose three repetitions differ by 5 and 10 %: its interval states 80 % confidence."""
    for share in (0.05, 0.10):
        fleet = FleetTruth(instances=50, of_repetitions=share)
        [cell] = plan_of(fleet)["cells"]
        truth = fleet.percentile(90)
        ends = [_metric(result_of(cell, fleet.draw(rng)))["intervals"]["p90"] for _ in range(max(10, trials // 3))]
        held = Tally.of([end["low"] <= truth <= end["high"] for end in ends])
        says = {end["confidence"] for end in ends}
        is_right = says == {CROSSED_TAIL_CONFIDENCE} and held.may_be_at_least(CROSSED_TAIL_CONFIDENCE)
        words = f"the interval of P90, which says {100 * max(says):.0f} %, holds it in {held.words()}"
        yield Row(LAYER, "P90", f"50 instances, shared noise of {100 * share:.0f} %", words, is_right)


def _one_after_another(rng: Generator, trials: int) -> Iterator[Row]:
    """Autocorrelated repetitions: ten are enough to estimate the autocorrelation, three are not."""
    for repetitions, autocorrelation, least_known in ((10, 0.5, 1.0), (3, 0.5, 0.0)):
        fleet = FleetTruth(of_repetitions=0.05, repetitions=repetitions, autocorrelation=autocorrelation)
        held, different, known = _pairs(fleet, rng, trials)
        words = (
            f"measured in {100 * known:.0f} %; the interval of P50 holds the truth in {held.words()};"
            f" two equal storages are called different in {different.words()}"
        )
        subject = f"{repetitions} repetitions in a row"
        is_right = known == least_known and held.may_be_at_least(LEAST_HELD_IN_A_ROW)
        yield Row(LAYER, subject, f"an autocorrelation of {autocorrelation:g}", words, is_right, is_promised=False)


def _hosts(rng: Generator, trials: int) -> Iterator[Row]:
    """Groups of five instances share a host, which they cannot detect."""
    held, different, _ = _pairs(FleetTruth(of_repetitions=0.02, of_hosts=0.10), rng, trials)
    words = (
        f"the interval of P50 holds the truth in {held.words()}; equal ones are called different in {different.words()}"
    )
    is_right = held.may_be_at_least(LEAST_HELD_ON_HOSTS)
    yield Row(LAYER, "hosts of five", "hosts differ by 10 %", words, is_right, is_promised=False)


def _pairs(fleet: FleetTruth, rng: Generator, trials: int) -> tuple[Tally, Tally, float]:
    """Return tallies (P50 intervals that hold the truth, equal storages called different), and the share of known lag
    1."""
    planned, truth = plan_of(fleet, fleet), fleet.seconds
    held, different, known = [], [], []
    for _ in range(trials):
        base, run = (result_of(cell, fleet.draw(rng)) for cell in planned["cells"])
        metric = _metric(base)
        held.append(metric["intervals"]["p50"]["low"] <= truth <= metric["intervals"]["p50"]["high"])
        known.append(metric["spread"]["lag1"] is not None)
        different.append(verdicts_of([base], [run])[0]["verdict"] in ("slower", "faster"))
    return Tally.of(held), Tally.of(different), sum(known) / trials


def _saw_tooth(rng: Generator, trials: int) -> Iterator[Row]:
    """A rate that alternates between 100 and 40 for half an hour: reported as not steady, with its period."""
    turn_s, length_s = 200, 1800
    level = np.where(np.arange(length_s) // turn_s % 2 == 0, 100.0, 40.0)
    is_told = []
    for _ in range(trials):
        found = steady_state.find((level * np.exp(0.02 * rng.normal(size=length_s))).tolist())
        period_s = found.period_s if found else None
        is_not_steady = found is not None and found.state == steady_state.NOT_STEADY
        is_told.append(is_not_steady and period_s is not None and abs(period_s / turn_s / 2 - 1) <= MOST_WRONG)
    told = Tally.of(is_told)
    words = f"not steady, with its period within 5 %, in {told.words()}"
    yield Row(
        LAYER, "saw-tooth", f"100 % and 40 % of the rate, {turn_s} s each", words, told.may_be_at_least(1 - MOST_WRONG)
    )


def _many_points(rng: Generator, trials: int) -> Iterator[Row]:
    """Two runs of 200 points; of one the second took twice as long."""
    equal, slower = FleetTruth(of_repetitions=0.02), FleetTruth(of_repetitions=0.02, seconds=4.0)
    [cell] = plan_of(equal)["cells"]
    count, false, found = max(1, trials // 50), 0, 0
    for _ in range(count):
        base, run = ([result_of(cell, equal.draw(rng)) for _ in range(POINTS)] for _ in range(2))
        run[0] = result_of(cell, slower.draw(rng))
        verdicts = [each["verdict"] for each in verdicts_of(base, run)]
        found += verdicts[0] == "slower"
        false += any(verdict in ("slower", "faster") for verdict in verdicts[1:])
    words = f"found in {found} of {count} comparisons; another one called different in {false} of {count}"
    is_right = found == count and Tally(false, count).may_be_at_most(MOST_WRONG)
    yield Row(LAYER, f"{POINTS} points", "one of them takes twice as long", words, is_right)


# Each cell takes an hour. An hour slows all storages alike, and is correlated with the hour before it.
OF_HOURS, LIKE_THE_LAST, SLOWER = 0.10, 0.8, 1.1


@dataclass(frozen=True)
class _Schedule:
    """When the cells of two storages are measured."""

    words: str
    launches: int
    repetitions: int
    at_once: int  # how many storages are measured at the same time
    is_promised: bool = True
    is_sharp: bool = True  # whether it detects 10 %


SCHEDULES = (
    _Schedule("one launch, one storage after the other", 1, 5, at_once=1, is_promised=False),
    _Schedule("one launch, storages at the same time", 1, 5, at_once=2),
    _Schedule("5 launches, one storage after the other", 5, 1, at_once=1, is_sharp=False),
    _Schedule("5 launches, storages at the same time", 5, 1, at_once=2),
)


def _hours(rng: Generator, trials: int) -> Iterator[Row]:
    """Hours that differ by 10 %: how well the order of the plan and its blocks keep them out of the decision."""
    for schedule in SCHEDULES:
        different, found = [], []
        for seed in range(trials):
            planned = _interleaved(schedule, seed)
            hours = _drifting(rng, max(_hour_of_cells(planned, schedule).values()) + 1)
            different.append(_is_told_apart(planned, schedule, hours, 1.0, rng))
            found.append(_is_told_apart(planned, schedule, hours, SLOWER, rng))
        rare, seen = Tally.of(different), Tally.of(found)
        words = f"two equal storages are called different in {rare.words()}; one that is 10 % slower in {seen.words()}"
        is_sharp = seen.may_be_at_least(1 - MOST_WRONG) or not schedule.is_sharp
        is_right = not schedule.is_promised or (rare.may_be_at_most(MOST_WRONG) and is_sharp)
        truth = f"hours differ by {100 * OF_HOURS:.0f} %, autocorrelation {LIKE_THE_LAST:g}"
        yield Row(LAYER, schedule.words, truth, words, is_right, is_promised=schedule.is_promised)


def _interleaved(schedule: _Schedule, seed: int) -> PlanDocument:
    """Return a plan of two storages with four workloads each, in the random order of this seed."""
    workloads = [{"type": "touch", "files": FILES + THREADS * more, "threads": THREADS} for more in range(4)]
    matrix = {
        "name": RUN,
        "emulate": True,
        "storage": [{**SHARED, "name": f"storage-{number}"} for number in (1, 2)],
        "workload": workloads,
        "fleet": [{"instanceType": "m6i.large", "count": 10}],
        "repetitions": schedule.repetitions,
        "launches": schedule.launches,
        "maxConcurrentFileSystems": schedule.at_once,
        "seed": seed,
    }
    return plan(check_matrix(matrix), region="us-east-1").to_document()


def _hour_of_cells(planned: PlanDocument, schedule: _Schedule) -> dict[str, int]:
    """Return in which hour each cell is measured: file systems in their order, so many at once, launch by launch."""
    hour_of, begun = {}, 0
    for first in range(0, len(planned["file_systems"]), schedule.at_once):
        together = planned["file_systems"][first : first + schedule.at_once]
        hour_of.update({cell: begun + place for system in together for place, cell in enumerate(system["cells"])})
        begun += max(len(system["cells"]) for system in together)
    return hour_of


def _drifting(rng: Generator, hours: int) -> list[float]:
    """Return how many times as long work takes in each hour."""
    drawn = rng.normal(size=hours)
    for hour in range(1, hours):
        drawn[hour] = LIKE_THE_LAST * drawn[hour - 1] + np.sqrt(1 - LIKE_THE_LAST**2) * drawn[hour]
    return cast("list[float]", np.exp(OF_HOURS * drawn).tolist())


def _is_told_apart(
    planned: PlanDocument, schedule: _Schedule, hours: list[float], slower: float, rng: Generator
) -> bool:
    """Return whether the decision on one workload correctly finds the storage that is `slower` times as slow."""
    hour_of = _hour_of_cells(planned, schedule)
    cells = [cell for cell in planned["cells"] if cell["workload"]["files"] == FILES]
    results = []
    for cell in cells:
        seconds = (slower if cell["storage"]["name"].startswith("storage-2") else 1.0) * hours[hour_of[cell["id"]]]
        fleet = FleetTruth(seconds=2.0 * seconds, repetitions=schedule.repetitions, of_repetitions=0.01)
        results.append(result_of(cell, fleet.draw(rng)))
    [question] = summary_of({**planned, "cells": cells}, results)["decision"]["questions"]
    [last] = [each for each in question["candidates"] if each["verdict"]["code"] == "slower"]
    is_right = slower == 1.0 or last["file_system"].startswith("storage-2")
    return is_right and last["verdict"]["difference"]["code"] == "shown"
