"""Two runs beside each other: what matches, what is said, and what is a regression."""

from copy import deepcopy

import numpy as np
import pytest

from matrix.answer import comparing
from matrix.answer.results import cell_result
from matrix.answer.values import values_of
from matrix.samples.file import SampleFile
from matrix.statistics import differing
from matrix.terms.findings.replication import ONE_NIGHT

RNG = np.random.default_rng(2)
THRICE = (0.0, 0.001, -0.001)


def run(
    name,
    factors,
    *,
    count=12,
    environment="aws",
    storage=None,
    noise=0.02,
    workload="touch",
    shared=THRICE,
):
    """A run with one cell of one point for each factor, files per second around 900 times the factor.

    `shared` is what all instances of a repetition share: the logarithm of a factor for each repetition.
    """
    cells = []
    for number, factor in enumerate(factors, 1):
        cell = {
            "id": f"c{number}", "file_system": "fs", "storage": storage or {"type": "ebs"},
            "workload": {"type": workload}, "fleet": {"instanceType": "m6i.large", "count": count}, "expected_s": 60.0,
            "points": [{"id": "p01", "params": {"threads": number}}],
            "steps": [{"point": "p01", "repetition": r} for r in range(1, len(shared) + 1)],
        }  # fmt: skip
        metric = {"touch": "files_per_s", "build": "duration_s"}[workload]
        files = [
            SampleFile.model_validate({
                "run": name, "cell": cell["id"], "instance": {"id": f"i-{i}", "type": "m6i.large"},
                "samples": [{"point": "p01", "repetition": r, "step": r, "started_at": 0.0, "ended_at": 1.0,
                             "metrics": {metric: 900 * factor * float(np.exp(shift + RNG.normal(0, noise)))}}
                            for r, shift in enumerate(shared, 1)],
            })
            for i in range(count)
        ]  # fmt: skip
        cells.append(cell_result(cell, files, error=None, actual_s=1.0))
    return {"run": name, "environment": environment, "cells": cells}


def compare(base, run, *, threshold):
    """What `matrix compare` says of the values of two runs."""
    return comparing.compare(values_of(base), values_of(run), threshold=threshold)


def verdicts(document):
    """What is said of each cell."""
    return [one["verdict"] for one in document["compared"]]


def test_a_rate_that_fell_by_a_fifth_is_a_regression_and_comes_first():
    found = compare(run("old", [1, 1, 1]), run("new", [1, 0.8, 1.3]), threshold=0.05)

    assert verdicts(found) == ["slower", "faster", "no difference shown"]
    assert (found["regressions"], found["compared"][0]["is_regression"]) == (1, True)
    assert found["compared"][0]["ratio"] == pytest.approx(0.8, rel=0.05)
    assert found["compared"][0]["interval"]["high"] < 0.9


@pytest.mark.parametrize("shared", [(0.0, 0.0, 0.0), (0.0, 0.02, -0.01)])
def test_what_the_analysis_has_resampled_is_not_resampled_again_and_says_the_same(shared, monkeypatch):
    def older(summary):
        """The same run as an older version has analysed it."""
        for cell in (copy := deepcopy(summary))["cells"]:
            del cell["points"][0]["metrics"]["files_per_s"]["median_uncertainty"]
        return copy

    pair = run("old", [1, 1], shared=shared), run("new", [1, 0.8], shared=shared)
    of_older = compare(*map(older, pair), threshold=0.05)
    assert compare(pair[0], older(pair[1]), threshold=0.05) == of_older

    monkeypatch.setattr(differing, "uncertainties", lambda *_: pytest.fail("resampled"))

    assert compare(*pair, threshold=0.05) == of_older


def test_of_durations_longer_is_slower():
    found = compare(run("old", [1], workload="build"), run("new", [1.2], workload="build"), threshold=0.05)

    assert verdicts(found) == ["slower"]
    assert found["regressions"] == 1


def test_a_slowdown_within_the_threshold_is_said_but_is_not_a_regression():
    found = compare(run("old", [1], noise=0.005), run("new", [0.96], noise=0.005), threshold=0.1)

    assert verdicts(found) == ["slower"]
    assert found["regressions"] == 0


@pytest.mark.parametrize(
    ("count", "shared", "verdict", "wanted"),
    [
        (1, THRICE, "cannot tell", "count"),
        (2, THRICE, "cannot tell", "count"),
        (3, THRICE, "slower", None),
        (50, (0.0,), "cannot tell", "repetitions"),
        (50, (0.0, 0.0), "cannot tell", "repetitions"),
    ],
)
def test_fewer_than_three_instances_or_repetitions_cannot_tell_however_far_apart(count, shared, verdict, wanted):
    old, new = (run(name, [by], count=count, shared=shared) for name, by in (("old", 1), ("new", 0.5)))

    found = compare(old, new, threshold=0.05)

    [cell] = found["compared"]
    assert cell["verdict"] == verdict
    assert cell["ratio"] == pytest.approx(0.5, rel=0.05)
    if wanted:
        assert (cell["p_value"], cell["interval"], cell["is_regression"], found["power"]) == (None, None, False, None)
        assert f'set "{wanted}": 3, or "launches": 3, in both runs' in cell["words"]


def test_what_only_one_run_lacks_is_said_of_that_run():
    [found] = compare(run("old", [1]), run("new", [1], shared=(0.0,)), threshold=0.05)["compared"]

    assert ': run: only 1 repetition: set "repetitions": 3' in found["words"]


def test_what_could_have_been_found_is_said_and_shrinks_with_the_number_of_points():
    one, many = (compare(run("old", [1] * n), run("new", [1] * n), threshold=0.05)["power"] for n in (1, 24))

    assert 1 < one["ratio"] < many["ratio"] <= many["worst_ratio"]
    assert (one["points"], many["points"]) == (1, 24)


def test_a_difference_is_shown_only_after_the_correction_for_all_points():
    factors, shared = [0.93] * 8 + [1] * 8, (0.0, 0.01, -0.01)
    found = compare(run("old", [1] * 16, shared=shared), run("new", factors, shared=shared[::-1]), threshold=0.05)

    by_holm = {cell["verdict"] for cell in found["compared"] if cell["p_value"] < 0.05 < cell["p_holm"]}
    shown = {cell["verdict"] for cell in found["compared"] if cell["p_holm"] < 0.05}

    assert (by_holm, shown) == ({"no difference shown"}, {"slower"})


def test_three_repetitions_of_a_shared_storage_tell_what_lies_beyond_their_own_noise():
    efs, shaken = {"type": "efs"}, (-0.05, 0.0, 0.05)
    steady = [run(name, [factor], storage=efs, shared=(0.0, 0.0, 0.0)) for name, factor in (("old", 1), ("new", 0.9))]
    noisy = [run(name, [factor], storage=efs, shared=shaken) for name, factor in (("old", 1), ("new", 0.9))]

    assert verdicts(compare(*steady, threshold=0.05)) == ["slower"]
    assert verdicts(compare(*noisy, threshold=0.05)) == ["no difference shown"]


def test_the_name_of_a_storage_does_not_matter_but_what_it_is_does():
    named = run("new", [1], storage={"type": "ebs", "name": "mine"})
    other = run("new", [1], storage={"type": "ebs", "volumeType": "io2"})

    assert len(compare(run("old", [1]), named, threshold=0.05)["compared"]) == 1
    apart = compare(run("old", [1]), other, threshold=0.05)
    assert ([each["reason"] for each in apart["lost"]], len(apart["only_in_run"])) == (["the run has no such cell"], 1)
    assert "no cell in common" in apart["warnings"][0]


def test_what_a_run_has_twice_is_compared_twice_and_told_apart():
    def twice(name, factors):
        """An A/A comparison: two storages that differ by their names only."""
        whole = run(name, factors)
        first, second = whole["cells"]
        second["storage"] = first["storage"] | {"name": "again"}
        second["points"][0]["params"] = first["points"][0]["params"]
        return whole

    found = compare(twice("old", [1, 1]), twice("new", [1, 0.5]), threshold=0.05)

    assert sorted(verdicts(found)) == ["no difference shown", "slower"]
    assert len({one["storage"] for one in found["compared"]}) == 2
    assert found["lost"] == found["only_in_run"] == []


def test_runs_of_different_places_are_said_not_to_compare():
    found = compare(run("old", [1]), run("new", [1], environment="local"), threshold=0.05)

    assert "do not compare" in found["warnings"][0]


def test_a_change_between_two_nights_comes_with_what_its_interval_does_not_know():
    changed = compare(run("old", [1]), run("new", [0.5]), threshold=0.05)
    alike = compare(run("old", [1]), run("new", [1]), threshold=0.05)

    assert changed["is_of_one_night"]
    assert changed["warnings"] == [ONE_NIGHT]
    assert alike["warnings"] == []


def test_without_single_values_there_is_a_ratio_and_no_verdict():
    base, new = run("old", [1]), run("new", [0.5])
    for cell in base["cells"]:
        for point in cell["points"]:
            del point["samples"]

    found = compare(base, new, threshold=0.05)

    assert verdicts(found) == ["cannot tell"]
    assert found["compared"][0]["ratio"] == pytest.approx(0.5, rel=0.05)


def test_half_a_fleet_is_another_experiment_than_the_whole_one():
    old, new = run("old", [1]), run("new", [1])
    for cell in new["cells"]:
        cell["instances"] = {"expected": 12, "launched": 6}

    found = compare(old, new, threshold=0.05)

    assert (found["compared"], len(found["lost"]), len(found["only_in_run"])) == ([], 1, 1)
    assert found["lost"][0]["reason"].startswith("6 of 12 × m6i.large ran")
    assert compare(new, new, threshold=0.05)["compared"][0]["fleet"] == "6 of 12 × m6i.large"


def fail(summary, number, state="failed"):
    """Let a cell of a run end without its last instances: what the others have measured is kept."""
    cell = summary["cells"][number]
    cell["state"], cell["error"] = state, {"name": "InstancesLost", "message": "8 of 12 instances silent"}
    return summary


@pytest.mark.parametrize("state", ["failed", "skipped"])
def test_survivors_of_a_cell_that_was_not_measured_are_no_result_but_a_loss(state):
    found = compare(run("old", [1, 1]), fail(run("new", [1.1, 1]), 0, state), threshold=0.05)

    [lost] = found["lost"]
    assert (lost["cell"], len(lost["points"])) == ("c1", 1)
    assert lost["reason"] == f"{state}: InstancesLost: 8 of 12 instances silent"
    assert [each["run"]["cell"] for each in found["compared"]] == ["c2"]


def test_a_cell_and_a_point_that_vanished_are_lost_and_what_the_base_never_had_is_not():
    old, new = fail(run("old", [1, 1, 1, 1]), 0), run("new", [1, 1, 1, 1])
    old["cells"][1]["storage"] = {"type": "efs"}
    new["cells"][3]["points"] = []

    found = compare(old, new, threshold=0.05)

    assert [(each["cell"], each["reason"]) for each in found["lost"]] == [
        ("c2", "the run has no such cell"), ("c4", "the run has no figure of it"),
    ]  # fmt: skip
    assert len(found["only_in_run"]) == 2


def test_what_was_measured_otherwise_is_lost_with_what_differs():
    old, new = run("old", [1]), run("new", [1])
    old["cells"][0]["points"][0]["params"] |= {"direct": 0, "fsync": 1}
    new["cells"][0]["points"][0]["params"] |= {"direct": 1}

    [lost] = compare(old, new, threshold=0.05)["lost"]

    assert lost["reason"] == "the run measured it otherwise: direct 1, not 0, fsync unset, not 1"


@pytest.mark.parametrize("workload", ["touch", "build"])
def test_slower_by_more_than_the_threshold_is_shown_only_if_the_whole_interval_is(workload):
    by = 0.94 if workload == "touch" else 1.06
    noisy, steady = (
        compare(
            *(
                run(name, [each], workload=workload, noise=1e-4, shared=(-apart, 0.0, apart))
                for name, each in (("old", 1), ("new", by))
            ),
            threshold=0.05,
        )
        for apart in (0.01, 0.001)
    )

    assert verdicts(noisy) == verdicts(steady) == ["slower"]
    assert (noisy["regressions"], steady["regressions"]) == (0, 1)
    assert noisy["compared"][0]["words"].endswith(": perhaps within the threshold of 5 %")


def test_a_change_without_any_noise_needs_no_interval():
    old, new = (run(name, [by], noise=0.0, shared=(0.0,) * 3) for name, by in (("old", 1), ("new", 0.94)))

    assert compare(old, new, threshold=0.05)["regressions"] == 1
