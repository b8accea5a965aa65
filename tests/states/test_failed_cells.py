"""Record failed cell: whatever was measured before it failed is kept."""

import json

import pytest
from support.function_events import RUN

import record_failed_cell
from aws.records import bucket, table
from aws.run.failures import readable
from matrix.terms.keys import Board


@pytest.fixture
def cell(planned):
    """A cell of a run that is planned."""
    return planned["cells"][0]


def upload(cell, instance):
    """Samples of the first step, as an instance uploads them."""
    sample = {"point": cell["points"][0]["id"], "repetition": 1, "step": 0, "started_at": 1.0, "ended_at": 2.0}
    document = {"schema": 1, "run": RUN, "cell": cell["id"], "instance": {"id": instance, "type": "m6i.large"}}
    samples = [{**sample, "metrics": {"files_per_s": 64.0, "duration_s": 1.0}}]
    key = f"{Board.of_cell(RUN, cell['id']).instances}AROA:{instance}/samples.json"
    bucket.put(key, document | {"samples": samples})


def test_samples_of_a_launch_that_failed_half_way_count(cell, context):
    table.record_resource(RUN, "instance", "i-1", file_system=cell["file_system"], cell=cell["id"])
    upload(cell, "i-1")
    upload(cell, "i-of-somebody-else")

    event = {"run": RUN, "cell": cell["id"], "failure": {"Error": "ClientError", "Cause": "denied"}}
    record_failed_cell.handler(event, context)

    result = bucket.get(Board.of_cell(RUN, cell["id"]).result)
    assert (result["state"], result["error"]["name"]) == ("failed", "ClientError")
    assert result["points"][0]["metrics"]["files_per_s"]["n"] == 1


@pytest.mark.parametrize(
    ("name", "message", "advice"),
    [
        (
            "ClientError",
            "An error occurred (UnauthorizedOperation) when calling the RunInstances operation",
            "`matrix verify` says which right is missing",
        ),
        ("AccessDenied", "An error occurred (AccessDenied) when calling the GetObject operation", "matrix verify"),
        ("Lambda.TooManyRequestsException", "Rate exceeded", "resume the run later, or with a lower"),
        (
            "ClientError",
            "An error occurred (SlowDown) when calling PutObject (reached max retries: 9)",
            "resume the run",
        ),
        ("Lambda.ServiceException", "", "resume the run later"),
        ("LaunchThrottled", "RequestLimitExceeded; lower maxConcurrentFileSystems or try later", ""),  # says it itself
        ("KeyError", "'x'", ""),
    ],
)
def test_an_error_in_aws_words_is_recorded_with_what_to_do(name, message, advice):
    said = readable({"Error": name, "Cause": json.dumps({"errorMessage": message})})["message"]

    assert said.startswith(message)
    assert advice in said
    assert bool(advice) is (said != message)
