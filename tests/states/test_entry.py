"""What functions log says which run and cell it is about, so that Logs Insights can filter by them."""

import io
import json
from pathlib import Path

import botocore
import pytest
from aws_lambda_powertools import Logger
from botocore.exceptions import ClientError
from support.refusals import refusal

from aws.stack import entry
from matrix.terms.errors import Throttled


@pytest.fixture
def lines(monkeypatch):
    """What was logged since this was asked last, each line as Lambda gets it."""
    written = io.StringIO()
    monkeypatch.setattr(Logger().registered_handler, "stream", written)

    def taken():
        texts = written.getvalue().splitlines()
        written.seek(0)
        written.truncate()
        return [json.loads(text) for text in texts]

    return taken


def test_lambda_enters_every_function_by_it():
    functions = {path.name: path.read_text() for path in Path(entry.__file__).parents[2].glob("*.py")}

    assert len(functions) > 10
    assert [name for name, text in functions.items() if "@entry\ndef handler(" not in text] == []


@entry.entry
def handler(event, _context):
    """Log as a handler does, and as what it calls does."""
    Logger().info("begun")
    Logger().warning("below", more=1)
    if event.get("fails"):
        raise event.get("as", RuntimeError("no such thing"))
    return {"state": "done"}


def test_every_line_has_the_run_and_what_of_it_the_event_names(lines, context):
    assert handler({"run": "r1", "cell": "efs.touch", "poll_s": 10}, context) == {"state": "done"}

    logged = lines()
    assert [(line["message"], line["run"], line["cell"]) for line in logged] == [
        ("begun", "r1", "efs.touch"),
        ("below", "r1", "efs.touch"),
    ]
    assert not any("poll_s" in line or "file_system" in line for line in logged)


def test_a_line_has_nothing_of_the_invocation_before(lines, context):
    handler({"run": "r1", "cell": "efs.touch"}, context)
    lines()
    handler({"run": "r2", "file_system": "ebs"}, context)

    assert {(line["run"], line.get("cell"), line["file_system"]) for line in lines()} == {("r2", None, "ebs")}


def test_every_line_has_the_release_of_botocore_that_the_function_runs_with(lines, context):
    handler({"run": "r1"}, context)

    assert {line["botocore"] for line in lines()} == {botocore.__version__}


def test_an_error_is_logged_by_its_name_with_the_run_and_still_raised(lines, context):
    with pytest.raises(RuntimeError):
        handler({"run": "r1", "cell": "efs.touch", "fails": True}, context)

    last = lines()[-1]
    assert (last["level"], last["run"], last["cell"]) == ("ERROR", "r1", "efs.touch")
    assert last["error"] == {"name": "RuntimeError", "message": "no such thing"}


@pytest.mark.parametrize("code", ["RequestLimitExceeded", "ThrottlingException"])
def test_throttling_that_outlasts_the_client_has_a_name_that_the_state_machine_knows(context, code):
    with pytest.raises(Throttled, match=code):
        handler({"fails": True, "as": refusal(code)}, context)
    with pytest.raises(ClientError):
        handler({"fails": True, "as": refusal("UnauthorizedOperation")}, context)


def test_the_event_of_a_runs_end_calls_the_run_by_another_name_and_a_sweep_of_all_names_none(lines, context):
    handler({"source": "aws.states", "detail": {"name": "r1", "status": "ABORTED"}}, context)
    assert {line["run"] for line in lines()} == {"r1"}

    handler({"dryRun": True}, context)
    assert not any("run" in line for line in lines())
