"""The launches of a cell as one result."""

import json

import numpy as np
import pytest
from support.relaunched import EFS_TWO, JOINED, SECONDS, measured, planned, results_of
from support.runs_for_reports import build_run

from matrix.answer.comparing import compare
from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.answer.launches import join
from matrix.answer.results import interrupted_summary, never_begun, run_summary
from matrix.answer.values import values_of
from matrix.report import csv_rows, markdown, page
from matrix.samples.histograms import Histogram, latency
from matrix.terms.documents.reading import read
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument


def summary_of(document, results, run="r1"):
    facts = {"environment": "aws", "started_at": 1.0, "finished_at": 2.0, "left_behind": []}
    return run_summary(run=run, plan=document, results=join(document, results), **facts)


def test_the_samples_of_all_launches_are_one_row_set_and_launches_are_its_units():
    document = planned()
    results = results_of(document)
    moved = {"repetition": 1, "instances": 2, "seconds": [1.0], "mb_per_s": {}, "operations_per_s": {"operations": [9]}}
    for result in list(results.values())[1:]:
        result["points"][0]["over_time"] = [moved]

    joined = join(document, results)[JOINED]

    [point] = joined["points"]
    assert point["over_time"] == [{**moved, "launch": 2}, {**moved, "launch": 3}]
    metric = point["metrics"]["duration_s"]
    medians = [results[cell["id"]]["points"][0]["metrics"]["duration_s"]["p50"] for cell in document["cells"]]
    assert (metric["n"], metric["expected_n"]) == (12, 12)
    assert metric["p50"] == pytest.approx(np.exp(np.log(medians).mean()))
    assert metric["p100"] == max(point["samples"]["metrics"]["duration_s"])
    assert metric["intervals"]["p50"]["limited_by"] == "launches"
    assert [launch["median"] for launch in metric["spread"]["by_launch"]] == pytest.approx(medians)
    assert point["samples"]["launch"] == [1] * 4 + [2] * 4 + [3] * 4
    assert [(rate["launch"], rate["repetition"]) for rate in point["fleet"]] == [
        (n, r) for n in (1, 2, 3) for r in (1, 2)
    ]
    assert (joined["file_system"], joined["actual_s"], joined["instances"]["expected"]) == ("efs", 1500.0, 6)
    assert joined["bottleneck"]["of_launches"] == {"same": 3, "launches": 3}
    assert [launch["cell"] for launch in joined["launches"]] == [cell["id"] for cell in document["cells"]]
    assert read(ResultDocument, json.loads(json.dumps(joined)), "result.json")


@pytest.mark.parametrize(
    ("names", "certain"),
    [
        (["volume IOPS"] * 3, "volume IOPS"),
        (["volume IOPS", "volume IOPS", "client CPU"], "not known"),
        (["volume IOPS", "not saturated", "volume IOPS"], "not known"),
        # A launch without metrics says nothing against the others.
        (["volume IOPS", "not known", "volume IOPS"], "volume IOPS"),
        (["not known"] * 3, "not known"),
    ],
)
def test_launches_that_disagree_about_a_limit_have_no_certain_one(names, certain):
    document = planned()
    results = results_of(document)
    for result, name in zip(results.values(), names, strict=True):
        points = {point["id"]: name for point in result["points"]}
        result["bottleneck"] |= {"name": name, "points": points, "uses": [], "share": 0.95}

    said = join(document, results)[JOINED]["bottleneck"]

    assert (said["name"], set(said["points"].values())) == (certain, {certain})
    frequent = max({*names} - {"not known"} or {"not known"}, key=names.count)
    assert said["of_launches"] == {"same": names.count(frequent), "launches": 3}
    assert certain == frequent or said["share"] is None


def test_latencies_of_all_launches_are_one_histogram_and_ceilings_of_the_tool_their_median():
    document = planned()
    results = results_of(document)
    for n, result in enumerate(results.values(), start=1):
        result["points"][0]["latency"] = {"create_lat": latency([Histogram({n * 1_000: 100}, n * 1_000)] * 2)}
        ceiling = {"tool": "engine", "metric": "files_per_s", "is_bound": False, "value": 100.0 * n, "share": 0.3 * n}
        result["points"][0]["tool_ceiling"] = ceiling

    [point] = join(document, results)[JOINED]["points"]

    of_all = point["latency"]["create_lat"]
    assert of_all["bins_ns"] == {"1000": 200, "2000": 200, "3000": 200}
    assert (of_all["operations"], of_all["histograms"], of_all["p50"], of_all["p100"]) == (600, 6, 2.0, 3.0)
    # Of each instance, not of each launch's merged histogram.
    assert of_all["p99_of_each"] == {"p50": 2.0, "p90": 2.0, "p100": 3.0}
    ceiling = point["tool_ceiling"]
    assert (ceiling["value"], ceiling["share"], ceiling["is_bound"]) == (200.0, 0.6, True)


def test_a_launch_that_failed_leaves_the_others_measured_and_the_run_red():
    document = planned()

    summary = summary_of(document, results_of(document, (100.0, None, 121.0)))

    [cell] = summary["cells"]
    metric = cell["points"][0]["metrics"]["duration_s"]
    assert (cell["state"], cell["error"], metric["n"], metric["expected_n"]) == ("measured", None, 8, 12)
    reason = "InstanceDied: i-2 ended"
    assert cell["warnings"][0] == {"code": "launch-missing", "launches": [2], "of": 3, "reason": reason}
    assert summary["status"] == "partly failed"
    assert summary["totals"] == {"cells": 3, "measured": 2, "failed": 1, "skipped": 0}
    assert metric["intervals"] == {}


@pytest.mark.parametrize("ran", [1, 2])
def test_what_ran_is_the_least_of_the_measured_launches_and_each_is_paid_for_what_ran_in_it(ran):
    document = planned(storages=EFS_TWO)
    results = results_of(document, (100.0, 100.0, 100.0))
    whole = join(document, results)[JOINED]
    short = next(cell for cell in document["cells"] if cell["joined"] == JOINED and cell["launch"] == 2)
    results[short["id"]]["instances"]["launched"] = ran

    summary = summary_of(document, results)
    [question] = decide(summary, results=join(document, results))["questions"]
    bill = Bill.of(document, None)
    cell = join(document, results)[JOINED]

    lost = {each["cell"]: each["lost"] for each in question["candidates"]}[JOINED]
    assert lost == (None if ran == 2 else {"code": "quorum", "ran": 1, "count": 2})
    paid, of_whole = (bill.point_cost(each, each["points"][0]).usd for each in (cell, whole))
    # A third of the time, and of the bytes, with half of the instances; the file system costs nothing by the hour.
    assert paid / of_whole == pytest.approx(1.0 if ran == 2 else 5 / 6, rel=0.02)


@pytest.mark.parametrize(
    ("changes", "is_named"),
    [
        ({}, True),
        ({"storage": {"type": "efs", "fileSystemId": "fs-0123456789abcdef0"}}, False),
        ({"storage": {"type": "ebs", "volumeType": "gp3", "sizeGiB": 100}}, False),
        ({"launches": 2}, True),
        ({"launches": 3}, False),
    ],
)
def test_a_star_names_what_single_launches_of_file_systems_that_aws_places_do_not_show(changes, is_named):
    made, results, document = build_run({"ebs": {50: 3000.0}, "efs": {50: 3800.0}})
    launches = [
        {"launch": number, "cell": f"{number}", "state": "measured"} for number in range(changes.get("launches", 0))
    ]
    cells = [*made["cells"], *results.values()]
    for cell in (each for each in cells if each["storage"]["type"] == "efs"):
        cell["storage"] = changes.get("storage", cell["storage"])
        cell.update({"launches": launches} if launches else {})

    [question] = decide(made, results=results, bill=Bill.of(document, None))["questions"]

    named = {each["storage"]: [risk["code"] for risk in each["risks"]] for each in question["candidates"]}
    star = next(each for each in question["candidates"] if each["cell"] == question["recommended"])
    assert ("launched-once" in named.pop(star["storage"])) is is_named
    assert "launched-once" not in str(named)


def test_a_cell_of_which_no_launch_was_measured_is_failed():
    document = planned()
    results = results_of(document, (None, None, None)) | {document["cells"][0]["id"]: None}

    [cell] = summary_of(document, results)["cells"]

    assert (cell["state"], cell["error"]["name"]) == ("failed", "NotMeasured")


def test_launches_that_an_interrupted_run_has_not_begun_are_skipped():
    document = planned()
    results = dict(list(results_of(document).items())[:1])

    whole = join(document, results, never_begun)
    facts = {"environment": "aws", "started_at": 1.0, "finished_at": 2.0}
    summary = interrupted_summary(run="r1", plan=document, results=whole, **facts)

    assert summary["totals"] == {"cells": 3, "measured": 1, "failed": 0, "skipped": 2}
    assert [launch["state"] for launch in summary["cells"][0]["launches"]] == ["measured", "skipped", "skipped"]


ALL, SOME = ({"code": "of-samples", "samples": 1, "text": text} for text in ("all of them", "two of them"))


def test_what_a_few_launches_warn_of_is_said_with_their_numbers_and_of_their_points_only_once():
    document = planned()
    results = results_of(document)
    for cell in document["cells"]:
        results[cell["id"]]["warnings"] += [ALL, *([SOME] if cell["launch"] > 1 else [])]

    warnings = join(document, results)[JOINED]["warnings"]

    assert warnings[:2] == [ALL, {**SOME, "launches": [2, 3]}]
    assert sum(warning["code"] == "launches-differ" for warning in warnings) == 1


def test_a_result_costs_what_it_does_in_one_launch_and_the_bill_is_that_of_all():
    document = planned()
    results = results_of(document, (100.0, 100.0, 100.0))
    first = results[document["cells"][0]["id"]]
    bill = Bill.of(document, None)

    joined = join(document, results)[JOINED]

    whole, alone = bill.point_cost(joined, joined["points"][0]), bill.point_cost(first, first["points"][0])
    assert (whole.per, whole.basis) == ("build", "the plan's prices")
    assert whole.usd == pytest.approx(alone.usd, rel=0.05)
    assert bill.cell_usd(joined)[0] == pytest.approx(3 * bill.cell_usd(first)[0])
    document["cells"][0]["taken_from"] = {"run": "before", "cell": JOINED}
    assert bill.cell_usd(joined) is None


HOURS = (100.0, 140.0, 80.0)


def of_two(seconds, times):
    """The plan and results of two storages whose launches take so long, the second so many times as long."""
    document = planned(storages=EFS_TWO)
    first = [cell for cell in document["cells"] if cell["file_system"].startswith("efs.")]
    results = results_of(document, seconds)
    later = results_of(document, [middle and middle * by for middle, by in zip(seconds, times, strict=True)])
    return document, {**later, **{cell["id"]: results[cell["id"]] for cell in first}}


def slower_of(document, results):
    """The file system that the decision calls slower, and whether the figures show it."""
    decision = decide(summary_of(document, results), results=join(document, results))
    [slower] = [each for each in decision["questions"][0]["candidates"] if each["verdict"]["code"] == "slower"]
    return slower["file_system"], slower["verdict"]["difference"]["code"]


@pytest.mark.parametrize(
    ("times", "difference"),
    [
        # An hour that slows all storages of a launch hides no difference.
        ((1.2, 1.2, 1.2), "slower"),
        ((1.0, 1.5, 0.9), "open"),
    ],
)
def test_the_decision_takes_the_launches_of_one_run_for_pairs(times, difference):
    document, results = of_two(HOURS, times)

    assert slower_of(document, results) == ("other", difference)


def compared(seconds_of_base, seconds_of_run, launches=3):
    runs = []
    for name, seconds in (("a", seconds_of_base), ("b", seconds_of_run)):
        document = planned(launches=launches)
        results = results_of(document, seconds) if launches > 1 else {
            cell["id"]: measured(cell, seconds[0], 1) for cell in document["cells"]
        }  # fmt: skip
        whole = join(document, results)
        summary = summary_of(document, results, name)
        cells = [{**cell, "points": whole[cell["id"]]["points"]} for cell in summary["cells"]]
        runs.append(values_of({**summary, "cells": cells}))
    return runs


def test_runs_are_compared_by_what_their_launches_differ_by():
    [alike] = compare(*compared((100.0, 112.0, 97.0), (104.0, 99.0, 115.0)), threshold=0.05)["compared"]
    [slower] = compare(*compared((100.0, 104.0, 97.0), (151.0, 148.0, 157.0)), threshold=0.05)["compared"]
    [two] = compare(*compared((100.0, 101.0), (200.0, 201.0), 2), threshold=0.05)["compared"]

    assert (alike["verdict"], alike["units"]) == ("no difference shown", [3, 3])
    assert (slower["verdict"], slower["test"]) == ("slower", "launches, Student's t")
    assert two["verdict"] == "cannot tell"
    assert two["words"].endswith('only 2 launches: set "launches": 3, in both runs')


def test_a_run_of_one_launch_beside_one_of_several_is_warned_about():
    [alone, _] = compared((100.0,), (100.0,), 1)
    [thrice, _] = compared(SECONDS, SECONDS)

    assert any(
        "several times, the other once" in warning for warning in compare(alone, thrice, threshold=0.05)["warnings"]
    )
    assert compare(alone, alone, threshold=0.05)["warnings"] == []


def test_tables_charts_and_rows_say_how_often_cells_were_launched():
    document = planned()
    results = results_of(document, (100.0, None, 121.0))
    summary = summary_of(document, results)

    html = page.render(summary, results=join(document, results), plan=document)

    assert "| 2 × m6i.large | 2 of 3 launches |" in markdown.to_markdown(summary)
    [row] = [line for line in csv_rows.to_csv(summary).splitlines() if ",duration_s," in line]
    assert row.startswith("r1,aws,efs.build.m6i.large-x2,measured,efs,")
    assert ",2,2,p01," in row
    assert '<th scope="col" class="figure">Launch</th>' in html
    assert "Between launches" in html
    assert read(SummaryDocument, json.loads(json.dumps(summary)), "summary.json")


def test_bytes_read_add_up_over_launches_and_a_highest_rate_knows_their_instances():
    document = planned()
    results = results_of(document)
    for cell in document["cells"]:
        cell["workload"] = {"type": "touch", "p99AtMostMs": 5}
        launch, [point] = cell["launch"], results[cell["id"]]["points"]
        point["read_bytes"] = {"asked": 100.0 * launch, "mounted": 50.0}
        point["caches"] = "dropped" if launch < 3 else "not dropped"
        point["steadiness"] = {"judged": 4, "steady": 4, "from_s": 10.0 * launch, "ratio": None} | {
            "too_short": 0, "too_noisy": launch
        }  # fmt: skip
        point["params"] = {"rate_per_s_per_instance": 10}
        name = point["metrics"].pop("duration_s")
        point["metrics"]["create_lat_p99_us"] = name
        columns = point["samples"]["metrics"]
        columns["create_lat_p99_us"] = [1.0] * len(columns.pop("duration_s"))
        columns["files_per_s"] = [10.0] * len(columns["create_lat_p99_us"])

    joined = join(document, results)[JOINED]

    assert joined["points"][0]["read_bytes"] == {"asked": 600, "mounted": 150}
    assert joined["points"][0]["caches"] == "dropped and not dropped"
    assert joined["points"][0]["steadiness"] == {
        "judged": 12, "steady": 12, "from_s": 20.0, "ratio": None, "too_short": 0, "too_noisy": 6
    }  # fmt: skip
    [highest] = joined["highest_rates"]
    assert (highest["metric"]["n"], highest["metric"]["expected_n"], highest["held"]) == (12, 12, "p01")
    assert sorted(highest["samples"]["launch"]) == [1] * 4 + [2] * 4 + [3] * 4
