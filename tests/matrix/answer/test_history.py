"""Cells over time: their changes, and what differed then."""

import copy
from functools import cache

import numpy as np
import pytest
from simulations.fleets import at_least, at_most
from support.runs_for_reports import build_run

from matrix.answer import history as history_module
from matrix.answer.history import KeptRun, Measured, Track, history, name_shifts, what_changed

DAY_S = 86_400.0


@cache
def kept(name, day, efs_s, kernel="6.1", environment="aws"):
    """A run of builds on two storages; that on EBS takes 3,000 s in all of them."""
    sizes = {"ebs": {10: 3000.0}, "efs": {10: efs_s}}
    summary, results, _ = build_run(sizes, spread=0.01, repetitions=6, environment=environment)
    summary |= {"run": name, "started_at": day * DAY_S}
    for cell in summary["cells"]:
        result = results[cell["id"]]
        result["provenance"]["kernel"] = {kernel: 4}
        for point, measured in zip(cell["points"], result["points"], strict=True):
            point["samples"] = measured["samples"]
    return KeptRun(summary, results)


@pytest.fixture(scope="module")
def nights():
    """Three nights; in the last one EFS is a fifth slower, and the kernel another one."""
    return [kept("mon", 1, 3300.0), kept("tue", 2, 3300.0), kept("wed", 3, 4000.0, "6.12")]


def test_a_cell_changes_where_chance_does_not_explain_it_and_says_what_was_different(nights):
    tracks = {track.storage: track for track in history(nights)}

    [change] = tracks["EFS bursting"].changes
    assert (change.run, change.before, change.verdict) == (2, 1, "slower")
    assert change.changed == [("kernel", ["6.1"], ["6.12"])]
    assert tracks["EBS gp3"].changes == []
    assert [each.run for each in tracks["EBS gp3"].measured] == [0, 1, 2]
    assert all(each.low < each.p50 < each.high for each in tracks["EBS gp3"].measured)


def test_runs_of_two_environments_are_two_tracks_and_a_gap_is_bridged(nights):
    local = kept("local", 2.5, 9000.0, environment="local")
    tracks = history([*nights[:2], local, nights[2]])

    aws = next(track for track in tracks if (track.storage, track.environment) == ("EFS bursting", "aws"))
    assert len(tracks) == 4
    assert [each.run for each in aws.measured] == [0, 1, 3]
    assert [(change.before, change.run) for change in aws.changes] == [(1, 3)]


def test_from_five_runs_on_a_night_is_judged_by_the_scatter_of_the_nights_before_it():
    medians = [3300.0, 3400.0, 3250.0, 3380.0, 3420.0, 3310.0, 4000.0]
    nights = [kept(f"n{n}", n + 1, seconds, "6.12" if seconds == 4000 else "6.1") for n, seconds in enumerate(medians)]

    tracks = {track.storage: track for track in history(nights)}
    drifting = {track.storage: track for track in history([kept(f"n{n}", n + 1, 3300 * 1.03**n) for n in range(8)])}

    # Each pair of nights differs by more than chance within a run explains.
    [change] = tracks["EFS bursting"].changes
    assert (change.run, change.before, change.verdict, change.is_trend) == (6, 5, "slower", False)
    assert change.changed == [("kernel", ["6.1"], ["6.12"])]
    [trend] = [change for change in drifting["EFS bursting"].changes if change.is_trend]
    assert (trend.run, trend.before, trend.verdict) == (7, 0, "slower")
    assert tracks["EBS gp3"].changes == drifting["EBS gp3"].changes == []


def test_what_only_one_of_two_runs_knows_is_not_a_change():
    before = [{"kernel": {"6.1": 2}, "Python": {"3.9": 2}}]

    assert what_changed(before, [{"kernel": {"6.1": 1, "6.2": 1}}]) == [("kernel", ["6.1"], ["6.1", "6.2"])]
    assert what_changed(before, [{"agent": {"1": 2}}]) == []


def test_a_published_figure_stands_beside_a_cell_with_what_speaks_against_it(nights):
    [cell, *_] = nights[0].summary["cells"]
    label = next(track.point for track in history(nights[:1]))
    reference = {"cell": cell["id"], "point": label, "metric": "duration_s", "percentile": "p50", "published": 3100.0,
                 "why_not": ["on m6i.large, published on m6i.4xlarge"]}  # fmt: skip
    runs = [KeptRun(run.summary, run.results, [reference]) for run in nights[:2]]

    [beside] = [track for track in history(runs) if track.published]

    assert (beside.published, beside.objections) == (3100.0, ["on m6i.large, published on m6i.4xlarge"])


def test_what_was_measured_too_little_is_not_called_unchanged(nights):
    bare = [KeptRun(copy.deepcopy(run.summary), {}) for run in nights]
    for run in bare:
        for cell in run.summary["cells"]:
            for point in cell["points"]:
                point.pop("samples")

    assert [(track.changes, track.undecided) for track in history(bare)] == [([], 2)] * 2
    assert [track.undecided for track in history(nights)] == [0, 0]


def named(rng, *, cells, before, change=1.0, drift=0.0, worlds=120):
    """What of the last run is named in each world where nights differ by 3 %: (cell, whether it is a trend).

    The last night of the first cell takes `change` times as long; each of its nights longer by `drift`.
    """
    runs = [KeptRun({"run": f"n{night}"}, {}) for night in range(before + 1)]
    for _ in range(worlds):
        seconds = 100 * np.exp(rng.normal(0, 0.03, (cells, before + 1)))
        seconds[0] *= np.exp(drift * np.arange(before + 1))
        seconds[0, -1] *= change
        tracks = [
            Track("EFS", "build", "1", "", "duration_s", "s", "aws", False,
                  [Measured(night, float(p50), None, None, 9, "c") for night, p50 in enumerate(row)])
            for row in seconds
        ]  # fmt: skip
        name_shifts(runs, tracks)
        yield {(cell, each.is_trend) for cell, track in enumerate(tracks) for each in track.changes
               if each.run == before}  # fmt: skip


def test_the_newest_night_is_corrected_for_its_own_cells_and_not_for_all_past_nights(monkeypatch):
    rng = np.random.default_rng(10)

    for cells in (1, 20):
        assert at_most([bool(found) for found in named(rng, cells=cells, before=15)], 0.05)
        assert at_least([(0, False) in found for found in named(rng, cells=cells, before=15, change=1.2)], 0.88)

    monkeypatch.setattr(history_module, "grouped", lambda pairs: {"all looks": [pair for _, pair in pairs]})
    in_one_family = [(0, False) in found for found in named(rng, cells=20, before=15, change=1.2, worlds=40)]
    assert not at_least(in_one_family, 0.88)


def test_a_drift_of_1_percent_a_night_is_named_within_20_nights_though_no_night_shows_it():
    found = list(named(np.random.default_rng(11), cells=8, before=19, drift=0.01, worlds=100))

    assert at_least([(0, True) in each for each in found], 0.9)
    assert at_most([bool({cell for cell, _ in each} - {0}) for each in found], 0.05)
