"""Steady state by SNIA's rule: from which second on a rate is steady, and that what is not is called so."""

from __future__ import annotations

import random

import pytest
from support.agent_cloud import touch_params

from agent.engine import worker_pool
from agent.machine import steady_state
from agent.workloads import engines, touch


def noisy(*levels, noise=0.05, seed=1):
    """Rates each second: so many seconds at each level."""
    generator = random.Random(seed)
    return [level * (1 + generator.gauss(0, noise)) for seconds, level in levels for _ in range(seconds)]


@pytest.mark.parametrize(
    ("what", "rates", "from_s", "ratio"),
    [
        ("the same all the time", [100.0] * 30, 0, 1.0),
        # A second counts with its round of three, so 0.5 for one of them is a sixth less in one round.
        ("one slow second of thirty", [100.0] * 14 + [50.0] + [100.0] * 15, 0, 1.0),
        ("credits that end after 40 s of 120", [300.0] * 40 + [60.0] * 80, 42, 60 / 140),
        ("a cold start of 6 s of 60", [10.0] * 6 + [100.0] * 54, 6, 100 / 91),
        ("23 seconds: the first round has three, all others two", [500.0] * 3 + [100.0] * 20, 3, 100 / (3500 / 23)),
        ("the same in 17 seconds", [100.0] * 17, 0, 1.0),
    ],
)
def test_a_rate_is_steady_from_the_first_round_after_which_nothing_breaks_the_rule(what, rates, from_s, ratio):
    found = steady_state.find(rates)

    assert found.from_s == from_s, what
    assert found.ratio == pytest.approx(ratio)
    assert found.seconds == len(rates)


@pytest.mark.parametrize(
    ("what", "rates"),
    [
        # From the fifth round to the last a line from 100 to 50 loses more than a tenth of its mean.
        ("sinks all the time", [100.0 - second / 2 for second in range(100)]),
        ("rises all the time", [50.0 + second / 2 for second in range(100)]),
        ("stands still at the end", [100.0] * 90 + [0.0] * 10),
        ("falls once more at the end", [100.0] * 24 + [70.0] * 6),
    ],
)
def test_what_still_changes_at_the_end_is_not_steady(what, rates):
    assert steady_state.find(rates).to_document() == {
        "state": "not steady", "from_s": None, "ratio": None, "seconds": len(rates),
    }, what  # fmt: skip


def test_noise_from_one_second_to_the_next_is_not_a_change():
    assert steady_state.find(noisy((60, 100))).from_s == 0
    assert steady_state.find(noisy((30, 300), (90, 100))).from_s == 42


def test_an_even_rate_that_noise_moves_beyond_the_limits_is_too_noisy_and_not_unsteady():
    states = [steady_state.find(noisy((10, 100), noise=0.1, seed=seed)).state for seed in range(200)]

    # Without the noise's own share in the limits two thirds of them were not steady.
    assert states.count("not steady") <= 10
    assert states.count("too noisy") > states.count("steady") > 40


def test_a_change_beyond_what_noise_explains_is_told_in_spite_of_it():
    states = {steady_state.find(noisy((24, 300), (6, 60), noise=0.1, seed=seed)).state for seed in range(50)}

    assert states == {"not steady"}


def test_noise_is_what_bends_and_no_line_or_single_fall():
    generator = random.Random(1)

    assert steady_state.noise([generator.gauss(100, 5) for _ in range(2000)]) == pytest.approx(0.05, rel=0.1)
    assert steady_state.noise([100.0 + 10 * place for place in range(10)]) == 0
    assert steady_state.noise([300.0] * 8 + [60.0] * 7) == 0
    assert steady_state.noise([0.0] * 10) == 0


@pytest.mark.parametrize("rates", [[], [100.0] * 8, [0.0] * 3])
def test_too_few_seconds_are_too_short(rates):
    assert steady_state.find(rates) == steady_state.Steadiness(len(rates), "too short")


def test_where_nothing_was_done_nothing_is_said():
    assert steady_state.find([0.0] * 20) is None


def report(*workers):
    """A report of workers whose operations take 0.1 s each, from one second to another."""
    told = []
    for start_s, end_s in workers:
        stamps = [round(1e9 * (start_s + n / 10)) for n in range(round(10 * (end_s - start_s)) + 1)]
        told.append(worker_pool.summarise(worker_pool.Timed.closed(stamps)))
    seconds = engines._by_second(told)
    return engines.Report(0, 10**9, 100, {10**8: 100}, 10**8, {"mode": "threads"}, told, 0.0, seconds)


def test_an_engine_is_judged_by_the_whole_seconds_in_which_all_workers_worked():
    # The second worker ends 8 s before the first: what one of them does alone is another load.
    found = touch.engine_outcome(report((0.5, 30.5), (0.7, 22.5)), touch_params()).steadiness

    assert (found.seconds, found.from_s, found.ratio) == (21, 0, pytest.approx(1))


@pytest.mark.parametrize("changes", [{"sync": "end"}, {"rate_per_s_per_instance": 20}])
def test_what_is_given_or_in_memory_is_not_judged(changes):
    assert touch.engine_outcome(report((0, 30)), touch_params(**changes)).steadiness is None


@pytest.mark.parametrize(("period_s", "seconds"), [(400, 1800), (60, 400), (20, 120)])
def test_a_rate_that_swings_is_not_steady_and_has_its_period(period_s, seconds):
    generator = random.Random(period_s)
    rates = [(100 if second % period_s < period_s / 2 else 40) * generator.gauss(1, 0.02) for second in range(seconds)]

    found = steady_state.find(rates)

    assert found.state == "not steady"
    assert found.period_s == pytest.approx(period_s, rel=0.05)


def test_neither_noise_nor_a_line_nor_a_fall_has_a_period():
    swings = [steady_state.period(noisy((120, 100), noise=0.1, seed=seed)) for seed in range(300)]
    lines = [
        [100.0 - second / 2 for second in range(100)],
        [100.0] * 60 + [40.0] * 60,
        [100.0] * 50,
        [0.0] * 30 + [9.0],
    ]

    assert sum(swing is not None for swing in swings) <= 1
    assert [steady_state.period(rates) for rates in lines] == [None] * len(lines)
