"""Step Functions: each correction to moto's interpreter."""

import json
import time

import pytest
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import FailureEventException
from moto.stepfunctions.parser.asl.eval.event.event_manager import EventHistoryContext, EventManager
from support.running_cloud import OPERATOR_ROLE

from local.step_functions import failures


def jsonata(start: str, **states) -> dict:
    return {"QueryLanguage": "JSONata", "StartAt": start, "States": states}


def evaluated(expression: str) -> dict:
    """A definition whose output is an expression's value."""
    return jsonata("Say", Say={"Type": "Pass", "Output": "{% " + expression + " %}", "End": True})


@pytest.mark.parametrize("expression", ["$states.input.absent", "1 + 'a'", "$nope()"])
def test_a_failing_expression_is_an_evaluation_error(cloud, expression):
    ended = cloud.execute(f"failing-{time.monotonic_ns()}", evaluated(expression))

    assert (ended["status"], ended["error"]) == ("FAILED", "States.QueryEvaluationError")


def in_map(state: dict, **fields) -> dict:
    """A state that evaluates another one in an inline Map."""
    processor = {"ProcessorConfig": {"Mode": "INLINE"}, "StartAt": "Inner", "States": {"Inner": state | {"End": True}}}
    return {"Type": "Map", "Items": "{% [1] %}", "ItemProcessor": processor, **fields}


def history(cloud, execution: str) -> list[dict]:
    return cloud.client("stepfunctions").get_execution_history(executionArn=execution)["events"]


# 300,000 characters: more than a state may hand on.
TOO_LARGE = {"Type": "Pass", "Output": "{% $join($map([1..3000], function($n) { '" + "x" * 100 + "' })) %}"}


@pytest.mark.parametrize(
    ("catch", "status"),
    [(["States.ALL"], "FAILED"), (["States.TaskFailed"], "FAILED"), (["States.DataLimitExceeded"], "SUCCEEDED")],
)
def test_no_wildcard_catches_a_terminal_error(cloud, catch, status):
    each = in_map(TOO_LARGE, Next="Caught", Catch=[{"ErrorEquals": catch, "Next": "Caught"}])

    ended = cloud.execute(f"terminal-{time.monotonic_ns()}", jsonata("Each", Each=each, Caught={"Type": "Succeed"}))

    assert ended["status"] == status
    if status == "FAILED":
        assert ended["error"] == "States.DataLimitExceeded"


def test_a_full_history_ends_its_execution_and_no_event_is_written_after_it(monkeypatch):
    for name in ("get_execution_failed_event_details", "get_evaluation_failed_event_details"):
        monkeypatch.setattr(FailureEventException, name, getattr(FailureEventException, name))
    monkeypatch.setattr(EventManager, "add_event", EventManager.add_event)  # put back afterwards
    failures._keep_histories()
    failures._say_once_in_which_state()
    events, context = EventManager(), EventHistoryContext.of_program_start()
    for _ in range(24_999):
        events.add_event(context, "PassStateEntered")

    with pytest.raises(FailureEventException) as full:
        events.add_event(context, "PassStateExited")
    events.add_event(context, "MapStateFailed")
    events.add_event(context, "ExecutionFailed")

    cause = "The execution reached the maximum number of history events (25000)."
    assert full.value.get_execution_failed_event_details() == {"error": "States.Runtime", "cause": cause}
    *_, before, last = events.get_event_history()
    assert (before["id"], before["type"], last["id"], last["type"]) == (
        24_999, "PassStateEntered", 25_000, "ExecutionFailed"
    )  # fmt: skip


def distributed(processor: dict, **fields) -> dict:
    """A definition with one distributed Map over the input's items."""
    item_processor = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, **processor}
    each = {"Type": "Map", "Items": "{% $states.input.items %}", "ItemProcessor": item_processor, "End": True, **fields}
    return jsonata("Begin", Begin={"Type": "Pass", "Assign": {"run": "outer"}, "Next": "Each"}, Each=each)


FAIL_ODD = {
    "StartAt": "Odd?",
    "States": {
        "Odd?": {
            "Type": "Choice",
            "Choices": [{"Condition": "{% $states.input % 2 = 1 %}", "Next": "Refuse"}],
            "Default": "Keep",
        },
        "Refuse": {"Type": "Fail", "Error": "OddNumber", "Cause": "{% 'it is ' & $string($states.input) %}"},
        "Keep": {"Type": "Succeed"},
    },
}


def test_children_of_a_distributed_map_have_whole_histories_and_ends(cloud):
    selector = {"ItemSelector": {"n": "{% $states.context.Map.Item.Value + 1 %}"}}
    fail_odd = json.loads(json.dumps(FAIL_ODD).replace("$states.input", "$states.input.n"))
    definition = distributed(fail_odd, ToleratedFailurePercentage=100, **selector)
    ended = cloud.execute("children", definition, {"items": [1, 2, 4]})
    assert ended["status"] == "SUCCEEDED"
    execution = ended["executionArn"]
    states = cloud.client("stepfunctions")
    [map_run] = states.list_map_runs(executionArn=execution)["mapRuns"]

    listed = states.list_executions(mapRunArn=map_run["mapRunArn"])["executions"]
    children = [states.describe_execution(executionArn=child["executionArn"]) for child in listed]
    described = {json.loads(child["input"])["n"]: child for child in children}

    assert {value: child["status"] for value, child in described.items()} == {
        2: "SUCCEEDED",
        3: "FAILED",
        5: "FAILED",
    }
    assert json.loads(described[2]["output"]) == {"n": 2}
    assert (described[3]["error"], described[3]["cause"]) == ("OddNumber", "it is 3")
    events = history(cloud, described[3]["executionArn"])
    first, last = events[0], events[-1]
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert (first["type"], first["previousEventId"], json.loads(first["executionStartedEventDetails"]["input"])) == (
        "ExecutionStarted", 0, {"n": 3}
    )  # fmt: skip
    assert (last["type"], last["executionFailedEventDetails"]) == (
        "ExecutionFailed", {"error": "OddNumber", "cause": "it is 3"}
    )  # fmt: skip
    last = history(cloud, described[2]["executionArn"])[-1]
    assert (last["type"], last["executionSucceededEventDetails"]["output"]) == (
        "ExecutionSucceeded",
        described[2]["output"],
    )


@pytest.mark.parametrize("mode", ["DISTRIBUTED", "INLINE"])
def test_an_execution_stopped_in_a_map_is_aborted_at_once_with_its_cause(cloud, mode):
    states = cloud.client("stepfunctions")
    wait = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 4000, "End": True}}}
    definition = distributed(wait)
    definition["States"]["Each"]["ItemProcessor"]["ProcessorConfig"] = (
        {"Mode": "INLINE"} if mode == "INLINE" else {"Mode": mode, "ExecutionType": "STANDARD"}
    )
    machine = states.create_state_machine(
        name=f"stopped-{mode}", definition=json.dumps(definition), roleArn=OPERATOR_ROLE
    )
    execution = states.start_execution(stateMachineArn=machine["stateMachineArn"], input='{"items": [1, 2]}')[
        "executionArn"
    ]
    time.sleep(0.5)

    states.stop_execution(executionArn=execution, error="Stopped", cause="by the test")
    at_once = states.describe_execution(executionArn=execution)
    time.sleep(1)  # the interrupted iterations must not overwrite it

    assert at_once["status"] == "ABORTED"
    ended = states.describe_execution(executionArn=execution)
    assert (ended["status"], ended["error"], ended["cause"]) == ("ABORTED", "Stopped", "by the test")
    for listed in states.list_map_runs(executionArn=execution)["mapRuns"]:
        for child in states.list_executions(mapRunArn=listed["mapRunArn"])["executions"]:
            assert history(cloud, child["executionArn"])[-1]["type"] == "ExecutionAborted"


def test_an_execution_keeps_the_trace_header_of_the_call_that_started_it(cloud):
    states = cloud.client("stepfunctions")
    definition = json.dumps({"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 60, "End": True}}})
    machine = states.create_state_machine(name="traced", definition=definition, roleArn=OPERATOR_ROLE)[
        "stateMachineArn"
    ]

    arns = {
        states.start_execution(stateMachineArn=machine, name="one", input="{}", traceHeader=header)["executionArn"]
        for header in ("Root=1-1", "Root=1-2")
    }

    (arn,) = arns
    assert states.describe_execution(executionArn=arn)["traceHeader"] == "Root=1-1"
    states.stop_execution(executionArn=arn)


def test_a_validation_says_what_a_creation_would_refuse_and_creates_nothing(cloud):
    states = cloud.client("stepfunctions")
    before = states.list_state_machines()["stateMachines"]
    good, bad = {"Type": "Succeed"}, {"Type": "Nothing"}

    results = [
        states.validate_state_machine_definition(definition=json.dumps({"StartAt": "A", "States": {"A": state}}))
        for state in (good, bad)
    ]

    assert [result["result"] for result in results] == ["OK", "FAIL"]
    assert results[0]["diagnostics"] == []
    assert "Nothing" in results[1]["diagnostics"][0]["message"]
    assert states.list_state_machines()["stateMachines"] == before
