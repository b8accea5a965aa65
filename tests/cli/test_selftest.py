"""The self-proof tells known truths again, and fails where the product is broken: it could not pass by itself."""

import json

import numpy as np
import pytest

from agent.machine import steady_state
from cli.selftest import hard, live, trials
from cli.selftest.judging import Tally
from matrix.plan import planning
from matrix.samples import histograms
from matrix.statistics import describing, differing
from matrix.statistics.differing import Difference
from matrix.statistics.percentiles import percentiles as _percentiles
from matrix.statistics.uncertainty import Uncertainty
from matrix.terms.open_loop import RATE

QUIET = trials.SCENARIOS[0]
LATENCIES = "latencies with a tail"


def rows_of(scenario, count=25):
    """The rows of one scenario, by their truth."""
    return {
        row.truth: row for row in trials._three_storages(scenario, np.random.default_rng(1), count, trials.Outcomes())
    }


def wrong(rows):
    """The truths of the rows whose verdict is wrong."""
    return [truth for truth, row in rows.items() if not row.is_right]


@pytest.mark.slow
def test_known_truths_are_told_again(matrix):
    seen = matrix("selftest", "--quick", "--json")

    report = json.loads(seen.stdout)
    assert [row for row in report["rows"] if not row["is_right"]] == []
    assert (seen.exit_code, report["wrong"]) == (0, 0)
    subjects = {row["subject"] for row in report["rows"]}
    assert {"credits run out", "a cache in front", LATENCIES, "IOPS run out", "shared noise of 2 %"} <= subjects


@pytest.mark.slow
def test_an_interval_that_is_half_as_wide_is_caught(monkeypatch):
    half_width = Uncertainty.half_width
    monkeypatch.setattr(Uncertainty, "half_width", lambda self, *confidence: half_width(self, *confidence) / 2)

    assert wrong(rows_of(QUIET, 40)) == ["95 % intervals hold the truth"]


@pytest.mark.slow
def test_a_percentile_that_is_off_by_a_tenth_is_caught(monkeypatch):
    monkeypatch.setattr(
        "matrix.answer.results.percentiles",
        lambda values: {name: 1.1 * figure for name, figure in _percentiles(values).items()},
    )

    assert "what steps take, at the median and on average" in wrong(rows_of(QUIET, 10))


@pytest.mark.slow
def test_a_test_that_sees_differences_everywhere_or_nowhere_is_caught(monkeypatch):
    monkeypatch.setattr(Difference, "is_shown", lambda self, p_value: True)
    assert wrong(rows_of(QUIET)) == ["two storages are the same"]

    monkeypatch.setattr(Difference, "is_shown", lambda self, p_value: False)
    assert wrong(rows_of(QUIET)) == ["one storage is 20 % slower"]


def verdicts(question, trials=5):
    """The verdicts of a question of the hard truths, by their subject."""
    return {row.subject: row.verdict for row in question(np.random.default_rng(1), trials)}


def test_a_half_fleet_that_is_ranked_is_caught(monkeypatch):
    assert verdicts(hard._half_a_fleet) == {"half a fleet": "holds"}
    monkeypatch.setattr("matrix.answer.decision.questions.ran_of", lambda cell: int(cell["fleet"]["count"]))
    assert verdicts(hard._half_a_fleet) == {"half a fleet": "WRONG"}


def test_builds_in_two_directories_that_are_compared_are_caught(monkeypatch):
    assert verdicts(hard._two_directories) == {"two build directories": "holds"}
    monkeypatch.setattr("matrix.answer.decision.questions.same_point", lambda *_: ["build"])
    assert verdicts(hard._two_directories) == {"two build directories": "WRONG"}


def test_stalls_that_end_with_the_bins_of_fio_are_caught(monkeypatch):
    assert verdicts(hard._stalls) == {"stalls of 30 s": "holds"}
    percentile = histograms.percentile
    monkeypatch.setattr(histograms, "percentile", lambda bins, percent: min(17_112_760_320, percentile(bins, percent)))
    assert verdicts(hard._stalls) == {"stalls of 30 s": "WRONG"}


def test_a_saw_tooth_that_is_called_noise_is_caught(monkeypatch):
    assert verdicts(hard._saw_tooth, 3) == {"saw-tooth": "holds"}
    monkeypatch.setattr(steady_state, "LEAST_PEAK", 2.0)
    assert verdicts(hard._saw_tooth, 3) == {"saw-tooth": "WRONG"}


def test_a_percentile_of_latencies_that_is_off_by_a_twentieth_is_caught(monkeypatch):
    def judged():
        [row] = trials._latencies(np.random.default_rng(1), 50)
        return row.verdict

    percentile = histograms.percentile
    assert judged() == "holds"
    monkeypatch.setattr(histograms, "percentile", lambda bins, percent: round(1.05 * percentile(bins, percent)))
    assert judged() == "WRONG"


def test_a_finding_that_is_never_made_and_one_that_always_is_are_caught(monkeypatch):
    monkeypatch.setattr(describing.steadiness, "findings", lambda *values, **about: [])

    verdicts = {row.subject: row.verdict for row in trials._over_time(np.random.default_rng(1), 20)}

    assert verdicts == {"steady": "holds", "credits run out": "WRONG", "a cache in front": "WRONG"}


def test_a_rule_of_steady_state_that_sees_no_slope_is_caught(monkeypatch):
    def judged():
        [row] = trials._settling(np.random.default_rng(1), 50)
        return row.verdict

    assert judged() == "holds"
    monkeypatch.setattr(steady_state, "MOST_SLOPE", 1.0)
    monkeypatch.setattr(steady_state, "MOST_EXCURSION", 1.0)
    assert judged() == "WRONG"


def test_a_tally_allows_what_chance_explains_and_no_more():
    # Of 200 trials at 5 % one in a thousand has more than 20; at 95 % one in a thousand fewer than 179.
    assert Tally(20, 200).may_be_at_most(0.05)
    assert not Tally(22, 200).may_be_at_most(0.05)
    assert Tally(180, 200).may_be_at_least(0.95)
    assert not Tally(177, 200).may_be_at_least(0.95)
    assert Tally(0, 20).interval() == (0.0, pytest.approx(1 - 0.025 ** (1 / 20)))


def test_the_matrix_of_the_live_layer_gives_each_storage_its_truth():
    from cli.inputs import planning

    planned = planning.plan_text(json.dumps(live.matrix()).encode(), None)

    emulated = {cell["storage"]["name"]: cell["emulation"] for cell in planned.plan["cells"]}
    assert emulated["ceiling"]["iops"] == live.IOPS
    assert emulated["slower"]["times"] / emulated["same-a"]["times"] == pytest.approx(live.SLOWER)
    assert emulated["same-a"]["create_s"] == live.CREATE_S
    assert emulated["stalling"]["stall_every"] == live.FEW_QUIRKS["stalling"]["stallEvery"]
    assert emulated["pausing"] == emulated["pausing-open"]
    rates = {
        cell["storage"]["name"]: [point["params"].get(RATE) for point in cell["points"]]
        for cell in planned.plan["cells"]
    }
    assert (rates["pausing"], rates["pausing-open"]) == ([None], [live.RATE_PER_S])
    assert rates["ceiling-open"] == [live.KEPT_PER_S, live.BEYOND_PER_S]


@pytest.mark.slow
def test_a_tail_that_says_more_than_it_holds_is_caught(monkeypatch):
    assert verdicts(hard._tails, 10) == {"P90": "holds"}
    monkeypatch.setattr("matrix.statistics.intervals.CROSSED_TAIL_CONFIDENCE", 0.95)
    assert verdicts(hard._tails, 10) == {"P90": "WRONG"}


@pytest.mark.slow
def test_repetitions_in_a_row_that_are_taken_for_independent_are_caught(monkeypatch):
    in_a_row = {"10 repetitions in a row": "a limit", "3 repetitions in a row": "a limit"}
    assert verdicts(hard._one_after_another, 60) == in_a_row
    with monkeypatch.context() as patched:
        patched.setattr("matrix.statistics.autocorrelation.LEAST_IN_A_ROW", 11)
        assert verdicts(hard._one_after_another, 20) == {**in_a_row, "10 repetitions in a row": "WRONG"}
    narrow_by(monkeypatch, 3)
    assert set(verdicts(hard._one_after_another, 60).values()) == {"WRONG"}


@pytest.mark.slow
def test_hosts_that_hide_more_than_is_known_are_caught(monkeypatch):
    assert verdicts(hard._hosts, 60) == {"hosts of five": "a limit"}
    narrow_by(monkeypatch, 3)
    assert verdicts(hard._hosts, 60) == {"hosts of five": "WRONG"}


@pytest.mark.slow
def test_one_slow_point_of_many_that_is_not_found_or_many_that_are_not_corrected_for_are_caught(monkeypatch):
    assert verdicts(hard._many_points, 1) == {"200 points": "holds"}
    with monkeypatch.context() as patched:
        patched.setattr(Difference, "is_shown", lambda self, p_value: False)
        assert verdicts(hard._many_points, 1) == {"200 points": "WRONG"}
    monkeypatch.setattr("matrix.answer.comparing.holm", list)
    assert verdicts(hard._many_points, 150) == {"200 points": "WRONG"}


def narrow_by(monkeypatch, times):
    """Make each interval so many times narrower than the samples say."""
    half_width = Uncertainty.half_width
    monkeypatch.setattr(Uncertainty, "half_width", lambda self, *how: half_width(self, *how) / times)


@pytest.mark.slow
def test_storages_in_orders_of_their_own_or_without_pairs_are_caught(monkeypatch):
    by_launch = "5 launches, storages at the same time"
    assert set(verdicts(hard._hours, 12).values()) == {"holds", "a limit"}

    with monkeypatch.context() as patched:
        patched.setattr(differing, "_pairs", lambda *_: None)
        assert verdicts(hard._hours, 12)[by_launch] == "WRONG"
    # As if each file system shuffled its cells by itself.
    monkeypatch.setattr(planning._Cell, "work_and_fleet", property(lambda cell: (cell.file_system, cell.id)))
    shuffled = verdicts(hard._hours, 12)
    assert (shuffled["one launch, storages at the same time"], shuffled[by_launch]) == ("WRONG", "WRONG")
