"""A 95 % interval holds the truth about 95 % of the time: fleets are drawn from a known distribution, again and again.

The tolerance is the binomial's: of 200 intervals that cover 93 % (or 98 %) fewer (or more) hold once in a thousand.
"""

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from matrix.statistics.intervals import percentile_interval, ratio_interval

TRIALS = 200
SIGMA = 0.5
LEAST = stats.binom.ppf(0.001, TRIALS, 0.93)
MOST = stats.binom.ppf(0.999, TRIALS, 0.98)


def fleets(instances, repetitions, correlation):
    """Log-normal values whose logarithms have standard deviation 0.5, so much of its variance between instances."""
    rng = np.random.default_rng(11)
    for _ in range(TRIALS):
        between = rng.normal(0, math.sqrt(correlation), (instances, 1))
        within = rng.normal(0, math.sqrt(1 - correlation), (instances, repetitions))
        yield np.exp(SIGMA * (between + within))


def held(instances, repetitions, correlation, level, reshape=lambda table: table):
    """How many intervals hold the true percentile, exp(sigma * z)."""
    truth = math.exp(SIGMA * NormalDist().inv_cdf(level / 100))
    found = [percentile_interval(reshape(table), level) for table in fleets(instances, repetitions, correlation)]
    return sum(one.low <= truth <= one.high for one in found)


@pytest.mark.parametrize(
    ("instances", "repetitions", "correlation", "level"),
    [
        (8, 1, 0, 50),
        (40, 1, 0, 50),
        (40, 1, 0, 90),
        (13, 1, 0, 75),
        (200, 1, 0, 98),
        (10, 3, 0.5, 50),
        (50, 3, 0.5, 90),
    ],
)
def test_intervals_hold_the_true_percentile(instances, repetitions, correlation, level):
    assert LEAST <= held(instances, repetitions, correlation, level) <= MOST


def test_samples_taken_for_independent_would_hold_it_much_less_often():
    # Why whole instances are resampled: three alike repetitions are no three values.
    assert held(30, 3, 0.9, 50, reshape=lambda table: table.reshape(-1, 1)) < 0.85 * TRIALS
    assert held(30, 3, 0.9, 50) >= LEAST


def test_intervals_of_a_ratio_hold_the_true_ratio():
    pairs = zip(fleets(12, 1, 0), reversed(list(fleets(12, 1, 0))), strict=True)
    found = [ratio_interval(base, 1.2 * run) for base, run in pairs]

    assert LEAST <= sum(one.low <= 1.2 <= one.high for one in found) <= MOST
