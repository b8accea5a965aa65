"""Burst and baseline, on series whose answer is known."""

from __future__ import annotations

import random

import pytest

from agent.machine.levels import Levels, best_split, find_levels


def noisy(levels, seed=1, relative=0.1):
    """A series of (level, samples) with normal noise of that size relative to each level."""
    draw = random.Random(seed)
    return [max(0.0, draw.gauss(level, relative * level)) for level, samples in levels for _ in range(samples)]


def test_the_fall_of_the_published_t2_micro_is_found():
    # 120 MB/s for 145 s, then 7 MB/s: 21.4 GB in 720 s, as the tutorial's table has it.
    assert find_levels([120.0] * 145 + [7.0] * 575) == Levels(burst=120.0, baseline=7.0, samples=145)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("burst_s", "baseline_s"), [(30, 300), (145, 575), (300, 30), (20, 20)])
def test_a_fall_is_found_to_the_second_under_noise(seed, burst_s, baseline_s):
    found = find_levels(noisy([(120, burst_s), (40, baseline_s)], seed))

    assert found is not None
    assert abs(found.samples - burst_s) <= 1
    assert found.burst == pytest.approx(120, rel=0.1)
    assert found.baseline == pytest.approx(40, rel=0.1)


def test_a_few_odd_seconds_move_neither_level_nor_moment():
    rates = [100.0] * 60 + [20.0] * 120
    for odd, rate in ((5, 0.0), (40, 400.0), (90, 0.0), (150, 300.0)):
        rates[odd] = rate

    assert find_levels(rates) == Levels(100.0, 20.0, 60)


@pytest.mark.parametrize("seed", range(50))
def test_noise_around_one_level_is_not_a_fall(seed):
    assert find_levels(noisy([(100, 200)], seed, relative=0.3)) is None


@pytest.mark.parametrize(
    "rates",
    [
        [],
        [5.0],
        [100.0] * 10 + [10.0] * 9,  # too short to call either side a level
        [100.0] * 200 + [10.0] * 9,  # a tail, such as the last flush
        [20.0] * 50 + [100.0] * 50,  # a slow start
        [100.0] * 50 + [85.0] * 50,  # networks do that anyway
        [0.0] * 100,
        [100.0, 10.0] * 60,  # neither half is a level
        [float(100 - n) for n in range(100)],  # a slope
        [100.0] * 40 + [10.0] * 40 + [100.0] * 40,  # a pause
    ],
    ids=["none", "one", "short", "tail", "rise", "small", "nothing", "alternating", "slope", "pause"],
)
def test_what_is_not_a_single_lasting_fall_has_no_burst(rates):
    assert find_levels(rates) is None


def test_the_split_is_where_exhaustive_search_finds_the_least_squares():
    draw = random.Random(7)
    rates = [draw.uniform(0, 100) for _ in range(60)]

    def squares(part):
        mean = sum(part) / len(part)
        return sum((rate - mean) ** 2 for rate in part)

    best = min(range(1, 60), key=lambda split: squares(rates[:split]) + squares(rates[split:]))
    assert best_split(rates) == best


@pytest.mark.parametrize("factor", [1e-3, 1e6])
def test_the_unit_of_the_rates_does_not_matter(factor):
    rates = noisy([(120, 50), (30, 80)])

    found, scaled = find_levels(rates), find_levels([rate * factor for rate in rates])

    assert scaled.samples == found.samples
    assert (scaled.burst, scaled.baseline) == pytest.approx((found.burst * factor, found.baseline * factor))
