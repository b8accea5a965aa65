"""The schema of a matrix is that of its models, and the matrices in events/ are good."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
from support.matrices import EVENTS, event_id

from matrix.check.read import read_matrix
from matrix.check.schema import schema_text
from matrix.input.workloads.contract import Clients
from matrix.plan.instance_limits import reach_of
from matrix.plan.planning import plan

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def schema():
    """The schema of a matrix as a validator, made once: pydantic and jsonschema need most of a second for it."""
    schema = json.loads(schema_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_schema_in_docs_is_that_of_the_models():
    kept = (ROOT / "docs" / "matrix.schema.json").read_text(encoding="utf-8")

    assert kept == schema_text(), "run: PYTHONPATH=functions python -m matrix.check.schema > docs/matrix.schema.json"


@pytest.mark.parametrize("path", EVENTS, ids=event_id)
def test_a_matrix_in_events_is_good_within_its_budget(path, schema):
    text = path.read_text(encoding="utf-8")
    checked = read_matrix(text)
    matrix = checked.matrix

    planned = plan(checked)

    assert matrix.name == path.stem
    assert matrix.budget_usd is None or planned.cost.expected <= matrix.budget_usd
    # A budget above the worst case limits nothing; on this machine nothing is spent. One cell needs all of its own.
    if matrix.budget_usd and "local" not in path.parts and len(planned.cells) > 1:
        assert matrix.budget_usd < planned.cost.high
    assert (path.parent / json.loads(text)["$schema"]).resolve() == ROOT / "docs" / "matrix.schema.json"
    schema.validate(json.loads(text))


# Matrices that each answer a question of docs/matrices.md.
QUESTIONS = [path for path in EVENTS if path.parent.name == "events"]


@pytest.mark.parametrize("path", EVENTS, ids=event_id)
def test_a_matrix_in_events_warns_only_of_what_its_reader_should_change(path):
    checked = read_matrix(path.read_text(encoding="utf-8"))

    planned = plan(checked)

    # Whoever else uses the server is disturbed.
    harms = {"existing-storages-come-to-no-harm"} if path.stem == "existing-nfs" else set()
    assert {warning.get("code", warning["path"]) for warning in planned.warnings} == harms
    intended = checked.matrix.intended
    assert {reason for reason in intended.values() if not any(reason in line for line in planned.assumptions)} == set()
    # A question of docs/matrices.md has a verdict.
    own = {"data-exceeds-the-servers-cache", "fresh-flash-is-known", "snapshot-is-of-one-volume"}
    assert path not in QUESTIONS or intended.keys() <= own


@pytest.mark.parametrize("path", QUESTIONS, ids=event_id)
def test_a_step_of_a_question_lasts_long_enough_for_a_rate(path):
    checked = read_matrix(path.read_text(encoding="utf-8"))

    seconds = [
        cell.workload.footprint(point, cell.storage, Clients(cell.fleet.count, reach.most_bytes_per_s)).seconds
        for cell in checked.cells
        for reach in [reach_of(cell.fleet.instance_type, None, cell.storage)]
        for point in (cell.workload.points() if cell.workload.type in {"read", "dd", "fio"} else ())
    ]

    assert min(seconds, default=5) >= 5


def test_a_database_is_larger_than_the_memory_of_its_instance():
    [path] = [path for path in QUESTIONS if path.stem == "database-transactions"]
    matrix = json.loads(path.read_text(encoding="utf-8"))
    memory_gib = {"c6id.xlarge": 8}
    [scale] = re.findall(r"pgbench -h \$SOCKET -i -q -s (\d+)", matrix["workload"][0]["populate"])

    # A row of accounts with its share of the page and of the index: 100,000 of them for each unit of scale are 15 MB.
    assert int(scale) * 15e6 > 1.5 * 2**30 * memory_gib[matrix["fleet"][0]["instanceType"]]


@pytest.mark.parametrize(
    "bad", [{"name": "A"}, {"storage": [{"type": "efs", "throughputmode": "elastic"}]}, {"repetitions": "3"}]
)
def test_the_schema_tells_an_editor_what_is_wrong(bad, schema):
    good = json.loads(EVENTS[0].read_text(encoding="utf-8"))

    with pytest.raises(jsonschema.ValidationError):
        schema.validate(good | bad)


def planned_cells(name):
    return plan(read_matrix((ROOT / "events/published" / name).read_bytes())).to_document()["cells"]


# tests/matrix/published/test_rows.py finds a point for each published row; it does not look at these amounts.
@pytest.mark.parametrize(
    ("name", "amounts"),
    [
        ("efs-tutorial-dd.json", {"data_bytes": 2 * 2**30, "source": "zero"}),
        ("efs-tutorial-transfer.json", {"files": 5000, "file_bytes": 2**20}),
        # What the five copies of the transfer leave.
        ("efs-tutorial-delete.json", {"files": 5 * 5000, "file_bytes": 2**20, "directories": 5}),
    ],
)
def test_a_matrix_of_published_rows_has_the_amounts_of_its_source(name, amounts):
    points = [point["params"] for cell in planned_cells(name) for point in cell["points"]]

    assert points
    assert all(amounts.items() <= params.items() for params in points)


def test_a_burst_is_measured_once_since_a_second_write_would_find_it_used_up():
    assert {len(cell["steps"]) for cell in planned_cells("instance-throughput.json")} == {1}


def test_the_fio_jobs_last_as_long_as_those_of_the_source():
    options = [point["params"]["options"] for cell in planned_cells("ebs-fio.json") for point in cell["points"]]

    assert {(one["bs"] == "1M", one["runtime"]) for one in options} == {(True, 300), (False, 10), (False, 300)}
