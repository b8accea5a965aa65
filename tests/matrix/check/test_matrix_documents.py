"""The schema of a matrix is that of its models, and the matrices in events/ are good."""

import json
from pathlib import Path

import jsonschema
import pytest
from support.matrices import EVENTS, event_id

from matrix.check.read import read_matrix
from matrix.check.schema import schema_text
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
    assert (path.parent / json.loads(text)["$schema"]).resolve() == ROOT / "docs" / "matrix.schema.json"
    schema.validate(json.loads(text))


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
