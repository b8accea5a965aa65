"""Tool-bound points: told by each instance's own ceiling, marked in every table, warned about once."""

import json

import pytest

from matrix.answer.results import cell_result
from matrix.report.csv_rows import to_csv
from matrix.report.markdown import to_markdown
from matrix.samples.file import SampleFile, read_samples

CELL = {
    "id": "efs.touch.m6i-x2", "file_system": "efs", "storage": {"type": "efs"}, "workload": {"type": "touch"},
    "fleet": {"instanceType": "m6i.large", "count": 2}, "expected_s": 60.0,
    "points": [{"id": "p01", "params": {"tool": "parallel"}}, {"id": "p02", "params": {"tool": "engine"}}],
    "steps": [{"point": "p01", "repetition": 1}, {"point": "p02", "repetition": 1}],
}  # fmt: skip


def ceiling(point, value, metric="files_per_s"):
    return {"points": [point], "metric": metric, "value": value}


def document(instance, rates, calibration):
    """What an instance uploads: a sample of each point at its rate."""
    return {
        "run": "r", "cell": CELL["id"], "instance": {"id": instance, "type": "m6i.large"}, "calibration": calibration,
        "samples": [
            {"point": point["id"], "repetition": 1, "step": n, "metrics": {"files_per_s": rate}, "started_at": 100,
             "ended_at": 101, "work": {"files": 10}, "tool": {"name": point["params"]["tool"]}}
            for n, (point, rate) in enumerate(zip(CELL["points"], rates, strict=True))
        ],
    }  # fmt: skip


def result(*documents):
    return cell_result(CELL, [SampleFile.model_validate(one) for one in documents], error=None, actual_s=1.0)


def test_a_point_above_half_of_its_tools_ceiling_is_tool_bound_and_one_below_is_not():
    ceilings = [ceiling("p01", 300), ceiling("p02", 100_000)]

    found = result(document("i-1", [270, 330], ceilings), document("i-2", [240, 330], ceilings))

    tool, engine = (point["tool_ceiling"] for point in found["points"])
    # 270 / 300 and 240 / 300: their median is 0.85.
    assert (tool["share"], tool["is_bound"], tool["value"]) == (pytest.approx(0.85), True, 300)
    assert (engine["share"], engine["is_bound"]) == (pytest.approx(0.0033), False)
    assert [warning for warning in found["warnings"] if warning["code"] == "tool-bound"] == [
        {
            "code": "tool-bound",
            "points": ["p01"],
            "metric": "files_per_s",
            "share": pytest.approx(0.85),
            "tool": "parallel",
            "ceiling": 300,
        }
    ]


def test_each_instance_is_held_against_its_own_ceiling():
    slow, fast = document("i-1", [90, 1], [ceiling("p01", 100)]), document("i-2", [90, 1], [ceiling("p01", 900)])

    [tool] = [point["tool_ceiling"] for point in result(slow, fast)["points"] if "tool_ceiling" in point]

    # The median of 0.9 and 0.1.
    assert (tool["share"], tool["value"]) == (pytest.approx(0.5), 500)


def test_a_point_without_a_calibration_has_no_ceiling_and_no_warning():
    found = result(document("i-1", [90, 1], []), document("i-2", [90, 1], [ceiling("p01", 100, "mb_per_s")]))

    assert all("tool_ceiling" not in point for point in found["points"])
    assert not any(warning["code"] == "tool-bound" for warning in found["warnings"])


def test_tables_tell_tool_bound_points_from_those_that_measured_a_storage():
    cell = result(document("i-1", [270, 330], [ceiling("p01", 300)]), document("i-2", [270, 330], []))
    summary = {"run": "r", "environment": "aws", "status": "measured", "cells": [cell], "warnings": []}

    rows = [line for line in to_markdown(summary).splitlines() if line.startswith("| EFS")]
    assert ["| tool-bound |" in row for row in rows] == [True, False]
    header, *lines = to_csv(summary).splitlines()
    column = header.split(",").index("tool_share")
    assert [line.split(",")[column - len(header.split(","))] for line in lines] == ["0.9", ""]


@pytest.mark.parametrize(
    "uploaded",
    [
        "none", {}, [1, None, {}], [{"points": ["p01"], "not_done": "no memory"}],
        [{"points": ["p01"], "metric": "files_per_s", "value": 0}],
        [{"points": ["p01"], "metric": "files_per_s", "value": "NaN"}],
        [{"points": "p01", "metric": "files_per_s", "value": 3}],
    ],
)  # fmt: skip
def test_a_calibration_that_is_none_costs_no_measured_figure(uploaded):
    text = json.dumps(document("i-1", [90, 1], uploaded)).encode()

    found = read_samples(text, instance="i-1", cell=CELL["id"])

    assert found.calibration == []
    assert len(found.samples) == 2
