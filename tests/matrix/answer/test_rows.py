"""Rows that answer questions: what a query can ask for stands in each of them, under names that nobody reserves."""

import json
from importlib.resources import files

import pytest
from support.runs_for_reports import build_run, cell_of

from matrix.answer.costs import Bill
from matrix.answer.results import skipped_result
from matrix.answer.rows import COLUMNS, Origin, rows_of, to_json_lines

SUMMARY, RESULTS, PLAN = build_run({"efs": {10: 7200.0}}, spread=0.0)
PLAN |= {"run": "nightly-7", "environment": "aws", "region": "eu-central-1", "created_at": 1_795_370_400.0}
ORIGIN = Origin.of_plan(PLAN)
[RESULT] = RESULTS.values()


def test_a_row_says_what_was_measured_where_when_and_how_well():
    [row] = rows_of(ORIGIN, RESULT, None)

    asked = {
        "run": "nightly-7", "environment": "aws", "aws_region": "eu-central-1", "measured_at": "2026-11-22T18:00:00Z",
        "cell": RESULT["id"], "cell_state": "measured", "storage_id": "efs-bursting", "storage_type": "efs",
        "workload_type": "build", "instance_count": 10, "is_spot": False, "metric": "duration_s", "metric_unit": "s",
        "higher_is_better": False, "is_primary": True, "p50": 7200.0, "sample_count": 30,
    }  # fmt: skip
    assert {name: row.get(name) for name in asked} == asked
    assert row["cell_key"].startswith("aws/efs/build/")
    assert None not in row.values()
    assert not row.keys() & {"usd", "failure", "launches"}


def test_with_a_bill_it_says_what_one_result_and_the_cell_have_cost():
    bill = Bill.of(PLAN, None)
    cell = cell_of(SUMMARY, "efs", 10)

    [row] = rows_of(ORIGIN, RESULT, bill)

    cost = bill.point_cost(cell, cell["points"][0])
    assert (row["usd"], row["usd_per"], row["cell_usd"]) == (cost.usd, "build", bill.cell_usd(cell)[0])


def test_each_point_has_the_ceiling_that_it_hit():
    [row] = rows_of(ORIGIN, {**RESULT, "bottleneck": {"name": "not saturated", "points": {"p01": "volume IOPS"}}}, None)
    [other] = rows_of(ORIGIN, {**RESULT, "bottleneck": {"name": "not saturated", "points": {}}}, None)

    assert (row["ceiling"], other["ceiling"]) == ("volume IOPS", "not saturated")


def test_a_cell_without_figures_has_a_row_that_says_why():
    [cell] = PLAN["cells"]
    skip = {"name": "skipped: budget", "message": "no money"}

    [row] = rows_of(ORIGIN, skipped_result(cell, skip), None)

    assert (row["cell_state"], row["failure"]) == ("skipped", "skipped: budget: no money")
    assert row["cell_key"] == next(rows_of(ORIGIN, RESULT, None))["cell_key"]
    assert row["is_primary"]
    assert not row.keys() & {"point", "metric", "p50"}


@pytest.mark.parametrize("bill", [None, Bill.of(PLAN, None)])
def test_no_name_is_a_word_that_dynamodb_reserves(bill):
    reserved = set((files("moto.dynamodb.parsing") / "reserved_keywords.txt").read_text().split())

    names = {name.upper() for row in rows_of(ORIGIN, RESULT, bill) for name in row}
    assert {"STATE", "REGION"} < reserved
    assert not names & reserved


def test_every_attribute_is_a_column_of_its_type():
    types = {"string": str, "int": int, "boolean": bool, "double": (int, float)}
    [row] = rows_of(ORIGIN, {**RESULT, "bottleneck": {"name": "tool", "points": {}}}, Bill.of(PLAN, None))

    assert row.keys() <= COLUMNS.keys()
    for name, value in row.items():
        assert isinstance(value, types[COLUMNS[name]]) or name == "params", name


def test_a_line_for_athena_is_a_row_with_its_parameters_as_text():
    rows = list(rows_of(ORIGIN, {**RESULT, "points": [{**RESULT["points"][0], "params": {"threads": 4}}]}, None))

    [line] = to_json_lines(rows).splitlines()

    assert json.loads(line) == {**rows[0], "params": '{"threads": 4}'}
