"""`matrix costs`: of the runs kept here, and of all runs in a stack's bucket."""

import csv
import io
import json

import pytest
from support.cli_documents import plan_document

from cli.target import deployment

TOTALS = {"resources": 1, "gone": 1, "resources_usd": 1.0, "metered_usd": 0.5}


def documents(owner, usd):
    """Plan and receipt of a run of November 2026."""
    plan = {**plan_document(), "owner": owner, "created_at": 1_795_370_400.0, "environment": "aws", "run": "r"}
    receipt = {"schema": 1, "run": "r", "at": 1.0, "is_complete": True, "resources": [], "sweep": None,
               "totals": {**TOTALS, "cost_usd": usd}}  # fmt: skip
    return {"plan.json": plan, "receipt.json": receipt}


@pytest.fixture
def kept(keep_run):
    """Keep runs of two owners here."""
    for number, (owner, usd) in enumerate([("a", 1.5), ("a", 2.25), ("b", 10.0)]):
        folder = keep_run(f"run-{number}", environment="aws")
        for name, document in documents(owner, usd).items():
            (folder / name).write_text(json.dumps(document))
    return folder


def test_runs_kept_here_are_summed_and_it_is_said_that_nothing_was_paid(kept, matrix):
    said = matrix("costs")

    assert said.exit_code == 0
    assert [line.split() for line in said.stdout.splitlines()[1:]] == [
        ["b", "small", "2026-11", "1", "$10.00"],
        ["a", "small", "2026-11", "2", "$3.75"],
        ["3", "runs", "would", "have", "cost", "$13.75", "on", "AWS"],
    ]


def test_programs_get_json_and_csv(kept, matrix):
    rows = json.loads(matrix("costs", "--json").stdout)
    table = list(csv.DictReader(io.StringIO(matrix("costs", "--format", "csv").stdout)))

    assert {row["owner"]: row["cost_usd"] for row in rows} == {"a": 3.75, "b": 10.0}
    assert {row["owner"]: float(row["cost_usd"]) for row in table} == {"a": 3.75, "b": 10.0}


def test_a_damaged_receipt_is_named_and_the_others_are_summed(kept, matrix):
    (kept / "receipt.json").write_text("{")

    said = matrix("costs", "--json")

    assert said.exit_code == 1
    assert [row["owner"] for row in json.loads(said.stdout)] == ["a"]
    assert "receipt.json" in said.stderr


def test_all_runs_in_the_bucket_of_a_stack_count_also_those_that_step_functions_has_forgotten(
    cloud, matrix, monkeypatch
):
    deployed = deployment.running_local_cloud()
    monkeypatch.setattr(deployment, "deployed_stack", lambda *_: deployed)
    for run, owner, usd in (("forgotten", "a", 1.5), ("newest", "a", 2.0)):
        for name, document in documents(owner, usd).items():
            cloud.write_document(run, name, document)
    cloud.write_document("planned-only", "plan.json", documents("a", 0)["plan.json"])

    [row] = json.loads(matrix("costs", "--stack", "mine", "--json").stdout)

    assert (row["runs"], row["cost_usd"]) == (2, 3.5)


def test_without_a_receipt_there_is_nothing_to_sum(matrix):
    said = matrix("costs")

    assert (said.exit_code, said.stdout) == (0, "")
    assert "no run has a receipt here" in said.stderr
