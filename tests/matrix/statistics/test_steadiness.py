"""What is odd about samples is said, with what to do next; what chance makes is not."""

import numpy as np
import pytest
from scipy import stats
from support.fleet_values import fleet

from matrix.statistics import steadiness
from matrix.statistics.intervals import Interval
from matrix.statistics.uncertainty import count_that_halves

RNG = np.random.default_rng(6)


def kinds(table, *, higher_is_better=False, interval=None):
    """The codes of all findings."""
    found = steadiness.findings(fleet(table), higher_is_better=higher_is_better, median_interval=interval)
    return [finding.code for finding in found]


def noise(instances, repetitions):
    """Values around 100 with 2 % of noise."""
    return 100 * np.exp(RNG.normal(0, 0.02, (instances, repetitions)))


def test_a_steady_fleet_is_not_worth_a_word():
    assert [kinds(noise(20, 5)) for _ in range(10)] == [[]] * 10


def test_a_slow_first_run_is_found_in_durations_and_in_rates():
    slow = noise(10, 4)
    slow[:, 0] *= 1.5

    assert kinds(slow) == ["slow-first-run"]
    assert kinds(1e4 / slow, higher_is_better=True) == ["slow-first-run"]
    assert "slow-first-run" not in kinds(1e4 / slow, higher_is_better=False)


def test_chance_makes_the_repetitions_of_a_fleet_unsteady_in_one_of_twenty_at_most():
    rng = np.random.default_rng(1)
    fleets = [fleet(10 * (1 + 0.1 * rng.normal(size=(10, 3)))) for _ in range(200)]

    # Medians of ten values that vary by 10 % vary by 4 %; of three such medians some differ by more than 10 %.
    assert np.mean([steadiness.unsteady(values) is not None for values in fleets]) <= 0.08


def test_a_wide_interval_says_how_many_more_would_halve_it():
    found = steadiness.wide_interval(fleet(noise(10, 1)), Interval(80, 120, "bootstrap"))

    assert (found.unit, found.needed) == ("instances", count_that_halves(10))
    assert found.share == pytest.approx(0.2, abs=0.01)


def test_an_interval_that_is_wide_by_repetitions_that_jump_is_no_second_finding():
    of_instances, of_repetitions = (Interval(80, 120, "bootstrap", limit) for limit in ("instances", "repetitions"))

    assert kinds(noise(20, 5), interval=of_instances) == ["wide-interval"]
    jumps = noise(5, 4) * [1, 0.9, 1.1, 1.0]
    assert kinds(jumps, interval=of_instances) == ["unsteady", "wide-interval"]
    assert kinds(jumps, interval=of_repetitions) == ["unsteady"]


@pytest.mark.parametrize(("count", "needed"), [(2, 3), (3, 5), (10, 33), (100, 393)])
def test_of_few_values_fewer_than_four_times_as_many_halve_an_interval(count, needed):
    halved = count_that_halves(count)
    spread = [stats.t(some - 1).ppf(0.975) / some**0.5 for some in (count, halved - 1, halved)]

    assert halved == needed
    assert spread[1] > spread[0] / 2 >= spread[2]


def test_zeros_are_not_judged():
    assert kinds(np.zeros((10, 5))) == []
