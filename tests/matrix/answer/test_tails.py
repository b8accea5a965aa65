"""A regression of the tail only: the percentile of the objective, else P90, of rates P10."""

import numpy as np
import pytest
from support.values_documents import of_tables

from matrix.answer.comparing import compare, comparison_of
from matrix.answer.values import values_of

RNG = np.random.default_rng(7)
DAY = 86_400.0


def run(day, *, instances=20, slow=0, times=4.0, by=1.0, is_rate=False, level=None):
    """A run of a night; some instances are so many times as slow."""
    table = 100 * by * np.exp(0.02 * RNG.normal(size=(instances, 1)) + 0.01 * RNG.normal(size=(instances, 3)))
    table[:slow] *= times
    document = of_tables(f"n{day}", 1e4 / table if is_rate else table, started_at=DAY * day)
    [point] = document["cells"][0]["points"]
    point |= {"higher_is_better": is_rate, "level": level or (10.0 if is_rate else 90.0)}
    return document


def judged(*past, new):
    found = compare(past[0], new, threshold=0.05, earlier=past)
    [pair] = found["compared"]
    return pair["percentile"], pair["verdict"], found["regressions"]


@pytest.mark.parametrize(("is_rate", "percentile"), [(False, "p90"), (True, "p10")])
def test_slow_instances_of_a_fleet_that_is_large_enough_are_a_regression_of_its_tail(is_rate, percentile):
    base, new = run(0, instances=40, is_rate=is_rate), run(1, instances=40, slow=6, is_rate=is_rate)

    assert judged(base, new=new) == (percentile, "slower", 1)
    assert judged(new, new=base)[2] == 0
    [change] = comparison_of(base, new, "n0")["changes"]
    assert change["percentile"] == percentile
    assert (change["change"] > 1) is not is_rate


def test_of_twenty_instances_three_cannot_be_judged_by_two_runs_and_are_by_six():
    past = [run(day) for day in range(5)]

    assert judged(past[0], new=run(1, slow=3)) == ("p90", "cannot tell", 0)
    assert judged(*past, new=run(5, slow=3)) == ("p90", "slower", 1)


@pytest.mark.parametrize("changed", [{"slow": 1}, {"slow": 2}, {}])
def test_one_or_two_slow_hosts_are_no_change(changed):
    past = [run(day) for day in range(8)]

    assert judged(past[0], new=run(1, **changed)) == judged(*past, new=run(8, **changed)) == (
        "p50", "no difference shown", 0
    )  # fmt: skip


def test_where_all_became_slower_the_median_says_so():
    assert judged(run(0, instances=40), new=run(1, instances=40, by=1.2)) == ("p50", "slower", 1)


def test_a_percentile_of_the_objective_needs_only_its_own_instances():
    base, new = run(0, instances=20, level=75.0), run(1, instances=20, slow=8, level=75.0)

    assert judged(base, new=new) == ("p75", "slower", 1)


LATENCY = {"metric": "create_lat_p99_us", "percentile": 75, "atMost": 1}


def of_metrics(name, objective, *points, instances=20):
    """The values of a run whose points have measured these metrics, the first of each as its main one: medians."""

    def of_point(number, medians):
        steps = [(f"i-{row}", 1 + column) for row in range(instances) for column in range(3)]
        columns = {
            metric: list(median * np.exp(0.02 * RNG.normal(size=len(steps)))) for metric, median in medians.items()
        }
        figures = {
            metric: {"unit": "", "higher_is_better": metric == "files_per_s", "p50": float(np.median(column)),
                     "n": len(steps), "primary": metric == next(iter(medians))}
            for metric, column in columns.items()
        }  # fmt: skip
        samples = {"instance": [i for i, _ in steps], "repetition": [r for _, r in steps], "metrics": columns}
        return {"id": f"p{number}", "params": {"threads": number}, "metrics": figures, "samples": samples}

    cell = {
        "id": "efs.touch", "state": "measured", "storage": {"type": "efs"}, "workload": {"type": "touch"},
        "fleet": {"instanceType": "m6i.large", "count": instances},
        "points": [of_point(number, medians) for number, medians in enumerate(points, 1)],
    }  # fmt: skip
    decision = {"objective": objective, "percentile": (objective or {}).get("percentile", 90.0)}
    return values_of({"run": name, "environment": "aws", "decision": decision, "cells": [cell]})


@pytest.mark.parametrize(
    ("objective", "levels"),
    [
        (None, {"duration_s": 90.0, "files_per_s": 10.0}),
        ({"metric": "duration_s", "percentile": 75, "atMost": 1}, {"duration_s": 75.0, "files_per_s": 10.0}),
        ({"metric": "files_per_s", "percentile": 98, "atLeast": 1}, {"duration_s": 90.0, "files_per_s": 2.0}),
    ],
)
def test_the_percentile_is_that_of_the_objective_of_the_metric(objective, levels):
    [cell] = of_metrics("r", objective, {"duration_s": 1.0}, {"files_per_s": 1.0})["cells"]

    assert {each["metric"]: each["level"] for each in cell["points"]} == levels


def test_a_regression_of_the_objectives_metric_is_found_beside_a_main_metric_that_did_not_change():
    quick = {"files_per_s": 500.0, "create_lat_p99_us": 900.0, "create_lat_p50_us": 100.0}
    slow = {**quick, "create_lat_p99_us": 1_400.0}

    def found(objective, run):
        base = of_metrics("base", objective, quick, {"files_per_s": 300.0})
        return compare(base, of_metrics("run", objective, run, {"files_per_s": 300.0}), threshold=0.05)

    of_objective = found(LATENCY, slow)
    worst, *others = of_objective["compared"]
    assert (worst["metric"], worst["verdict"], worst["is_regression"]) == ("create_lat_p99_us", "slower", True)
    assert [(each["metric"], each["verdict"]) for each in others] == [("files_per_s", "no difference shown")] * 2
    assert len({each["point"] for each in of_objective["compared"]}) == 3
    assert [found(objective, run)["regressions"] for objective, run in ((None, slow), (LATENCY, quick))] == [0, 0]


@pytest.mark.parametrize(
    ("objective", "run", "lost"),
    [
        # Another objective asks for another metric, and nothing is lost.
        (None, {"files_per_s": 500.0, "create_lat_p99_us": 900.0}, []),
        (LATENCY, {"files_per_s": 500.0}, ["threads 1: create_lat_p99_us"]),
        (LATENCY, {"create_lat_p50_us": 1.0}, ["threads 1"]),
    ],
)
def test_a_point_without_the_objectives_metric_is_lost_if_the_run_has_the_same_objective(objective, run, lost):
    base = of_metrics("base", LATENCY, {"files_per_s": 500.0, "create_lat_p99_us": 900.0})

    found = compare(base, of_metrics("run", objective, run), threshold=0.05)

    assert [point for each in found["lost"] for point in each["points"]] == lost
