"""Plan matrix of a run that the schedule started: which matrix, compared with what; and what it refuses."""

import json

import boto3
import pytest
from moto.core import DEFAULT_ACCOUNT_ID as ACCOUNT_ID
from moto.stepfunctions.models import stepfunctions_backends
from support.function_events import load_event

import plan_matrix
from aws.records import bucket
from matrix.terms.errors import ScheduleRefused
from matrix.terms.problems import InvalidMatrix

KEY = "schedules/nightly.json"
MATRIX = {
    "name": "nightly", "storage": [{"type": "ebs", "volumeType": "gp3", "sizeGiB": 8}],
    "workload": [{"type": "touch", "files": 32}], "fleet": [{"instanceType": "m6i.large"}], "budgetUsd": 5,
}  # fmt: skip
DEFINITION = {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}


class Schedule:
    """A state machine whose executions go on until `end`: moto has no interpreter here."""

    def __init__(self, context):
        self._context = context
        self._states = boto3.client("stepfunctions")
        self._machine = self._states.create_state_machine(
            name="run", definition=json.dumps(DEFINITION), roleArn="arn:aws:iam::123456789012:role/run"
        )["stateMachineArn"]

    def start(self, run, at="2026-11-25T01:30:00Z", baseline=""):
        """Start a run as the schedule does; its matrix in the bucket."""
        given = {"scheduled": {"matrix": "nightly", "at": at, "baseline": baseline}}
        arn = self._states.start_execution(stateMachineArn=self._machine, name=run, input=json.dumps(given))
        event = {"run": run, "execution_arn": arn["executionArn"], "matrix": given}
        plan_matrix.handler(event, self._context)
        return bucket.get(f"runs/{run}/matrix.json")

    def end(self, run, *, is_analysed=False, is_whole=True):
        """Let a run end, with or without what it would be compared by, and with or without all of its cells."""
        arn = self._machine.replace(":stateMachine:", ":execution:") + f":{run}"
        self._states.stop_execution(executionArn=arn)
        [machine] = stepfunctions_backends[ACCOUNT_ID][self._states.meta.region_name].state_machines
        [execution] = [each for each in machine.executions if each.execution_arn == arn]
        execution.status = "SUCCEEDED" if is_whole else "FAILED"
        if is_analysed:
            bucket.put(f"runs/{run}/summary.values.json", {})


@pytest.fixture
def schedule(stack, context):
    bucket.put(KEY, MATRIX)
    return Schedule(context)


def test_the_matrix_of_the_bucket_is_planned_and_the_first_run_is_compared_with_nothing(schedule):
    assert schedule.start("nightly-scheduled-1") == MATRIX


def test_a_run_is_compared_with_the_newest_scheduled_one_before_that_was_analysed(schedule):
    for day, (run, is_analysed) in enumerate(
        {"nightly-scheduled-9": True, "nightly-scheduled-5": True, "nightly-scheduled-7": False}.items()
    ):
        schedule.start(run, f"2026-11-2{day}T01:30:00Z")
        schedule.end(run, is_analysed=is_analysed)
    bucket.put("runs/nightly-20261124-013000-4f/summary.values.json", {})

    assert schedule.start("nightly-scheduled-8")["compareWith"] == "nightly-scheduled-5"
    assert bucket.get("runs/nightly-scheduled-8/plan.json")["compare_with"] == "nightly-scheduled-5"


@pytest.mark.parametrize(
    ("whole", "base"), [([1, 2], "nightly-scheduled-2"), ([1], "nightly-scheduled-1"), ([], "nightly-scheduled-3")]
)
def test_a_run_that_lacks_cells_is_no_base_while_a_recent_one_has_them(schedule, whole, base):
    for night in (1, 2, 3):
        schedule.start(f"nightly-scheduled-{night}", f"2026-11-2{night}T01:30:00Z")
        schedule.end(f"nightly-scheduled-{night}", is_analysed=True, is_whole=night in whole)

    assert schedule.start("nightly-scheduled-4")["compareWith"] == base


def test_the_baseline_of_the_stack_counts_before_the_run_before_and_the_matrixs_own_word_before_both(schedule):
    schedule.start("nightly-scheduled-1", "2026-11-24T01:30:00Z")
    schedule.end("nightly-scheduled-1", is_analysed=True)
    assert schedule.start("nightly-scheduled-2", baseline="release")["compareWith"] == "baseline:release"
    schedule.end("nightly-scheduled-2")

    bucket.put(KEY, {**MATRIX, "compareWith": "golden"})
    again = schedule.start("nightly-scheduled-3", "2026-11-26T01:30:00Z", baseline="release")
    assert again["compareWith"] == "golden"


def test_a_run_of_the_schedule_that_still_goes_on_keeps_the_next_from_measuring(schedule):
    schedule.start("nightly-scheduled-1")

    with pytest.raises(ScheduleRefused, match="nightly-scheduled-1 of the same schedule still runs"):
        schedule.start("nightly-scheduled-2", "2026-11-26T01:30:00Z")
    assert bucket.get("runs/nightly-scheduled-2/plan.json") is None
    schedule.end("nightly-scheduled-1")
    schedule.end("nightly-scheduled-2")
    assert schedule.start("nightly-scheduled-3", "2026-11-27T01:30:00Z")


def test_a_time_that_is_delivered_twice_is_measured_once(schedule):
    schedule.start("nightly-scheduled-1")
    schedule.end("nightly-scheduled-1")

    with pytest.raises(ScheduleRefused, match="nightly-scheduled-1 was started for 2026-11-25T01:30:00Z already"):
        schedule.start("nightly-scheduled-2")


def test_of_two_that_started_together_the_first_goes_on_though_it_is_planned_last(schedule, context):
    """Planned again, as after a lost answer of Lambda: the later one is no reason."""
    schedule.start("nightly-scheduled-1")
    with pytest.raises(ScheduleRefused):
        schedule.start("nightly-scheduled-2")

    [first] = [
        execution["executionArn"]
        for execution in boto3.client("stepfunctions").list_executions(stateMachineArn=schedule._machine)["executions"]
        if execution["name"] == "nightly-scheduled-1"
    ]
    given = {"scheduled": {"matrix": "nightly", "at": "2026-11-25T01:30:00Z", "baseline": ""}}
    event = load_event("plan_matrix") | {"run": "nightly-scheduled-1", "execution_arn": first, "matrix": given}
    assert plan_matrix.handler(event, context)["totals"]["cells"] == 1


@pytest.mark.parametrize(
    ("document", "error", "words"),
    [
        (None, ScheduleRefused, "s3://results/schedules/nightly.json does not exist"),
        ({**MATRIX, "budgetUsd": None}, ScheduleRefused, "budgetUsd is missing"),
        ({**MATRIX, "storage": []}, InvalidMatrix, "storage"),
        ([], InvalidMatrix, "must be a JSON object"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_begins(schedule, document, error, words):
    if document is None:
        boto3.client("s3").delete_object(Bucket="results", Key=KEY)
    elif isinstance(document, dict):
        bucket.put(KEY, {name: value for name, value in document.items() if value is not None})
    else:
        bucket.put(KEY, document)

    with pytest.raises(error, match=words):
        schedule.start("nightly-scheduled-1")
    assert list(bucket.listing("runs/")) == []


@pytest.mark.parametrize("by_hand", [{}, {"matrix": "nightly"}, "nightly"])
def test_an_input_that_no_schedule_would_give_is_refused_as_a_matrix(stack, context, by_hand):
    with pytest.raises(InvalidMatrix, match="scheduled"):
        plan_matrix.handler(load_event("plan_matrix") | {"matrix": {"scheduled": by_hand}}, context)
