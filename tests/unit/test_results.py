"""From samples to cells and runs."""

import pytest

from matrix.results import cell_result, missing_samples, run_summary
from matrix.samples import SampleFile

CELL = {
    "id": "efs.touch.m6i-x2", "file_system": "efs", "storage": {"type": "efs"}, "workload": {"type": "touch"},
    "fleet": {"instanceType": "m6i.large", "count": 2}, "expected_s": 60.0,
    "points": [{"id": "p01", "params": {"threads": 1}}],
    "steps": [{"point": "p01", "repetition": 1}, {"point": "p01", "repetition": 2}],
}  # fmt: skip
PLAN = {"name": "n", "cells": [CELL], "totals": {"cost_usd": {"expected": 1.0}}, "warnings": [{"message": "careful"}]}


def samples(instance, rates, *, start=100.0, warnings=()):
    """A file with one sample of 10 files for each rate, each repetition starting 100 s after the one before."""
    return SampleFile.model_validate({
        "run": "r", "cell": CELL["id"], "instance": {"id": instance, "type": "m6i.large"},
        "samples": [
            {"point": "p01", "repetition": n, "step": n - 1, "metrics": {"files_per_s": rate},
             "started_at": start + 100 * n, "ended_at": start + 100 * n + 10 / rate, "start_skew_s": start - 100,
             "work": {"files": 10}, "warnings": list(warnings)}
            for n, rate in enumerate(rates, 1)
        ],
    })  # fmt: skip


def test_a_measured_cell_has_percentiles_over_all_instances_and_repetitions():
    result = cell_result(CELL, [samples("i-1", [10, 20]), samples("i-2", [30, 40])], error=None, actual_s=70.0)

    metric = result["points"][0]["metrics"]["files_per_s"]
    assert (result["state"], metric["n"], metric["expected_n"], metric["primary"]) == ("measured", 4, 4, True)
    assert (metric["p0"], metric["p50"], metric["p100"]) == (10, 25, 40)


def test_the_fleets_rate_is_its_whole_work_over_first_start_to_last_end():
    early, late = samples("i-1", [10, 10]), samples("i-2", [10, 10], start=100.5)

    rates = cell_result(CELL, [early, late], error=None, actual_s=1.0)["points"][0]["fleet"]

    # 20 files; the first starts at 200.0, the last, half a second late, ends at 201.5.
    assert [rate["files_per_s"] for rate in rates] == pytest.approx([20 / 1.5] * 2)
    assert rates[0]["start_spread_s"] == pytest.approx(0.5)


def test_a_failed_cell_keeps_what_was_measured_and_says_of_how_many():
    error = {"name": "InstanceDied", "message": "i-2 ended"}

    result = cell_result(CELL, [samples("i-1", [10])], error=error, actual_s=5.0)

    metric = result["points"][0]["metrics"]["files_per_s"]
    assert (result["state"], result["error"], metric["n"], metric["expected_n"]) == ("failed", error, 1, 4)
    assert result["points"][0]["fleet"] == []


def test_missing_instances_and_missing_steps_are_named():
    assert missing_samples(CELL, [samples("i-1", [1, 2]), samples("i-2", [1, 2])]) == []
    assert missing_samples(CELL, [samples("i-1", [1])]) == [
        "1 of 2 instances uploaded no samples",
        "1 (i-1) instances lack up to 1 of 2 steps",
    ]


def test_each_warning_is_shown_once_with_its_count():
    result = cell_result(CELL, [samples("i-1", [1, 2], warnings=["start was late"])], error=None, actual_s=1.0)

    assert result["warnings"] == ["start was late (2 samples)"]


def summary(results):
    return run_summary(
        run="r", plan=PLAN, environment="local", started_at=1.0, finished_at=2.0, results=results, left_behind=[]
    )


def test_a_planned_cell_without_a_result_is_a_failed_cell():
    document = summary({})

    assert (document["status"], document["totals"]) == ("failed", {"cells": 1, "measured": 0, "failed": 1})
    assert document["cells"][0]["error"]["name"] == "NotMeasured"


def test_a_run_is_measured_when_every_cell_is():
    result = cell_result(CELL, [samples("i-1", [1, 1]), samples("i-2", [1, 1])], error=None, actual_s=1.0)

    document = summary({CELL["id"]: result})

    assert (document["status"], document["warnings"]) == ("measured", ["careful"])
