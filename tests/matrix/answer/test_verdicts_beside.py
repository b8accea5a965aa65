"""How a run came out beside another one: the document, and that it says what `matrix compare` says."""

import pytest

from matrix.answer.comparing import compare, comparison_of
from matrix.terms.documents.compared import ComparisonDocument
from matrix.terms.documents.reading import read
from matrix.text.comparisons import comparison_lines


def values(run, *centers, environment="aws", repetitions=3):
    """A run of one storage with a point of 12 instances for each center, in seconds: 1 % apart."""
    points = [
        {
            "id": f"p{number}", "params": {"threads": number}, "label": f"threads {number}", "metric": "duration_s",
            "unit": "s", "higher_is_better": False, "p50": center, "n": 36, "interval": None,
            "median_uncertainty": None,
            "values": [
                [center * (1 + 0.01 * i) * (1 + 0.001 * r) for r in range(repetitions)] for i in range(12)
            ],
        }
        for number, center in enumerate(centers, 1)
    ]  # fmt: skip
    cell = {
        "id": "ebs.touch", "state": "measured", "reason": None,
        "storage": {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8}, "storage_label": "EBS gp3",
        "is_shared": False, "workload": {"type": "touch"}, "fleet": {"instanceType": "m6i.large", "count": 12},
        "is_relaunched": False, "instances": [f"i-{i}" for i in range(12)], "launches": [],
        "repetitions": list(range(repetitions)), "points": points,
    }  # fmt: skip
    return {"schema": 1, "run": run, "environment": environment, "cells": [cell]}


@pytest.mark.parametrize(
    ("before", "after", "how", "verdict"),
    [
        ((10.0, 20.0), (15.0, 20.0), {}, "slower"),
        ((10.0, 20.0), (10.0, 10.0), {}, "faster"),
        ((10.0, 20.0), (15.0, 10.0), {}, "both"),
        ((10.0, 20.0), (10.0, 20.0), {}, "no-difference"),
        ((10.0,), (20.0,), {"repetitions": 1}, "cannot-tell"),
        ((0.0,), (10.0,), {}, "cannot-tell"),
    ],
)
def test_the_verdict_is_that_of_compare(before, after, how, verdict):
    base, run = values("base", *before, **how), values("run", *after, **how)
    seen = comparison_of(base, run, "base")
    known = compare(base, run, threshold=0.05)

    assert read(ComparisonDocument, seen, "comparison.json")["verdict"] == verdict
    assert seen["slower"] == sum(point["verdict"] == "slower" for point in known["compared"])
    assert seen["faster"] == sum(point["verdict"] == "faster" for point in known["compared"])
    assert seen["regressions"] == known["regressions"]
    assert seen["detectable_ratio"] == (known["power"] and known["power"]["ratio"])


def test_the_largest_change_for_the_worse_comes_first_and_five_are_kept():
    base, run = values("base", *[10.0] * 8), values("run", *[11.0 + number for number in range(7)], 1.0)
    seen = comparison_of(base, run, "base")

    assert [change["verdict"] for change in seen["changes"]] == ["slower"] * 5
    worst = seen["changes"][0]
    assert (worst["ratio"], worst["change"]) == (pytest.approx(1.7), pytest.approx(0.7))
    assert seen["verdict"] == "both"


def test_runs_of_several_launches_need_no_caution():
    base, run = values("base", 10.0, 20.0), values("run", 15.0, 20.0)
    for each in (base, run):
        [cell] = each["cells"]
        cell["is_relaunched"], cell["launches"] = True, [1 + number // 4 for number in range(12)]
    seen = comparison_of(base, run, "base")

    assert seen["verdict"] == "slower"
    assert not seen["is_launched_once"]


def test_emulated_storages_are_not_compared_with_measured_ones():
    seen = comparison_of(values("base", 10.0, environment="emulated"), values("run", 10.0), "base")

    assert seen["verdict"] == "not-compared"
    assert {seen[name] for name in ("points", "slower", "faster", "unjudged", "regressions")} == {0}
    assert seen["reason"]


@pytest.mark.parametrize("others", [True, False])
def test_a_cell_that_was_not_measured_is_told_whatever_the_others_say(others):
    base, run = values("base", 10.0), values("run", 5.0)
    [cell], [kept] = base["cells"], run["cells"]
    gone = {"storage": {"type": "efs"}, "id": "efs.touch"}
    base["cells"].append({**cell, **gone})
    run["cells"] = [kept] * others + [{**kept, **gone, "state": "skipped", "reason": "budget", "points": []}]

    seen = comparison_of(base, run, "base")

    assert seen["lost"][-1] == {"cell": "efs.touch", "points": ["threads 1"], "reason": "skipped: budget"}
    assert seen["verdict"] == ("faster" if others else "not-compared")
    assert comparison_lines(seen)[0].startswith("Not measured: e")
