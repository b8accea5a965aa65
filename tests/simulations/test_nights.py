"""The gate of CI in series of nights with known truths: how often a run that changed nothing fails, and one that did.

Nights differ by 3 %, beside the noise within a night: of all points alike, or of each by itself. A run fails if `matrix
compare` ends with 1. The figures are in docs/method.md, "Nights". Each claim is tried on a broken
product, too, which it must refuse.
"""

from dataclasses import replace

import numpy as np
import pytest
from simulations.fleets import at_least, at_most
from support.values_documents import of_tables

from matrix.answer import comparing, values
from matrix.statistics import series

pytestmark = pytest.mark.slow
DAY = 86_400.0
NIGHTS = 250
# Of the median of such a table, by 20,000 draws.
UNCERTAINTY = {"variance": 1.1e-4, "degrees_of_freedom": 6.0, "limited_by": "instances"}


class World:
    """Nights of a matrix with some points, the first of which may change.

    `hosts` is the share of instances that are three times as slow.
    """

    def __init__(
        self, points, *, alike=0.03, own=0.0, of_launches=0.0, launches=1, instances=10, hosts=0.0, seed=1
    ):  # fmt: skip
        self.rng = np.random.default_rng(seed)
        self.points, self.alike, self.own = points, alike, own
        self.of_launches, self.launches = of_launches, launches
        self.instances, self.hosts = instances, hosts

    def night(self, day, times=1.0, *, slow=0):
        """A run; `slow` instances of its first point are four times as slow."""
        tables = self._tables(self.alike * self.rng.normal())
        tables[0] *= times
        tables[0, :slow] *= 4
        medians = np.median(tables, axis=(1, 2)).tolist()
        run = of_tables(f"n{day}", *tables, started_at=DAY * day, medians=medians, uncertainty=UNCERTAINTY)
        [cell] = run["cells"]
        if self.launches > 1:
            cell["is_relaunched"], cell["launches"] = (
                True,
                [1 + row // self.instances for row in range(self.instances * self.launches)],
            )
        return run

    def _tables(self, of_night):
        """Seconds of the instances of each launch, in three repetitions, for each point."""
        normal, points, rows = self.rng.normal, self.points, self.instances * self.launches

        def by_launch(scale, columns):
            return np.repeat(scale * normal(size=(points, self.launches, columns)), self.instances, axis=1)

        own = self.own * normal(size=(points, 1, 1))
        noise = by_launch(self.of_launches, 1) + by_launch(0.01, 3)
        noise += 0.02 * normal(size=(points, rows, 1)) + 0.02 * normal(size=(points, rows, 3))
        slow = np.where(self.rng.random((points, rows, 1)) < self.hosts, 3.0, 1.0)
        return 100 * np.exp(of_night + own + noise) * slow


def fails(world, earlier, *, times=1.0, nights=NIGHTS, base=0, looks=10):
    """Of series of nights: after so many earlier ones, whether each of the next looks fails, of which each may change.

    The base is that of the first night, or the newest (-1).
    """
    outcomes = []
    while len(outcomes) < nights:
        past = [world.night(day) for day in range(earlier)]
        for day in range(earlier, earlier + looks):
            run = world.night(day, times)
            found = comparing.compare(past[base], run, threshold=0.05, earlier=past)
            outcomes.append(bool(found["regressions"]))
            past.append(run if times == 1 else world.night(day))
    return outcomes


def without_scatter(monkeypatch):
    """A gate that knows two runs only."""
    monkeypatch.setattr(comparing, "_beside", lambda cell, *_: cell)


def with_odd_nights(monkeypatch):
    """A scatter that counts every night."""
    monkeypatch.setattr(series, "_usual", list)


@pytest.mark.parametrize(
    ("world", "is_red_without"),
    [
        ({"points": 1}, False),  # 5 % of two runs alone, more where the first night is a quick one
        ({"points": 8}, False),
        ({"points": 8, "alike": 0.0, "own": 0.03}, True),
        ({"points": 8, "alike": 0.0, "own": 0.03, "launches": 3}, True),
        # A launch has its own hosts and place: nights differ by the mean of three.
        ({"points": 8, "alike": 0.0, "of_launches": 0.05, "launches": 3}, False),
    ],
)
def test_a_run_that_changed_nothing_fails_in_at_most_5_percent_of_nights(world, is_red_without, monkeypatch):
    assert at_most(fails(World(**world), 5), 0.05)
    without_scatter(monkeypatch)
    assert not is_red_without or not at_most(fails(World(**world), 5, nights=100), 0.05)


@pytest.mark.parametrize("base", [0, -1])
@pytest.mark.parametrize(("points", "earlier"), [(1, 8), (8, 12)])
def test_20_percent_at_one_point_are_found_on_their_night_in_90_percent(points, earlier, base):
    world = World(points, alike=0.0, own=0.03)

    # Looks of one series share their base, so each series has one.
    assert at_least(fails(world, earlier, times=1.2, base=base, looks=1), 0.9)


def test_an_odd_night_hides_no_change_of_later_ones(monkeypatch):
    def after_an_odd_night():
        world, found = World(1), []
        while len(found) < 100:
            past = [world.night(day, 1.5 if day == 3 else 1.0) for day in range(10)]
            compared = comparing.compare(past[0], world.night(10, 1.2), threshold=0.05, earlier=past)
            found.append(bool(compared["regressions"]))
        return found

    assert at_least(after_an_odd_night(), 0.85)
    with_odd_nights(monkeypatch)
    assert not at_least(after_an_odd_night(), 0.85)


def test_a_change_that_stays_fails_until_somebody_accepts_it_as_the_baseline():
    world, still, accepted = World(1), [], []
    while len(still) < 100:
        past = [world.night(day, 1.0 if day < 10 else 1.2) for day in range(13)]
        run = world.night(13, 1.2)
        for base, outcomes in ((past[0], still), (past[10], accepted)):
            outcomes.append(bool(comparing.compare(base, run, threshold=0.05, earlier=past)["regressions"]))

    assert at_least(still, 0.8)
    assert at_most(accepted, 0.05)


def drifts(change, nights, *, count=60):
    """Whether a run fails that is compared with the night before: `change` says how long each night takes, in order."""
    world, outcomes = World(1), []
    for _ in range(count):
        *past, run = [world.night(night, change(night)) for night in range(nights)]
        outcomes.append(bool(comparing.compare(past[-1], run, threshold=0.05, earlier=past)["regressions"]))
    return outcomes


def without_trend(monkeypatch):
    """A gate that holds a run against the last five nights only."""
    monkeypatch.setattr(comparing, "_trend", lambda cell, *_: replace(cell, difference=None))


def without_step(monkeypatch):
    """A gate to which a change of one night is a drift for weeks."""
    monkeypatch.setattr(series, "_is_step", lambda *_: False)


@pytest.mark.parametrize(("by_night", "nights"), [(1.01, 21), (1.02, 15)])
def test_a_drift_that_no_night_shows_fails_though_each_is_compared_with_the_night_before(by_night, nights, monkeypatch):
    def drift(night):
        return by_night**night

    assert at_least(drifts(drift, nights), 0.9)
    without_trend(monkeypatch)
    assert at_most(drifts(drift, nights, count=20), 0.05)


def test_a_change_of_one_night_is_not_a_drift_of_all_that_follow(monkeypatch):
    def step(night):
        return 1.2 if night >= 11 else 1.0

    assert at_most(drifts(step, 21), 0.05)
    without_step(monkeypatch)
    assert not at_most(drifts(step, 21, count=20), 0.05)


def of_tail(instances, slow, nights, *, count=60):
    """Whether a run fails of which so many instances are four times as slow, and whether it cannot be judged."""
    world, outcomes = World(1, instances=instances), []
    for _ in range(count):
        past = [world.night(day) for day in range(nights)]
        run = world.night(nights, slow=slow)
        found = comparing.compare(past[0], run, threshold=0.05, earlier=past)
        [pair] = found["compared"]
        outcomes.append((bool(found["regressions"]), pair["verdict"] == "cannot tell" or bool(found["regressions"])))
    return [fails for fails, _ in outcomes], [is_seen for _, is_seen in outcomes]


def without_tail(monkeypatch):
    """A gate of medians only."""
    monkeypatch.setattr(comparing, "_worse", lambda cell, *_: cell)


@pytest.mark.parametrize(("instances", "slow", "nights"), [(20, 3, 5), (40, 6, 1), (40, 6, 5)])
def test_a_tail_that_is_four_times_as_slow_fails_though_the_median_is_the_same(instances, slow, nights, monkeypatch):
    assert at_least(of_tail(instances, slow, nights)[0], 0.9)
    without_tail(monkeypatch)
    assert not at_least(of_tail(instances, slow, nights, count=20)[0], 0.9)


def test_three_slow_instances_of_twenty_are_not_shown_by_two_runs_but_cannot_pass_unseen():
    """Of 40 instances the three slowest are of the same fleet by chance in 23 % of cases."""
    assert at_least(of_tail(20, 3, 1)[1], 0.9)


@pytest.mark.parametrize(
    ("world", "earlier"),
    [
        ({"instances": 10, "hosts": 0.02}, 8),
        ({"instances": 20, "hosts": 0.05}, 8),
        ({"instances": 40, "hosts": 0.02}, 8),
        ({"instances": 40, "alike": 0.0}, 1),
    ],
)
def test_slow_hosts_that_come_by_chance_fail_in_at_most_5_percent_of_nights(world, earlier):
    assert at_most(fails(World(1, **world), earlier, looks=3 if earlier > 1 else 1), 0.05)


def test_a_gate_that_takes_one_slow_host_for_a_change_is_seen(monkeypatch):
    monkeypatch.setattr(comparing, "_slow_instances", lambda _: (3, 10))

    assert not at_most(fails(World(1, instances=10, hosts=0.02), 8, looks=3), 0.05)


def of_two_storages(run, rng, of_efs):
    """The values of a run on EBS and EFS, of 20 instances each; `of_efs` changes the cell of EFS, or leaves it out."""

    def cell(storage):
        seconds = 100 * np.exp(0.02 * rng.normal(size=(20, 1)) + 0.01 * rng.normal(size=(20, 3)))
        steps = [(f"i-{row}", 1 + column) for row in range(20) for column in range(3)]
        samples = {
            "instance": [instance for instance, _ in steps], "repetition": [repetition for _, repetition in steps],
            "metrics": {"duration_s": seconds.ravel().tolist()},
        }  # fmt: skip
        return {
            "id": f"{storage}.build", "state": "measured", "error": None, "storage": {"type": storage},
            "workload": {"type": "build"}, "fleet": {"instanceType": "m6i.large", "count": 20}, "points": [
                {"id": "p01", "params": {}, "samples": samples, "metrics": {"duration_s": {
                    "unit": "s", "higher_is_better": False, "primary": True, "p50": float(np.median(seconds)), "n": 60,
                }}},
            ],
        }  # fmt: skip

    cells = [cell("ebs"), *of_efs(cell("efs"))]
    return values.values_of({"run": run, "environment": "aws", "started_at": None, "cells": cells})


def survivors(cell):
    """The twelve instances that were left, 10 % quicker than before."""
    [point] = cell["points"]
    samples = point["samples"]
    kept = {name: samples[name][:36] for name in ("instance", "repetition")}
    quick = [0.9 * seconds for seconds in samples["metrics"]["duration_s"][:36]]
    figures = point["metrics"]["duration_s"] | {"p50": float(np.median(quick)), "n": 36}
    few = point | {"samples": {**kept, "metrics": {"duration_s": quick}}, "metrics": {"duration_s": figures}}
    return cell | {"points": [few]}


ERROR = {"name": "InstancesLost", "message": "8 of 20"}
WHOLE, QUORUM = ({"launch": number, "state": "measured", "launched": ran} for number, ran in ((1, 20), (2, 12)))


def survivors_as_the_result(monkeypatch):
    of_cell = values._cell
    monkeypatch.setattr(values, "_cell", lambda cell, *others: of_cell({**cell, "state": "measured"}, *others))


def a_quorum_as_the_fleet(monkeypatch):
    monkeypatch.setattr(values, "fleet_that_ran", lambda cell: cell["fleet"])


def nothing_lost(monkeypatch):
    monkeypatch.setattr(comparing, "_lost", lambda *_: [])


@pytest.mark.parametrize(
    ("of_efs", "broken"),
    [
        (lambda cell: [survivors(cell) | {"state": "failed", "error": ERROR}], survivors_as_the_result),
        (lambda cell: [survivors(cell) | {"instances": {"expected": 20, "launched": 12}}], a_quorum_as_the_fleet),
        (lambda cell: [survivors(cell) | {"launches": [WHOLE, QUORUM]}], a_quorum_as_the_fleet),
        (lambda cell: [cell | {"state": "skipped", "error": ERROR, "points": []}], nothing_lost),
        (lambda cell: [cell | {"points": []}], nothing_lost),
        (lambda _: [], nothing_lost),
    ],
)
def test_a_run_that_has_not_measured_a_whole_cell_fails_whatever_the_rest_of_it_says(of_efs, broken, monkeypatch):
    rng = np.random.default_rng(5)

    def failing():
        for _ in range(20):
            base, run = of_two_storages("base", rng, lambda cell: [cell]), of_two_storages("run", rng, of_efs)
            found = comparing.compare(base, run, threshold=0.05)
            yield bool(found["regressions"] or found["lost"])

    assert all(failing())
    broken(monkeypatch)
    assert not any(failing())
