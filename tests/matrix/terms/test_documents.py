"""Documents of a run fit their types, whoever writes them, and what does not fit is refused where it is read."""

import inspect
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
from support.matrices import EVENTS, event_id, matrix
from support.runs_for_reports import build_run

from agent import samples as agent_samples
from agent.machine.steady_state import Steadiness
from agent.workloads.trial import Outcome
from matrix.answer.decision import decide
from matrix.answer.results import skipped_result
from matrix.answer.values import values_of
from matrix.plan.planning import plan
from matrix.published.runs import published_run
from matrix.run import job, receipt
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.reading import DOCUMENTS, adapter, parse, read
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.schema import schema_text
from matrix.terms.documents.values import ValuesDocument
from matrix.terms.errors import InvalidDocument

ROOT = Path(__file__).parents[3]
# Documents of a demo run of one cell, as they lay in the bucket.
KEPT = Path(__file__).parent / "documents_of_a_run"
SETTING = {"run": "r1", "mount": {"kind": "root"}, "bucket": "b", "environment": "aws", "now": 1000.0}


@cache
def validator(name):
    """What validates by a document's schema; made once, since it checks the schema itself too."""
    schema = json.loads(schema_text(name))
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def assert_fits(document, name):
    """As JSON, in type and schema, without a key that the type does not have."""
    written = json.loads(json.dumps(document, allow_nan=False))
    adapter(DOCUMENTS[name]).validate_python(written)
    validator(name).validate(written)


def test_each_document_gets_a_schema_that_says_what_it_is(tmp_path):
    # As `make schema` does, in a process of its own: a type that was read for itself here has lost its descriptions.
    folder = tmp_path / "dist" / "schemas"
    subprocess.run([sys.executable, "-m", "matrix.terms.documents.schema", folder], cwd=ROOT / "functions", check=True)

    made = {path.name: json.loads(path.read_text()) for path in folder.iterdir()}
    assert set(made) == {f"{name}.schema.json" for name in DOCUMENTS}
    for schema in made.values():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["description"]


def test_to_read_a_document_no_source_is_read(monkeypatch):
    adapter.cache_clear()
    monkeypatch.setattr(inspect, "getsourcelines", lambda _: pytest.fail("only a schema has to say what keys mean"))

    adapter(DOCUMENTS["receipt"])


def test_to_know_the_input_no_source_is_read():
    code = "import inspect; inspect.getsourcelines = None; import matrix.input.matrix"

    subprocess.run([sys.executable, "-c", code], cwd=ROOT / "functions", check=True)


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_a_document_of_an_earlier_run_is_still_read(path):
    document = json.loads(path.read_text(encoding="utf-8"))

    known = read(DOCUMENTS[path.stem], document, path.name)

    assert known == document


@pytest.mark.parametrize("path", EVENTS, ids=event_id)
def test_the_plan_of_each_example_fits(path):
    assert_fits(plan(matrix_of(path)).to_document(), "plan")


@pytest.mark.parametrize("path", EVENTS, ids=event_id)
def test_the_jobs_of_each_example_fit(path):
    for cell in plan(matrix_of(path)).to_document()["cells"]:
        assert_fits(job.measuring_job(cell=cell, gate_margin_s=5.0, **SETTING), "job")
        assert_fits(job.populating_job(cell=cell, **SETTING), "job")
        assert_fits(job.serving_job(cell=cell, **SETTING), "job")
        assert_fits(job.baking_job(cell=cell, recipe={"packages": ["gcc"]}, **SETTING), "job")


def test_results_summary_and_decision_of_a_run_fit():
    row = {"kind": "efs", "id": "fs-1", "file_system": "efs-bursting", "created_at": 1000.0, "gone_at": 2000.0}
    _, _, planned = run = build_run({"ebs": {1: 900.0, 8: 950.0}, "efs": {1: 1000.0}}, spread=0.2)
    summary, results = run[0], run[1]
    paid = receipt.receipt(run="r1", plan=planned, rows=[row], metered_usd=0.1, now=3000.0, sweep=None, unasked=["x"])
    skip = {"name": "skipped: budget", "message": "too dear"}

    assert_fits(paid, "receipt")
    assert {result["state"] for result in results.values()} == {"measured", "failed"}
    for result in [*results.values(), skipped_result(planned["cells"][0], skip)]:
        assert_fits(result, "result")
    assert_fits(values_of(summary, results), "summary.values")
    objective = {"metric": "duration_s", "percentile": 90, "atMost": 6000}
    assert_fits(
        summary | {"receipt": paid, "decision": decide(summary, results=results, objective=objective)}, "summary"
    )


@pytest.mark.parametrize("change", [
    lambda cell: cell["points"][0]["values"].pop(),
    lambda cell: cell["points"][0]["values"][0].pop(),
    lambda cell: cell["points"][0]["values"][0].append(1.0),
    lambda cell: cell["repetitions"].append(9),
    lambda cell: cell["instances"].pop(),
    lambda cell: cell["launches"].append(0),
])  # fmt: skip
def test_values_that_are_not_of_each_instance_and_repetition_are_refused(change):
    summary, results, _ = build_run({"ebs": {3: 3000.0}})
    document = values_of(summary, results)
    assert read(ValuesDocument, document, "v") == document

    change(document["cells"][0])

    with pytest.raises(InvalidDocument, match=r"^v: ebs"):
        read(ValuesDocument, document, "v")


def test_published_figures_fit_as_a_summary():
    assert_fits(published_run("yocto", "published-yocto"), "summary")


def test_what_an_agent_uploads_fits():
    identity = SimpleNamespace(
        instance_id="i-1", instance_type="m6i.large", availability_zone="us-east-1a", image_id=""
    )
    step = SimpleNamespace(point="p01", repetition=1, number=0)
    tool, steadiness = {"name": "engine"}, Steadiness(60, "steady", 12.0, 0.9)
    outcome = Outcome({"duration_s": 1.0}, {"files": 4}, tool, warnings=["w"], steadiness=steadiness)
    conditions = agent_samples.Conditions(
        None, 10.0, 11.0, worked=(10.1, 10.9), workers=2, caches="dropped", counters={"cpu_s": 1.0}
    )
    host = {"kernel": "6.1", "os": "al2023", "architecture": "x86_64", "cpus": 2, "memory_mib": 8, "python": "3.11"}
    mounted = SimpleNamespace(describe=lambda: dict.fromkeys(("kind", "path", "source", "fstype", "options"), "x"))
    setting = agent_samples.Setting(
        job=SimpleNamespace(run="r", cell="c", environment="aws", emulation=None),
        identity=identity,
        userid="AROA:i-1",
        host={**host, "clock": None},
        mounted=mounted,
        prepared={"installed": [], "seconds": 0.1, "at": 9.0},
        calibration=[{"points": ["p01"], "not_done": "the time was used up"}],
    )

    assert_fits(agent_samples.document(setting, [agent_samples.sample(step, outcome, conditions, [])]), "samples")


def test_a_document_that_does_not_fit_is_refused_with_path_value_and_rule():
    document = json.loads((KEPT / "plan.json").read_text(encoding="utf-8"))
    document["cells"][0]["steps"][1]["repetition"] = "two"

    with pytest.raises(InvalidDocument) as refused:
        read(PlanDocument, document, "runs/r/plan.json")

    assert str(refused.value).startswith(
        'runs/r/plan.json: cells[0].steps[1].repetition: "two" Input should be a valid'
    )
    assert "docs/run.md" in str(refused.value)


def test_a_plan_that_never_was_one_is_refused_as_any_other():
    with pytest.raises(InvalidDocument, match=r"plan\.json: "):
        read(PlanDocument, {"cells": [None, {"cost_usd": 1}], "file_systems": 3}, "plan.json")


def test_a_document_that_lacks_a_key_is_refused_with_its_path():
    with pytest.raises(InvalidDocument, match=r"result\.json: storage: Field required \(and \d+ more\)"):
        read(ResultDocument, {"id": "c", "file_system": "fs"}, "result.json")


@pytest.mark.parametrize(
    "text",
    [
        b'"\\ud800"',
        b"\xef\xbb\xbf{}",
        b"[" * 300 + b"]" * 300,
        b"[-0, -0.0, 18446744073709551616]",
        b'{"a": 1, "a": 2}',
    ],
)
def test_all_json_is_read_with_the_values_of_python(text):
    assert repr(parse(text, "x")) == repr(json.loads(text))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "it is empty"),
        (b"[" * 100_000, "nested too deeply"),
        (b"{]", "Expecting"),
        (b"[NaN]", "NaN is not a number"),
    ],
)
def test_what_is_not_json_is_refused_with_the_reason(text, reason):
    with pytest.raises(InvalidDocument, match=reason):
        parse(text, "x")


def test_a_key_of_a_newer_version_is_read_over():
    document = {**json.loads((KEPT / "job.json").read_text(encoding="utf-8")), "added_later": 1}

    assert read(DOCUMENTS["job"], document, "job.json")["added_later"] == 1


def matrix_of(path):
    return matrix(**json.loads(path.read_text(encoding="utf-8")))
