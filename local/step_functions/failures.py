"""Errors of executions as on AWS: which ones a Catch may catch, their names, and their events in histories.

The Step Functions guide ("Handling errors in Step Functions workflows", error names) states that `States.ALL` cannot
catch the terminal error States.DataLimitExceeded and errors of the type Runtime; in moto it catches all.
"""

import functools
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from moto.stepfunctions import responses
from moto.stepfunctions.parser.api import HistoryEventType
from moto.stepfunctions.parser.asl.component.common.error_name.custom_error_name import CustomErrorName
from moto.stepfunctions.parser.asl.component.common.error_name.error_equals_decl import ErrorEqualsDecl
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import FailureEvent, FailureEventException
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name import StatesErrorName
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name_type import StatesErrorNameType
from moto.stepfunctions.parser.asl.component.state.exec.state_map.iteration import iteration_worker
from moto.stepfunctions.parser.asl.eval.event.event_manager import EventManager

TERMINAL = ("States.DataLimitExceeded", "States.Runtime")
# Step Functions guide, quotas: events in the history of a Standard execution. The last one is its failure.
MAX_EVENTS = 25_000
HISTORY_FULL = f"The execution reached the maximum number of history events ({MAX_EVENTS})."
ENDS = ("ExecutionSucceeded", "ExecutionFailed", "ExecutionAborted", "ExecutionTimedOut")
IN_STATE = "An error occurred while executing the state "


def install() -> None:
    _leave_terminal_errors_uncaught()
    _name_errors_of_iterations()
    _keep_histories()
    _say_once_in_which_state()


def of_expression(env: Any, expression: str, problem: str) -> FailureEventException:
    """Return the failure of a JSONata expression, which is in the history already; it `threw …` or `returned …`."""
    state = env.next_state_name
    location = _location(env, expression)
    field = f" specified for the field '{location}'" if location else ""
    entered = f"(entered at the event id #{env.event_history_context.source_event_id})"
    cause = f"{IN_STATE}'{state}' {entered}. The JSONata expression '{expression}'{field} {problem}"
    error = StatesErrorName(typ=StatesErrorNameType.StatesQueryEvaluationError)
    failed = {"error": error.error_name, "cause": cause, "state": state} | ({"location": location} if location else {})
    # moto's EventDetails is a dictionary that wants all kinds of details at once
    details: Any = {"evaluationFailedEventDetails": failed}
    event_type = HistoryEventType.EvaluationFailed
    failure = FailureEvent(env=env, error_name=error, event_type=event_type, event_details=details)
    env.event_manager.add_event(context=env.event_history_context, event_type=event_type, event_details=details)
    return FailureEventException(failure)


def _location(env: Any, expression: str) -> str | None:
    """Return the path of the expression in its state, such as `Arguments/Payload/run`; the first of several."""
    execution_arn = env.states.context_object.context_object_data["Execution"]["Id"]
    _, _, _, region, account, *_ = execution_arn.split(":")
    backend: Any = responses.get_backend(account, region)
    definition = json.loads(backend.describe_execution(execution_arn).state_machine.definition)
    state = next((state for name, state in _states(definition) if name == env.next_state_name), {})
    places = (
        place for place, text in _texts(state) if text.removeprefix("{%").removesuffix("%}").strip() == expression
    )
    return next(places, None)


def _states(machine: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all states of a machine with their names, including nested ones; AWS requires unique names."""
    for name, state in machine.get("States", {}).items():
        yield name, state
        for nested in [state.get("ItemProcessor", {}), *state.get("Branches", [])]:
            yield from _states(nested)


def _texts(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield the strings of a state with their paths, without those of nested machines."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, child in value.items():
            if key != "States":
                yield from _texts(child, f"{place}/{key}" if place else key)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _texts(child, f"{place}[{index}]")


def _leave_terminal_errors_uncaught() -> None:
    """Let the wildcards States.ALL and States.TaskFailed not match terminal errors; their own names do."""
    evaluate = ErrorEqualsDecl._eval_body

    def evaluate_unless_terminal(self: Any, env: Any) -> None:
        error = env.stack[-1].error_name
        evaluate(self, env)
        if error in TERMINAL and error not in [name.error_name for name in self.error_names]:
            env.stack[-1] = False

    ErrorEqualsDecl._eval_body = evaluate_unless_terminal


def _name_errors_of_iterations() -> None:
    """Let a States.* error of an iteration keep its name in the Map: moto takes it for a custom one, and refuses it."""

    def error_name(error_name: str) -> Any:
        is_of_states = error_name.startswith("States.")
        return StatesErrorName.from_name(error_name) if is_of_states else CustomErrorName(error_name)

    iteration_worker.CustomErrorName = error_name


def _keep_histories() -> None:
    """Write a failed evaluation once (moto: again where a state catches), and let a full history end its execution."""
    add = EventManager.add_event

    @functools.wraps(add)
    def add_once(self: Any, context: Any, event_type: Any, event_details: Any = None, **more: Any) -> int:
        failed = (event_details or {}).get("evaluationFailedEventDetails")
        written = vars(self).setdefault("written_failures", [])
        if failed is not None and any(failed is earlier for earlier in written):
            return int(context.last_published_event_id)
        if len(self._history_event_list) >= MAX_EVENTS - 1 and event_type not in ENDS:
            if not vars(self).get("is_full"):
                self.is_full = True
                raise history_full(context)
            return int(context.last_published_event_id)
        written += [failed] if failed is not None else []
        return int(add(self, context, event_type, event_details, **more))

    EventManager.add_event = add_once


def history_full(context: Any) -> FailureEventException:
    """Return the failure of an execution whose history is full; its state is not named, as on AWS."""
    error = StatesErrorName(typ=StatesErrorNameType.StatesRuntime)
    details: Any = {"executionFailedEventDetails": {"error": error.error_name, "cause": HISTORY_FULL}}
    nowhere: Any = SimpleNamespace(next_state_name=None, event_history_context=context)
    event_type = HistoryEventType.ExecutionFailed
    return FailureEventException(
        FailureEvent(env=nowhere, error_name=error, event_type=event_type, event_details=details)
    )


def _say_once_in_which_state() -> None:
    """Leave causes as they are that name their state already, or that are not state's: moto names one at each level."""
    of_execution = FailureEventException.get_execution_failed_event_details
    of_evaluation = FailureEventException.get_evaluation_failed_event_details

    def execution_details(self: Any) -> Any:
        error, cause = self.extract_error_cause_pair() or (None, None)
        if cause and cause.startswith((IN_STATE, HISTORY_FULL)):
            return {"error": error, "cause": cause}
        return of_execution(self)

    def evaluation_details(self: Any) -> Any:
        details = self.failure_event.event_details["evaluationFailedEventDetails"]
        return details if "state" in details else of_evaluation(self)

    FailureEventException.get_execution_failed_event_details = execution_details
    FailureEventException.get_evaluation_failed_event_details = evaluation_details
