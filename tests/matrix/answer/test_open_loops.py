"""Sweeps of open loops: who fell behind, the highest rate up to which a limit is kept, and what is decided by it."""

import json

import pytest

from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.answer.results import cell_result, run_summary
from matrix.check.read import check_matrix
from matrix.plan.planning import plan
from matrix.report.charts.medians import sweeps
from matrix.report.csv_rows import to_csv
from matrix.report.markdown import to_markdown
from matrix.report.page import render
from matrix.report.view import View
from matrix.samples.file import SampleFile
from matrix.tables.highest_rates import highest_rates_table
from matrix.terms.open_loop import offered_per_s

RATES, FILES, INSTANCES = (100, 200, 400), 1000, 6


def planned(limit_ms=5, storages=("slow", "fast")):
    workload = {"type": "touch", "files": FILES, "threads": 4, "ratePerSecondPerInstance": list(RATES)}
    storage = {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 64}
    matrix = {
        "name": "rates",
        "storage": [{**storage, "name": name} for name in storages],
        "workload": [workload | ({"p99AtMostMs": limit_ms} if limit_ms else {})],
        "fleet": [{"instanceType": "m6i.large", "count": INSTANCES}],
        "order": "as-written",
    }
    return plan(check_matrix(matrix), region="us-east-1").to_document()


def result_of(cell, p99_ms, done_share=None):
    """The result of a cell with these P99 (ms) and shares of the rate by rate, the same on all instances."""
    rate_of = {point["id"]: point["params"]["rate_per_s_per_instance"] for point in cell["points"]}
    files = []
    for number in range(INSTANCES):
        taken = []
        for step, planned_step in enumerate(cell["steps"]):
            rate = rate_of[planned_step["point"]]
            done = rate * (done_share or {}).get(rate, 1.0)
            start = 1000.0 + 100 * step
            taken.append(
                {
                    "point": planned_step["point"],
                    "repetition": planned_step["repetition"],
                    "step": step,
                    "metrics": {
                        "files_per_s": done,
                        "duration_s": FILES / done,
                        "create_lat_p99_us": 1000 * p99_ms[rate] * (1 + number / 1000),
                    },
                    "started_at": start,
                    "ended_at": start + FILES / done,
                    "work": {"files": FILES},
                }
            )
        document = {"run": "r", "cell": cell["id"], "instance": {"id": f"i-{number}", "type": "m6i.large"}}
        files.append(SampleFile.model_validate(document | {"samples": taken}))
    return cell_result(cell, files, error=None, actual_s=100.0)


SLOW, FAST = {100: 1.0, 200: 7.0, 400: 2.0}, {100: 1.0, 200: 2.0, 400: 6.0}


def run_of(plan_document, *p99_ms, done_share=None):
    results = {
        cell["id"]: result_of(cell, shown, done_share)
        for cell, shown in zip(plan_document["cells"], p99_ms, strict=True)
    }
    summary = run_summary(
        run="r", plan=plan_document, environment="aws", started_at=0.0, finished_at=1.0, results=results, left_behind=[]
    )
    return summary, results


@pytest.mark.parametrize(
    ("p99_ms", "done", "held", "beyond"),
    [
        (FAST, {}, 200, 400),
        # A rate above one that failed does not count.
        (SLOW, {}, 100, 200),
        ({100: 1.0, 200: 2.0, 400: 4.9}, {}, 400, None),
        ({100: 9.0, 200: 1.0, 400: 1.0}, {}, 0, 100),
        # Whose operations pile up has not kept the rate, however short they were by then.
        ({100: 1.0, 200: 1.0, 400: 1.0}, {400: 0.9}, 200, 400),
    ],
)
def test_the_highest_rate_is_the_last_before_the_first_that_misses_the_limit(p99_ms, done, held, beyond):
    [cell] = planned(storages=("only",))["cells"]

    [highest] = result_of(cell, p99_ms, done)["highest_rates"]

    assert highest["metric"]["p50"] == held
    assert highest["beyond_per_s"] == beyond
    points = {point["params"]["rate_per_s_per_instance"]: point["id"] for point in cell["points"]}
    assert highest["held"] == points.get(held)
    assert highest["points"] == [points[rate] for rate in RATES]
    assert (highest["metric"]["n"], highest["metric"]["expected_n"]) == (18, 18)
    assert highest["metric"]["intervals"] == {}


def test_an_instance_above_the_limit_has_a_lower_highest_rate():
    [cell] = planned(storages=("only",))["cells"]

    # The instances' P99 at 400/s are 4.99, 4.995 … 5.015 ms: three of six are above 5 ms.
    [highest] = result_of(cell, {100: 1.0, 200: 1.0, 400: 4.99 / 1.0}, {})["highest_rates"]

    assert sorted(set(highest["samples"]["metrics"]["highest_rate_per_s"])) == [200, 400]


def test_a_point_that_fell_behind_is_warned_of_and_marked_wherever_it_is_shown():
    plan_document = planned(limit_ms=None, storages=("only",))
    summary, results = run_of(plan_document, {100: 1.0, 200: 2.0, 400: 800.0}, done_share={400: 0.775})

    [result] = results.values()
    [warning] = [warning for warning in result["warnings"] if warning["code"] == "behind"]
    assert (warning["points"], warning["metric"]) == (["p03"], "create_lat_p99_us")
    assert warning["share"] == pytest.approx(1 - 310 / 400)
    assert "| behind: 310 of 400/s |" in to_markdown(summary)
    assert "highest_rates" not in result


def test_storages_with_a_limit_are_decided_by_the_highest_rate_that_they_keep():
    plan_document = planned()
    summary, results = run_of(plan_document, SLOW, FAST)
    bill = Bill.of(plan_document, None)

    rated = decide(summary, results=results, bill=bill)
    met = decide(summary, results=results, objective={"metric": "highest_rate_per_s", "atLeast": 150}, bill=bill)
    latency = decide(summary, results=results, objective={"metric": "create_lat_p99_us", "atMost": 3000}, bill=bill)

    [question] = rated["questions"]
    assert question["metric"] == "highest_rate_per_s"
    # The true rate may lie between two of the sweep, so there is no interval.
    ranked = [candidate["ranked"] for candidate in question["candidates"]]
    assert [(each["value"], each["low"], each["high"]) for each in ranked] == [(100, None, None), (200, None, None)]
    fast = question["candidates"][1]
    assert fast["verdict"] == {"code": "fastest", "is_cheapest": True}
    [question] = met["questions"]
    assert question["recommended"] == plan_document["cells"][1]["id"]
    # What a million files cost at the rate that was kept: half the time, half the price.
    costs = [candidate["cost"]["usd"] for candidate in question["candidates"]]
    assert costs[0] / costs[1] == pytest.approx(2, rel=0.05)
    assert [asked["metric"] for asked in latency["questions"]] == ["create_lat_p99_us"] * 3


def test_the_highest_rates_within_two_limits_are_two_questions():
    strict, loose = (planned(limit_ms=limit) for limit in (5, 8))
    cells = [*strict["cells"], *({**cell, "id": f"{cell['id']}-loose"} for cell in loose["cells"])]
    both = {**strict, "cells": cells}
    summary, results = run_of(both, SLOW, FAST, SLOW, FAST)

    questions = decide(summary, results=results, bill=Bill.of(both, None))["questions"]

    assert [question["label"] for question in questions] == [
        "threads 4, directories shared, not synced, P99 at most 5 ms",
        "threads 4, directories shared, not synced, P99 at most 8 ms",
    ]
    assert [[each["ranked"]["value"] for each in question["candidates"]] for question in questions] == [
        [100, 200],
        [400, 400],
    ]


def test_the_curve_of_latency_over_rate_and_the_highest_rates_are_in_every_output():
    plan_document = planned()
    summary, results = run_of(plan_document, SLOW, FAST)
    summary["decision"] = decide(summary, results=results, bill=Bill.of(plan_document, None))

    [chart] = sweeps(View(summary, results, plan_document, summary["decision"]))

    assert [list(series.x) for series in chart.series] == [list(RATES)] * 2
    assert chart.series[0].y == pytest.approx([1000 * 1.0025, 7000 * 1.0025, 2000 * 1.0025])
    assert chart.limit == (5000.0, "P99 at most 5 ms")
    assert [row.cells[5].text for row in highest_rates_table(summary["cells"]).rows] == [
        "100/s, not 200",
        "200/s, not 400",
    ]
    assert "200/s, not 400" in to_markdown(summary)
    assert "highest_rate_per_s" in to_csv(summary)
    page = render(summary, results=results, plan=plan_document)
    assert "over rate per s" in page
    assert "200/s, not 400" in page
    assert json.dumps(summary).count('"samples": null') == 2


@pytest.mark.parametrize(
    ("options", "per_s"),
    [
        ({"rw": "randread", "rate_iops": 100}, 200),
        # As fio does it: 99.7 reads and 99.7 writes a second were done of 100 asked for.
        ({"rw": "randrw", "rate_iops": 100}, 400),
        ({"rw": "readwrite", "rate_iops": "100,50"}, 300),
        ({"rw": "randwrite", "rate_iops": "100,50"}, 100),
        # Reads have no rate, so they are a closed loop.
        ({"rw": "rw", "rate_iops": ",50"}, None),
        ({"rw": "randread"}, None),
    ],
)
def test_fios_rate_is_of_each_direction_and_of_each_job(options, per_s):
    point = {"options": options | {"io_submit_mode": "offload", "numjobs": 2}}

    assert offered_per_s(point) == per_s


def test_fio_offloading_has_a_curve_of_its_own():
    options = {"rw": "randread", "size": "1G", "io_submit_mode": "offload", "numjobs": 2}
    points = [
        {"id": f"p{rate}", "params": {"options": options | {"rate_iops": rate}}, "metrics": {
            "read_lat_p99_us": {"p50": 10.0 * rate, "primary": True, "unit": "µs"}, "iops": {"p50": done},
        }} for rate, done in ((50, 100.0), (500, 700.0))
    ]  # fmt: skip
    fleet = {"instanceType": "m6i.large", "count": 1}
    cell = {"id": "c", "file_system": "efs", "storage": {"type": "efs"}, "workload": {"type": "fio"}, "fleet": fleet}
    summary = {"cells": [cell | {"state": "measured", "points": points}]}

    [chart] = sweeps(View(summary, {}, None, {}))

    [line] = chart.series
    assert (list(line.x), list(line.y)) == ([50, 500], [500.0, 5000.0])
