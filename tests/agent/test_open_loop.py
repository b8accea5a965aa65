"""The open loop: operations are due whether or not others have ended, and their latency counts from then.

Most of it on a clock that moves only when somebody sleeps, so that what queueing theory says must come out whatever
else the machine has to do.
"""

from __future__ import annotations

import json
import time

import pytest
from support.agent_cloud import touch_params
from support.agent_reads import engine, read_params

from agent.engine import worker_pool
from agent.engine.arrivals import Arrivals
from agent.engine.emulation import UNLIMITED, EmulatedStorage
from agent.workloads import engines, read, touch
from contract import histogram

MS, SECOND = 1e6, 1e9


@pytest.fixture
def clock(monkeypatch):
    """Let time pass by sleeping alone."""
    now_ns = [10**12]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now_ns[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now_ns.__setitem__(0, now_ns[0] + round(seconds * 1e9)))
    return lambda: now_ns[0]


def storage(tmp_path, **quirks):
    return EmulatedStorage({**UNLIMITED, "path": str(tmp_path / "bucket"), **quirks})


def open_loop(clock, storage, operations, rate_per_s):
    """What one worker reports that creates at a rate."""

    def create(_number, due_ns):
        storage.arrive(due_ns)
        storage.wait(storage.create())
        return clock()

    return worker_pool.summarise(Arrivals(operations, rate_per_s, "a seed").work(create))


def closed_loop(clock, storage, operations):
    """What one worker reports that creates as fast as it can."""
    stamps = [clock()]
    for _ in range(operations):
        storage.wait(storage.create())
        stamps.append(clock())
    return worker_pool.summarise(worker_pool.Timed.closed(stamps))


def percentile_ms(report, percent):
    return histogram.percentile(report["bins"], percent) / MS


def test_a_stall_shows_in_all_who_had_to_wait_for_it_and_in_a_closed_loop_in_one(tmp_path, clock):
    rate_per_s, service_s, stall_s, stall_every = 200, 0.001, 1.0, 1_000
    stalling = {"create_s": service_s, "stall_every": stall_every, "stall_s": stall_s}

    opened = open_loop(clock, storage(tmp_path, **stalling), 19_500, rate_per_s)
    closed = closed_loop(clock, storage(tmp_path, path=str(tmp_path / "another"), **stalling), 19_500)

    # Who comes u seconds after a stall began waits for its end and for those before it: S - (1 - rho) u, until nobody
    # is left after S / (1 - rho). So that share of the operations has latencies that are even between 0 and S.
    rho = rate_per_s * service_s
    share = rate_per_s * stall_s / (1 - rho) / stall_every
    for percent in (90, 95, 99, 99.9):
        expected_ms = 1000 * stall_s * (1 - (1 - percent / 100) / share)
        assert percentile_ms(opened, percent) == pytest.approx(expected_ms, rel=0.1), percent
    assert percentile_ms(opened, 50) < 2
    # There a stall is one slow operation of a thousand, so even P99.9 is as if there were none.
    assert percentile_ms(closed, 99.9) == pytest.approx(1000 * service_s, rel=0.01)
    assert max(closed["bins"]) / MS == pytest.approx(1000 * stall_s, rel=0.01)


@pytest.mark.parametrize("rho", [0.3, 0.7])
def test_what_waits_for_one_worker_waits_as_pollaczek_and_khinchine_say(tmp_path, clock, rho):
    service_s, operations = 0.01, 20_000

    report = open_loop(clock, storage(tmp_path, create_s=service_s), operations, rho / service_s)

    mean_s = sum(value * count for value, count in report["bins"].items()) / operations / SECOND
    # M/D/1: a constant service time s at a load rho waits for rho s / 2 (1 - rho) on average (Kleinrock 1975, 5.6).
    assert mean_s == pytest.approx(service_s + rho * service_s / (2 * (1 - rho)), rel=0.05)
    # By the step's own clock the rate is the one that was asked for.
    assert operations / (report["end_ns"] - report["start_ns"]) * SECOND == pytest.approx(rho / service_s, rel=0.01)


def test_a_rate_that_the_storage_does_not_carry_makes_latencies_that_grow(tmp_path, clock):
    report = open_loop(clock, storage(tmp_path, create_s=0.01), 1_000, 200)

    # Of ten seconds' work the first five are when it is due: the last one waits for five.
    assert max(report["bins"]) / SECOND == pytest.approx(5, rel=0.1)
    assert (report["end_ns"] - report["start_ns"]) / SECOND == pytest.approx(10, rel=0.01)


def test_a_wait_for_a_worker_is_not_a_stall_of_the_storage(tmp_path, clock):
    report = open_loop(clock, storage(tmp_path, create_s=0.15), 20, 100)

    assert {round((end - begin) / MS) for begin, end in report["waits"]} == {150}


def test_each_operation_is_dealt_once_at_the_moments_of_its_seed(clock):
    numbers = []

    def note(number, due_ns):
        numbers.append(number)
        return due_ns

    def moments(arrivals):
        timed = arrivals.work(note)
        return [due_ns - timed.start_ns for due_ns in timed.due]

    dealt = Arrivals(100, 50, "a")
    first, second = moments(dealt), dealt.work(note)

    assert numbers == list(range(100))
    assert first == sorted(first)
    assert 0 <= first[0] <= first[-1] < 2 * SECOND
    assert worker_pool.summarise(second)["operations"] == 0
    assert moments(Arrivals(100, 50, "a")) == first
    assert moments(Arrivals(100, 50, "b")) != first


def test_creates_keep_their_rate_and_say_so(sampled):
    points = [touch_params(files=64, rate_per_s_per_instance=200), touch_params(files=8)]
    paced, closed = sampled("touch", points)

    # 64 operations are due within 0.32 s. A busy machine is later than that, never earlier than the last moment.
    assert paced["metrics"]["duration_s"] > 0.2
    assert paced["tool"]["command"].endswith(", open loop: 200 due per second")
    assert "open loop" not in closed["tool"]["command"]
    assert paced["metrics"]["create_lat_p99_us"] > 0


@pytest.mark.parametrize("mode", ["threads", "processes"])
@pytest.mark.parametrize("access", [{"access": "random", "requests": 64}, {"access": "sequential"}])
def test_reads_of_an_open_loop_are_checked_like_all_others(tmp_path, mode, access):
    params = read_params(**access, threads=2, rate_per_s_per_instance=1000)
    where = read.data_file(params, tmp_path)
    opened = {**where, "open_loop": {"rate_per_s": 1000, "seed": "1"}}

    outcome = engine(params, tmp_path, mode, opened)

    requests = 64 if access["access"] == "random" else 32
    assert outcome.metrics["requests_per_s"] * outcome.metrics["duration_s"] == pytest.approx(requests)
    assert json.loads(outcome.raw["histograms.json"])["histograms"]["read_lat"]["samples"] == requests


def report_of(bins, late):
    return engines.Report(0, 10**9, sum(bins.values()), bins, max(bins), {"mode": "threads"}, [], 0.0, {}, late)


@pytest.mark.parametrize(
    ("late", "params", "says"),
    [
        ({1_000: 100}, {"rate_per_s_per_instance": 5}, None),
        ({1_000: 80}, {"rate_per_s_per_instance": 5}, "more than 10% of the operations were due while all 4 workers"),
        (
            {400_000: 100},
            {"rate_per_s_per_instance": 5},
            "more than 10% of the latency at the median is that a free worker",
        ),
        ({}, {}, None),
    ],
)
def test_what_of_a_latency_is_not_the_storages_is_warned_of(late, params, says):
    outcome = touch.engine_outcome(report_of({1_000_000: 100}, late), touch_params(**params))

    assert [warning[: len(says)] for warning in outcome.warnings] == ([says] if says else [])
    assert ("overdue_share" in outcome.tool) == bool(params)


def test_the_ceiling_of_an_open_loops_tool_is_found_without_its_rate():
    params = touch_params(rate_per_s_per_instance=10)

    assert "rate_per_s_per_instance" not in touch.calibration(params, 10**9)[0]
    assert "rate_per_s_per_instance" not in read.calibration(read_params(rate_per_s_per_instance=10), 10**9)[0]
