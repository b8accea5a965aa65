"""Whoever follows the advice of an open answer: how often the next run decides.

It names a count and repetitions with which most runs (80 %) decide if the ratio stays as measured. So that ratio is the
truth of the next run here, and the noise is the same.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from simulations.fleets import FleetTruth, at_least
from simulations.tables import decided, star

from matrix.answer.decision.answers import NEAR

pytestmark = pytest.mark.slow
# Nearer to the edge it takes thousands of values, which takes long to draw. Their number is no criterion: it is small
# where the variance seems small by chance.
NEAREST = 0.02
STRAGGLERS = FleetTruth(
    instances=10, repetitions=5, of_instances=0.01, of_repetitions=0.005, residual=0.01, stragglers=0.02
)


def next_runs(truth, usd, rng, *, worlds, times):
    """Whether the advised run decides, for each open question of so many worlds that has advice."""
    found = []
    for _ in range(worlds):
        slower = replace(truth, seconds=truth.seconds * rng.choice(times))
        first = decided([truth.draw(rng), slower.draw(rng)], usd)
        figures = [candidate.value for candidate in first.candidates]
        ratio = first.rival_cost.ratio if first.rival_cost else max(figures) / min(figures) / NEAR
        if first.state != "open" or first.needed is None or abs(math.log(ratio)) < NEAREST:
            continue
        advised = replace(truth, **first.needed)
        costs, seconds = [1.0, 1.0], [truth.seconds * figure / min(figures) for figure in figures]
        if first.rival_cost:
            # Equally fast ones whose costs have the measured ratio.
            dear = first.candidates.index(first.rival)
            costs[dear], seconds = first.rival_cost.ratio, [truth.seconds] * 2
        else:
            costs = usd
        again = decided([replace(advised, seconds=each).draw(rng) for each in seconds], costs)
        found.append(star(again) is not None)
    return found


def test_the_advised_instances_and_repetitions_decide_in_most_runs():
    rng = np.random.default_rng(3)
    found = []
    # Which part of the noise is large decides whether instances or repetitions are advised.
    for of_instances, of_repetitions in ((0.02, 0.01), (0.01, 0.02)):
        truth = FleetTruth(instances=4, repetitions=3, of_instances=of_instances, of_repetitions=of_repetitions)
        found += next_runs(truth, (1.0, 0.5), rng, worlds=100, times=(1.0, 1.01, 1.03, 1.08))

    assert len(found) >= 60
    assert at_least(found, 0.78), (sum(found), len(found))


def test_the_advised_repetitions_show_which_cost_is_lower():
    found = next_runs(STRAGGLERS, (1.0, 1.3), np.random.default_rng(4), worlds=100, times=(1.0,))

    assert len(found) >= 10
    assert at_least(found, 0.78), (sum(found), len(found))
