"""Emulated storages whose truth is their setting, through the real state machine, agents and functions: it is found."""

import pytest
from simulations.fleets import holds, level_of
from support.disturbance import Window
from support.runs import Cloud, matrix

pytestmark = pytest.mark.slow
# Six are the fewest that intervals and tests of a percentile need; where none is judged two do.
INSTANCES, FEW, THREADS, FILES = 6, 2, 2, 60
CREATE_S = 0.001  # of FSx (matrix/storages/fsx_openzfs.py), times each storage's own `times`
IOPS, TAIL_S, STALL_S = 200, 0.08, 1.0
PAUSE_EVERY, RATE_PER_S = 400, 100
# Rates of each of two instances: together below the IOPS, and above them.
KEPT_PER_S, BEYOND_PER_S, LIMIT_MS = 60, 150, 200
CLOSE_LATENCY = {"rel": 0.1}

STEADY = {"times": 20, "noise": 0.02}
QUIRKS = {
    "stalling": {"times": 10, "tailShare": 0.15, "tailS": TAIL_S, "stallEvery": 200, "stallS": STALL_S},
    # Two repetitions of two instances take 240 operations, and the engines' pilots some 20 before each.
    "credits": {"times": 5, "changeAfter": 320, "changeTimes": 4},
    # For a second after every 400 operations.
    "pausing": {"times": 10, "stallEvery": PAUSE_EVERY, "stallS": STALL_S},
    "ceiling": {"times": 5},
}
TOUCH = {"type": "touch", "files": FILES, "threads": THREADS, "directories": "own"}
OPEN = {**TOUCH, "files": 200, "threads": 20}
WORKLOADS = {
    "pausing": {**OPEN, "ratePerSecondPerInstance": RATE_PER_S},
    "ceiling": {**OPEN, "ratePerSecondPerInstance": [KEPT_PER_S, BEYOND_PER_S], "p99AtMostMs": LIMIT_MS},
}


def storage(name):
    iops = IOPS if name == "ceiling" else 12_000
    return {
        "type": "fsx-openzfs", "name": name, "storageCapacityGiB": 64, "throughputCapacityMBps": 64, "iops": iops,
    }  # fmt: skip


@pytest.fixture(scope="module")
def window() -> Window:
    """The time of the run: its figures depend on a free core, and it takes too long to be repeated."""
    return Window()


@pytest.fixture(scope="module")
def results(cloud: Cloud, window: Window):
    """The result of each storage's cell, by the storage's name."""
    few = {"instanceType": "t2.micro", "count": FEW}
    document = matrix(
        emulate={"steady": STEADY, **QUIRKS},
        storage=[storage("steady")],
        workload=[TOUCH],
        fleet=[{"instanceType": "t2.micro", "count": INSTANCES}],
        include=[{"storage": storage(name), "workload": WORKLOADS.get(name, TOUCH), "fleet": few} for name in QUIRKS],
        repetitions=3,
        maxConcurrentFileSystems=1,  # two fleets at once would be in each other's way on two processors
    )
    with window:
        run = cloud.run("truths", document)
    cells = {cell["id"]: cell["storage"]["name"] for cell in run.summary()["cells"]}
    found = {name: run.document(f"cells/{cell}/result.json") for cell, name in cells.items()}
    assert {result["state"] for result in found.values()} == {"measured"}
    return found


def rate(result):
    return result["points"][0]["metrics"]["files_per_s"]


def latency(result, name):
    """A percentile of the creates' latency in seconds."""
    return level_of(result["points"][0]["latency"]["create_lat"], name) / 1e6


def test_the_interval_of_the_median_holds_the_emulated_rate(results, window):
    with window.excused():
        assert holds(rate(results["steady"])["intervals"].get("p50"), THREADS / (CREATE_S * STEADY["times"]))


def test_the_tail_and_the_stall_are_in_the_percentiles(results, window):
    truths = {"p50": 10 * CREATE_S, "p90": TAIL_S, "p100": STALL_S}

    with window.excused():
        assert {name: latency(results["stalling"], name) for name in truths} == pytest.approx(truths, **CLOSE_LATENCY)


def test_credits_that_run_out_are_a_finding_and_a_steady_storage_has_none(results, window):
    codes, of_steady = (
        {finding["code"] for finding in rate(results[name])["findings"]} for name in ("credits", "steady")
    )

    with window.excused():
        assert codes & {"unsteady", "drift"}
        assert not of_steady


def test_an_open_loop_shows_how_long_stalls_let_others_wait(results, window):
    """P99 under stalls of S seconds in an open loop is S (1 - 1 % / p).

    An operation that is due during a stall waits for its remainder, which is uniform between 0 and S. p is the share of
    operations that are due during stalls: the rate of all instances times S, per operations between two stalls.
    """
    expected_s = STALL_S * (1 - 0.01 / (FEW * RATE_PER_S * STALL_S / PAUSE_EVERY))

    with window.excused():
        assert latency(results["pausing"], "p99") == pytest.approx(expected_s, **CLOSE_LATENCY)


def test_the_highest_rate_within_the_limit_is_the_one_below_the_iops(results, window):
    [highest] = results["ceiling"]["highest_rates"]

    with window.excused():
        assert (highest["metric"]["p50"], highest["beyond_per_s"]) == (KEPT_PER_S, BEYOND_PER_S)
