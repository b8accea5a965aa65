"""From samples to cells and runs."""

import pytest

from matrix.answer.results import cell_result, missing_samples, run_summary
from matrix.samples.file import SampleFile
from matrix.samples.histograms import Histogram

CELL = {
    "id": "efs.touch.m6i-x2", "file_system": "efs", "storage": {"type": "efs"}, "workload": {"type": "touch"},
    "fleet": {"instanceType": "m6i.large", "count": 2}, "expected_s": 60.0,
    "points": [{"id": "p01", "params": {"threads": 1}}],
    "steps": [{"point": "p01", "repetition": 1}, {"point": "p01", "repetition": 2}],
}  # fmt: skip
PLAN = {
    "name": "n",
    "cells": [CELL],
    "totals": {"cost_usd": {"expected": 1.0}},
    "warnings": [{"path": "fleet", "message": "careful"}],
}


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


def analysed(*files, cell=CELL, error=None, **more):
    """The result of a cell."""
    return cell_result(cell, files, error=error, actual_s=1.0, **more)


def point_of(*files):
    """The only point of a cell."""
    [point] = analysed(*files)["points"]
    return point


def test_a_measured_cell_has_percentiles_over_all_instances_and_repetitions():
    result = analysed(samples("i-1", [10, 20]), samples("i-2", [30, 40]))

    metric = result["points"][0]["metrics"]["files_per_s"]
    assert (result["state"], metric["n"], metric["expected_n"], metric["primary"]) == ("measured", 4, 4, True)
    assert (metric["p0"], metric["p50"], metric["p100"]) == (10, 25, 40)


def test_a_tail_percentile_that_a_slow_instance_cannot_carry_is_left_out_of_the_point():
    quick, slow = samples("i-1", [10, 10]), samples("i-2", [10, 10])
    for sample in (*quick.samples, *slow.samples):
        sample.metrics |= {"create_lat_p50_us": 5.0, "create_lat_p999_us": 9.0}
    assert "create_lat_p999_us" in point_of(quick, slow)["metrics"]
    del slow.samples[1].metrics["create_lat_p999_us"]

    assert set(point_of(quick, slow)["metrics"]) == {"create_lat_p50_us", "files_per_s"}


def test_the_fleets_rate_is_its_whole_work_over_first_start_to_last_end():
    early, late = samples("i-1", [10, 10]), samples("i-2", [10, 10], start=100.5)

    rates = point_of(early, late)["fleet"]

    # 20 files; the first starts at 200.0, the last, half a second late, ends at 201.5.
    assert [rate["files_per_s"] for rate in rates] == pytest.approx([20 / 1.5] * 2)
    assert rates[0]["start_spread_s"] == pytest.approx(0.5)


def test_provenance_says_how_often_an_engine_had_threads_and_how_often_processes():
    threads, processes = samples("i-1", [10, 10, 10]), samples("i-2", [10])
    for file, mode in ((threads, "threads"), (processes, "processes")):
        for sample in file.samples:
            sample.tool.mode = mode

    assert analysed(threads, processes)["provenance"]["workers"] == {"threads": 3, "processes": 1}


@pytest.mark.parametrize(
    ("of_samples", "said"),
    [
        (["dropped", "dropped"], "dropped"),
        (["not dropped: needs root", "not dropped: a folder"], "not dropped"),
        (["dropped", "not dropped: needs root"], "dropped and not dropped"),
    ],
)
def test_a_point_says_what_was_done_about_the_caches_before_it(of_samples, said):
    file = samples("i-1", [10, 10])
    for sample, words in zip(file.samples, of_samples, strict=True):
        sample.caches = words

    assert point_of(file)["caches"] == said


def worked(instance, started_at, ended_at, *, process=None):
    """A file with one sample of 10 files, done between two moments by programs that took longer."""
    file = samples(instance, [1])
    begun, over = process or (started_at, ended_at)
    [sample] = file.samples
    times = {"started_at": begun, "ended_at": over, "work_started_at": started_at, "work_ended_at": ended_at}
    return file.model_copy(update={"samples": [sample.model_copy(update=times)]})


def test_a_ramp_and_the_start_of_programs_are_not_in_the_fleets_rate():
    # Each works from second 203 to 205; their programs ran from 200 to 205.2.
    files = [worked(name, 203.0, 205.0, process=(200.0, 205.2)) for name in ("i-1", "i-2")]

    result = analysed(*files)

    [rate] = result["points"][0]["fleet"]
    assert (rate["span_s"], rate["files_per_s"]) == pytest.approx((2.0, 20 / 2.0))
    assert result["points"][0]["overhead_share"] == pytest.approx(3.2 / 5.2)
    [overhead] = [warning for warning in result["warnings"] if warning["code"] == "overhead"]
    assert (overhead["points"], overhead["share"]) == (["p01"], pytest.approx(3.2 / 5.2))


def test_a_fleet_has_a_rate_at_its_best_and_one_until_the_last_is_done():
    files = [worked("i-1", 200.0, 202.0), worked("i-2", 200.0, 210.0)]

    [rate] = point_of(*files)["fleet"]

    assert (rate["best_s"], rate["files_per_s_best"]) == pytest.approx((2.0, 10 / 2.0))
    assert (rate["span_s"], rate["files_per_s"]) == pytest.approx((10.0, 20 / 10.0))


@pytest.mark.parametrize("shares", [[1] * 5, [2, *[1] * 9], [4, *[1] * 9], [3, 3, 1, 1, 1], [8, 1]])
def test_no_rate_of_a_fleet_exceeds_the_storage_that_it_shares_by_unequal_shares(shares):
    """Of 10 files/s, which those that still work share: each does 10 files."""
    left, moment, files = dict.fromkeys(range(len(shares)), 10.0), 200.0, []
    while left:
        rates = {each: 10.0 * shares[each] / sum(shares[other] for other in left) for each in left}
        first = min(left, key=lambda each: left[each] / rates[each])
        lasted = left[first] / rates[first]
        moment, left = moment + lasted, {each: rest - rates[each] * lasted for each, rest in left.items()}
        left = {each: rest for each, rest in left.items() if each != first}
        files.append(worked(f"i-{first}", 200.0, moment))

    [rate] = point_of(*files)["fleet"]

    assert rate["files_per_s"] == pytest.approx(10.0)
    assert rate["files_per_s_best"] <= 10.0 + 1e-9


def test_a_failed_cell_keeps_what_was_measured_and_says_of_how_many():
    error = {"name": "InstanceDied", "message": "i-2 ended"}

    result = analysed(samples("i-1", [10]), error=error)

    metric = result["points"][0]["metrics"]["files_per_s"]
    assert (result["state"], result["error"], metric["n"], metric["expected_n"]) == ("failed", error, 1, 4)
    assert result["points"][0]["fleet"] == []


def test_missing_instances_and_missing_steps_are_named():
    assert missing_samples(CELL, [samples("i-1", [1, 2]), samples("i-2", [1, 2])]) == []
    assert missing_samples(CELL, [samples("i-1", [1])]) == [
        "1 of 2 instances uploaded no samples",
        "1 of 2 instances lack up to 1 of 2 steps (i-1)",
    ]


@pytest.mark.parametrize("rates", [[1], [1, 1]])
def test_each_warning_is_shown_once_with_its_count(rates):
    result = analysed(samples("i-1", rates, warnings=["start was late"]))

    assert result["warnings"] == [{"code": "of-samples", "samples": len(rates), "text": "start was late"}]


def summary(results, plan=PLAN):
    return run_summary(
        run="r", plan=plan, environment="local", started_at=1.0, finished_at=2.0, results=results, left_behind=[]
    )


def test_a_planned_cell_without_a_result_is_a_failed_cell():
    document = summary({})

    assert (document["status"], document["totals"]) == (
        "failed", {"cells": 1, "measured": 0, "failed": 1, "skipped": 0},
    )  # fmt: skip
    assert document["cells"][0]["error"]["name"] == "NotMeasured"


# --- what is said beyond the percentiles ------------------------------------------------------------------------------


def fleet_of(count, repetitions=3, *, slow_first=1.0):
    """A measured cell of so many instances, a little different from each other, and its histograms."""
    cell = {
        **CELL,
        "fleet": {"instanceType": "m6i.large", "count": count},
        "steps": [{"point": "p01", "repetition": n} for n in range(1, repetitions + 1)],
    }
    files = [
        samples(f"i-{i:02}", [(100 + i % 7) / (slow_first if n == 0 else 1) + 0.1 * n for n in range(repetitions)])
        for i in range(count)
    ]
    histograms = {"p01": {"create_lat": [Histogram({1000: 90, 2000: 10})] * count * repetitions}}
    return analysed(*files, cell=cell, histograms=histograms)


def test_a_percentile_that_the_fleet_cannot_carry_has_a_bound_instead_of_an_interval():
    metric = fleet_of(14)["points"][0]["metrics"]["files_per_s"]

    # The repetitions of an instance are alike and differ a little from each other: 42 values are worth hardly the 14
    # instances, enough for P75 (13) and not for P90 (36).
    assert (metric["n"], metric["independent_n"]) == (42, 13)
    assert {name for name, is_enough in metric["carried"].items() if is_enough} == {
        "p25",
        "p50",
        "p75",
    }
    assert set(metric["intervals"]) == {"p25", "p50", "p75", "mean"}
    assert (set(metric["at_least"]), set(metric["at_most"])) == ({"p90", "p98"}, {"p10", "p2"})
    assert metric["p0"] <= metric["p2"] <= metric["p10"] <= metric["p25"] <= metric["p50"]
    assert metric["p0"] <= metric["intervals"]["p50"]["low"] <= metric["p50"] <= metric["intervals"]["p50"]["high"]


def test_two_repetitions_of_a_shared_storage_are_not_replicated():
    metric = fleet_of(14, repetitions=2)["points"][0]["metrics"]["files_per_s"]

    assert (metric["scope"], metric["intervals"]) == ("not replicated", {})
    assert metric["resampled"] == "instances"
    assert fleet_of(14)["points"][0]["metrics"]["files_per_s"]["scope"] is None


def test_what_is_odd_about_the_judged_metric_is_a_warning_of_its_cell():
    result = fleet_of(10, slow_first=2.0)

    [warning] = result["warnings"]
    assert (warning["code"], warning["repetition"]) == ("slow-first-run", 1)
    assert (warning["points"], warning["metric"]) == (["p01"], "files_per_s")
    assert warning["share"] == pytest.approx(1.0, abs=0.1)


def test_every_value_is_kept_in_columns_in_the_cells_result_and_not_in_the_summary():
    result = fleet_of(2, 2)
    columns = result["points"][0]["samples"]

    assert columns["instance"] == ["i-00", "i-00", "i-01", "i-01"]
    assert columns["repetition"] == [1, 2, 1, 2]
    assert columns["metrics"]["files_per_s"] == pytest.approx([100, 100.1, 101, 101.1])
    point = summary({CELL["id"]: result})["cells"][0]["points"][0]
    assert "samples" not in point
    assert "bins_ns" not in point["latency"]["create_lat"]
    # 4 histograms of 100 operations, 90 of them 1 µs: P90 is still 1 µs.
    found = result["points"][0]["latency"]["create_lat"]
    assert (found["operations"], found["histograms"], found["p90"]) == (400, 4, 1.0)
    assert "bins_ns" in found


def test_a_fleet_that_reached_its_quorum_says_first_how_many_are_missing():
    files = [samples("i-1", [10, 20])]

    result = analysed(*files, launched=1, shortfall="NoRoom: none")

    assert missing_samples(CELL, files, launched=1) == []
    assert result["instances"] == {"expected": 2, "launched": 1}
    assert result["warnings"][0] == {
        "code": "fewer-instances", "share": 0.5, "ran": 1, "count": 2, "reason": "NoRoom: none",
    }  # fmt: skip
    [metric] = [one for one in result["points"][0]["metrics"].values() if one["primary"]]
    assert (metric["n"], metric["expected_n"]) == (2, 4)
    assert result["points"][0]["fleet"]
