"""Iterations of a distributed Map as executions of their own, with a history of their own, as on AWS.

moto runs them as threads and drops their events. Here ListExecutions lists them for a Map run's ARN, and
DescribeExecution and GetExecutionHistory know each. They cannot be stopped one by one.
"""

import datetime
import json
import uuid
from dataclasses import dataclass, field
from typing import Any

from moto.core.responses import ActionResult
from moto.stepfunctions import responses
from moto.stepfunctions.parser import models
from moto.stepfunctions.parser.api import HistoryEventType
from moto.stepfunctions.parser.asl.component.state.exec.state_map.iteration.itemprocessor import (
    distributed_item_processor_worker as workers,
)
from moto.stepfunctions.parser.asl.eval.event.event_manager import EventHistoryContext, EventManager
from moto.stepfunctions.parser.asl.eval.program_state import ProgramError

from local.step_functions import jsonata
from local.step_functions.packed_histories import PackedEvents

# The status of a child and the last event of its history, by how its program has ended.
_ENDS = {
    "ProgramEnded": ("SUCCEEDED", HistoryEventType.ExecutionSucceeded, "executionSucceededEventDetails"),
    "ProgramError": ("FAILED", HistoryEventType.ExecutionFailed, "executionFailedEventDetails"),
    "ProgramStopped": ("ABORTED", HistoryEventType.ExecutionAborted, "executionAbortedEventDetails"),
    "ProgramTimedOut": ("TIMED_OUT", HistoryEventType.ExecutionTimedOut, "executionTimedOutEventDetails"),
}
_WHOLE = {"truncated": False}


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


@dataclass
class Child:
    """One iteration."""

    arn: str
    map_run_arn: str
    events: EventManager = field(default_factory=EventManager)
    packed: PackedEvents | None = None
    start_date: datetime.datetime = field(default_factory=_now)
    stop_date: datetime.datetime | None = None
    status: str = "RUNNING"
    execution_input: str = "{}"
    outcome: dict[str, Any] = field(default_factory=dict)
    """Its output, or error and cause."""

    @property
    def name(self) -> str:
        """Return the last part of its ARN, as on AWS."""
        return self.arn.rpartition(":")[2]

    def begin(self, env: Any) -> None:
        """Use the result of the ItemSelector as input, and write the first event of its history."""
        self.execution_input = json.dumps(jsonata.plain(env.states.get_input()))
        role = env.aws_execution_details.role_arn
        started = {"input": self.execution_input, "inputDetails": _WHOLE, "roleArn": role}
        details: Any = {"executionStartedEventDetails": started}
        env.event_history_context = EventHistoryContext.of_program_start()
        self.events.add_event(
            context=env.event_history_context,
            event_type=HistoryEventType.ExecutionStarted,
            event_details=details,
            update_source_event_id=False,
        )

    def end(self, env: Any) -> None:
        """Keep how it has ended, and write the last event of its history."""
        state = env.program_state()
        # A failure that no state has reported leaves the program as if it ran.
        self.status, event_type, name = _ENDS.get(type(state).__name__, _ENDS["ProgramError"])
        if self.status == "SUCCEEDED":
            self.outcome = {"output": json.dumps(jsonata.plain(env.states.get_input()))}
        else:
            reason: dict[str, Any] = dict(state.error or {}) if isinstance(state, ProgramError) else vars(state)
            self.outcome = {key: reason[key] for key in ("error", "cause") if reason.get(key)}
        self.stop_date = _now()
        details: Any = {name: self.outcome | ({"outputDetails": _WHOLE} if "output" in self.outcome else {})}
        self.events.add_event(context=env.event_history_context, event_type=event_type, event_details=details)
        if self.status != "ABORTED":
            self.packed, self.events = PackedEvents(self.events.get_event_history()), EventManager()

    def to_history_output(self) -> dict[str, Any]:
        """Return its history in the form of moto's own executions."""
        return {"events": (self.packed or self.events).get_event_history()}

    def describe(self) -> dict[str, Any]:
        """Return the common part of the responses of ListExecutions and DescribeExecution."""
        description = {
            "executionArn": self.arn,
            "mapRunArn": self.map_run_arn,
            "stateMachineArn": self.arn.replace(":execution:", ":stateMachine:").rpartition(":")[0],
            "name": self.name,
            "status": self.status,
            "startDate": self.start_date,
        }
        return description | ({"stopDate": self.stop_date} if self.stop_date else {})


def install() -> None:
    """Record the children, and answer calls about them."""
    children: dict[str, Child] = {}
    _record(children)
    _answer_for(children)


def _record(children: dict[str, Child]) -> None:
    evaluate = workers.DistributedItemProcessorWorker._eval_job
    select = workers.DistributedItemProcessorWorker._eval_input

    def evaluate_recorded(self: Any, env: Any, job: Any) -> None:
        map_run_arn = self._map_run_record.map_run_arn
        # arn:…:mapRun:machine/Label:uuid becomes arn:…:execution:machine/Label:uuid of the child
        arn = f"{map_run_arn.replace(':mapRun:', ':execution:').rpartition(':')[0]}:{uuid.uuid4()}"
        # A worker is one thread and runs one child at a time.
        self.local_child = children[arn] = Child(arn, map_run_arn)
        env.event_manager = self.local_child.events
        try:
            evaluate(self, env, job)
        finally:
            self.local_child.end(env)

    def select_and_begin(self: Any, env_frame: Any) -> None:
        select(self, env_frame)
        self.local_child.begin(env_frame)

    workers.DistributedItemProcessorWorker._eval_job = evaluate_recorded
    workers.DistributedItemProcessorWorker._eval_input = select_and_begin


def _answer_for(children: dict[str, Child]) -> None:
    history = models.StepFunctionsParserBackend.get_execution_history
    list_executions = responses.StepFunctionResponse.list_executions
    describe = responses.StepFunctionResponse.describe_execution

    def history_of(self: Any, execution_arn: str) -> Any:
        child = children.get(execution_arn)
        return child.to_history_output() if child else history(self, execution_arn)

    def list_also_children(self: Any) -> ActionResult:
        map_run_arn = self._get_param("mapRunArn")
        if not map_run_arn:
            return list_executions(self)
        wanted = [child for child in children.values() if child.map_run_arn == map_run_arn]
        return ActionResult({"executions": [child.describe() for child in wanted]})

    def describe_also_children(self: Any) -> ActionResult:
        child = children.get(self._get_param("executionArn"))
        if child is None:
            return describe(self)
        texts = {"input": child.execution_input} | child.outcome
        details = {f"{name}Details": {"included": True} for name in texts if name in ("input", "output")}
        return ActionResult(child.describe() | texts | details)

    models.StepFunctionsParserBackend.get_execution_history = history_of
    responses.StepFunctionResponse.list_executions = list_also_children
    responses.StepFunctionResponse.describe_execution = describe_also_children
