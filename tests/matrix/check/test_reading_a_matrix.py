"""Reading a matrix: strict about types, silent about nothing, and never a traceback."""

import json

import pytest
from support.hostile import made
from support.matrices import EBS, TOUCH, document, matrix, problems_of, problems_of_text

from matrix.check.cells import ParsedMatrix
from matrix.check.read import check_matrix, read_matrix
from matrix.terms.problems import InvalidMatrix


def test_the_smallest_matrix_gets_its_defaults():
    read = matrix().matrix

    assert (read.repetitions, read.order, read.max_concurrent_file_systems, read.dry_run) == (3, "random", 4, False)
    assert read.budget_usd is None
    assert read.seed is None


def test_a_matrix_with_ten_different_mistakes_lists_all_ten():
    # One mistake each in: a limit of gp3, a mode of EFS, a value of FSx, a misspelt key, a type, a sum of a workload,
    # an unknown kind of workload, a count, the repetitions, the budget.
    found = problems_of(
        storage=[
            {"type": "ebs", "volumeType": "gp3", "sizeGiB": 10, "iops": 20000},
            {"type": "efs", "performanceMode": "maxIO", "throughputMode": "elastic"},
            {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 300},
            {"type": "ebs", "volumetype": "gp3", "sizeGiB": 100},
            {"type": "ebs", "volumeType": "gp2", "sizeGiB": "100"},
        ],
        workload=[{"type": "touch", "files": 1000, "threads": 3}, {"type": "tuoch", "files": 1}],
        fleet=[{"instanceType": "m6i.large", "count": 0}],
        repetitions=0,
        budgetUsd=-1,
    )

    assert list(found) == [
        "storage[0].iops",
        "storage[1].performanceMode",
        "storage[2].throughputCapacityMBps",
        "storage[3].volumetype",
        "storage[4].sizeGiB",
        "workload[0].files",
        "workload[1].type",
        "fleet[0].count",
        "repetitions",
        "budgetUsd",
    ]
    assert found["storage[0].iops"].rule == "needs at least 40 GiB (500 IOPS/GiB), got 10"
    assert found["storage[0].iops"].value == 20000
    assert found["storage[3].volumetype"].fix == "did you mean volumeType?"
    assert found["workload[1].type"].fix == "did you mean touch?"
    assert all(problem.rule and problem.fix for problem in found.values())


def test_a_wrong_type_hides_neither_the_limits_of_other_parts_nor_those_of_the_whole_matrix():
    found = problems_of(
        storage=[
            {"type": "ebs", "volumeType": "gp3", "sizeGiB": 10, "throughputMiBps": "125"},
            {"type": "ebs", "volumeType": "gp3", "sizeGiB": 10, "iops": 20000},
            EBS,
            EBS,
        ],
        workload=[
            {"type": "touch"},
            TOUCH,
            {"type": "dd", "dataSize": "400GiB"},
            {"type": "read", "requests": 8, "data": "neighbour"},
        ],
    )

    assert {path: problem.code for path, problem in found.items()} == {
        "storage[0].throughputMiBps": "int-type",
        "storage[1].iops": "iops-fit-the-size",
        "storage[3]": "cells-are-different",
        "workload[0].files": "missing",
        "workload[2].dataSize": "data-fits-on-the-storage",
        "workload[3].requestSize": "missing",
    }
    assert "storage[2]" in found["storage[3]"].rule


def test_a_setting_with_a_wrong_type_is_not_answered_as_if_it_were_left_out():
    build = {"type": "yocto", "image": "core-image-sato", "container": "storage-matrix/build"}

    found = problems_of(workload=[build], image={"dockerfile": "FROM debian:12", "os": "beos"})

    assert list(found) == ["image.os"]


def test_an_exclude_that_matches_nothing_is_not_said_while_a_storage_cannot_be_read():
    found = problems_of(storage=[EBS, {"type": "efs", "throughputMode": 3}], exclude=[{"storage": {"type": "efs"}}])

    assert list(found) == ["storage[1].throughputMode"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "is empty"),
        ("{", "is not JSON"),
        ("[1]", "must be a JSON object"),
        ("null", "must be a JSON object"),
        ('{"name": NaN}', "is not JSON number"),
        ('{"name": -Infinity}', "is not JSON number"),
        ('{"name": "a", "name": "b"}', "has keys twice"),
        ("[" * 100_000 + "]" * 100_000, "is nested too deeply"),
        ('{"a":' * 30 + "1" + "}" * 30, "is nested more than 20 deep"),
        ('{"seed": ' + "9" * 5_000 + "}", "holds a number that cannot be read"),
        (b"\xff\xfe{}", "is not UTF-8"),
        (lambda: " " * 10_000_000, "has 10,000,000 bytes"),
    ],
)
def test_what_is_not_a_matrix_at_all_is_one_clear_problem(text, rule):
    found = problems_of_text(made(text))

    assert len(found) == 1
    assert rule in found[""].rule


def test_a_comma_too_many_is_named_and_shown():
    found = problems_of_text('{"name": "a",\n "fleet": [{"count": 1},\n ]}')

    assert found[""].rule == "is not JSON at line 2, column 24: a comma stands before ]"
    assert found[""].value == ' "fleet": [{"count": 1}⟨here⟩,'
    assert "remove the comma" in found[""].fix


def test_infinity_and_huge_integers_are_refused_where_they_stand():
    text = json.dumps(document(budgetUsd=1)).replace('"budgetUsd": 1', '"budgetUsd": 1e999, "seed": ' + "9" * 400)

    found = problems_of_text(text)

    assert set(found) == {"budgetUsd", "seed"}


def test_problems_can_be_printed_anywhere_whatever_the_input_holds():
    found = problems_of_text(
        json.dumps(document() | {"\ud800\x1b[31m": "\ud800\x1b[31m" * 100, "name": "\x1b]0;x\x07"})
    )

    for problem in found.values():
        assert str(problem).isprintable()
        json.dumps(problem.to_document()).encode()


def test_a_hostile_input_cannot_make_the_answer_huge():
    found = InvalidMatrix
    try:
        check_matrix(document(storage=[{f"k{i}": 1, "type": "ebs"} for i in range(1000)]))
    except InvalidMatrix as error:
        found = error

    assert len(found.to_document()["problems"]) == 200
    assert found.to_document()["further_problems"] > 0


def test_a_million_cells_are_refused_without_being_made():
    storages = [EBS | {"sizeGiB": 100 + i} for i in range(100)]
    workloads = [TOUCH | {"files": 1024 * i} for i in range(1, 101)]

    found = problems_of(
        storage=storages, workload=workloads, fleet=[{"instanceType": "m6i.large", "count": list(range(1, 101))}]
    )

    assert found["storage"].value == 1_000_000
    assert "repetitions" in found


def test_a_million_cells_are_not_made_to_look_for_more_beside_another_mistake(monkeypatch):
    monkeypatch.setattr(ParsedMatrix, "cells", property(lambda _: pytest.fail("made them")))
    fleet = [{"instanceType": "m6i.large", "count": list(range(1, 101))}] * 300

    assert {"colour", "storage"} == problems_of(fleet=fleet, colour="red").keys()


def test_a_byte_order_mark_and_a_schema_address_are_allowed():
    text = b"\xef\xbb\xbf" + json.dumps(document() | {"$schema": "https://example.org/matrix.schema.json"}).encode()

    assert read_matrix(text).matrix.name == "test"
