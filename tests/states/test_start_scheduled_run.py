"""Start scheduled run: what it starts, by which name, compared with what; and what it refuses."""

import json

import boto3
import pytest
from botocore.exceptions import ClientError

import start_scheduled_run
from aws.records import bucket
from aws.stack.clients import client
from matrix.terms.errors import ScheduleRefused
from matrix.terms.problems import InvalidMatrix

KEY = "schedules/nightly.json"
MATRIX = {
    "name": "nightly", "storage": [{"type": "ebs", "volumeType": "gp3", "sizeGiB": 8}],
    "workload": [{"type": "touch", "files": 32}], "fleet": [{"instanceType": "m6i.large"}], "budgetUsd": 5,
}  # fmt: skip
DUE = {"scheduledTime": "2026-11-25T01:30:00Z"}
RUN = "nightly-20261125-013000"
DEFINITION = {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}


@pytest.fixture
def start(stack, context, monkeypatch):
    """Let the schedule come due; the answer."""
    machine = boto3.client("stepfunctions").create_state_machine(
        name="run", definition=json.dumps(DEFINITION), roleArn="arn:aws:iam::123456789012:role/run"
    )["stateMachineArn"]
    monkeypatch.setenv("STATE_MACHINE_ARN", machine)
    monkeypatch.setenv("SCHEDULED_MATRIX", KEY)
    monkeypatch.setenv("SCHEDULED_BASELINE", "")
    bucket.put(KEY, MATRIX)
    return lambda due=DUE: start_scheduled_run.handler(due, context)


def given_to(run):
    """The matrix that an execution was started with."""
    states = boto3.client("stepfunctions")
    [found] = [each for each in machines_executions(states) if each["name"] == run]
    return json.loads(states.describe_execution(executionArn=found["executionArn"])["input"])


def machines_executions(states):
    """All executions of the only state machine."""
    [machine] = states.list_state_machines()["stateMachines"]
    return states.list_executions(stateMachineArn=machine["stateMachineArn"])["executions"]


def end(run):
    """Let an execution end: moto's goes on until it is stopped."""
    states = boto3.client("stepfunctions")
    [found] = [each for each in machines_executions(states) if each["name"] == run]
    states.stop_execution(executionArn=found["executionArn"])


def test_the_matrix_is_started_under_a_name_with_its_time_and_the_first_run_is_compared_with_nothing(start):
    assert start() == {"run": RUN, "is_new": True, "compare_with": None}
    assert given_to(RUN) == MATRIX


def test_a_run_is_compared_with_the_newest_one_before_that_was_analysed(start):
    for run, name in (
        ("nightly-20261123-013000", "summary.values.json"),
        ("nightly-20261124-013000", "plan.json"),
        ("nightly-big-20261124-013000", "summary.values.json"),
        ("nightly-20261126-013000", "summary.values.json"),
    ):
        bucket.put(f"runs/{run}/{name}", {})

    assert start()["compare_with"] == "nightly-20261123-013000"
    assert given_to(RUN) == {**MATRIX, "compareWith": "nightly-20261123-013000"}


def test_the_baseline_of_the_stack_counts_before_the_run_before_and_the_matrixs_own_word_before_both(
    start, monkeypatch
):
    bucket.put("runs/nightly-20261123-013000/summary.values.json", {})
    monkeypatch.setenv("SCHEDULED_BASELINE", "release")
    assert start()["compare_with"] == "baseline:release"
    end(RUN)

    bucket.put(KEY, {**MATRIX, "compareWith": "golden"})
    assert start({"scheduledTime": "2026-11-26T01:30:00Z"})["compare_with"] == "golden"


def test_a_run_of_the_schedule_that_still_goes_on_keeps_the_next_from_starting(start):
    start()

    with pytest.raises(ScheduleRefused, match=f"{RUN} of the same matrix still runs"):
        start({"scheduledTime": "2026-11-26T01:30:00Z"})
    end(RUN)
    assert start({"scheduledTime": "2026-11-27T01:30:00Z"})["is_new"]


def test_an_event_that_comes_twice_starts_one_run(start, monkeypatch):
    start()

    def refuse(**_):
        raise client("stepfunctions").exceptions.ExecutionAlreadyExists(
            {"Error": {"Code": "ExecutionAlreadyExists", "Message": ""}}, "StartExecution"
        )

    monkeypatch.setattr(client("stepfunctions"), "start_execution", refuse)
    assert start()["is_new"] is False


@pytest.mark.parametrize(
    ("document", "error", "words"),
    [
        (None, ScheduleRefused, "s3://results/schedules/nightly.json does not exist"),
        ({**MATRIX, "budgetUsd": None}, ScheduleRefused, "budgetUsd is missing"),
        ({**MATRIX, "storage": []}, InvalidMatrix, "storage"),
    ],
)
def test_what_cannot_be_started_is_refused_before_anything_begins(start, document, error, words):
    if document is None:
        boto3.client("s3").delete_object(Bucket="results", Key=KEY)
    else:
        bucket.put(KEY, {name: value for name, value in document.items() if value is not None})

    with pytest.raises(error, match=words):
        start()
    assert machines_executions(boto3.client("stepfunctions")) == []


def test_a_refusal_of_aws_is_not_an_event_that_came_twice(start, monkeypatch):
    def refuse(**_):
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "StartExecution")

    monkeypatch.setattr(client("stepfunctions"), "start_execution", refuse)
    with pytest.raises(ClientError):
        start()
