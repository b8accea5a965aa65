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
from moto.stepfunctions.parser.asl.component.state.exec.state_map.iteration.itemprocessor import (
    distributed_item_processor_worker as workers,
)
from moto.stepfunctions.parser.asl.eval.event.event_manager import EventManager

_STATUS = {"ProgramEnded": "SUCCEEDED", "ProgramStopped": "ABORTED"}


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


@dataclass
class Child:
    """One iteration."""

    arn: str
    map_run_arn: str
    execution_input: str
    events: EventManager
    start_date: datetime.datetime = field(default_factory=_now)
    stop_date: datetime.datetime | None = None
    status: str = "RUNNING"

    @property
    def name(self) -> str:
        """Return the last part of its ARN, as on AWS."""
        return self.arn.rpartition(":")[2]

    def to_history_output(self) -> dict[str, Any]:
        """Return its history in the form of moto's own executions."""
        return {"events": self.events.get_event_history()}

    def describe(self) -> dict[str, Any]:
        """Return what ListExecutions and DescribeExecution answer."""
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

    def evaluate_recorded(self: Any, env: Any, job: Any) -> None:
        map_run_arn = self._map_run_record.map_run_arn
        # arn:…:mapRun:machine/Label:uuid becomes arn:…:execution:machine/Label:uuid of the child
        arn = f"{map_run_arn.replace(':mapRun:', ':execution:').rpartition(':')[0]}:{uuid.uuid4()}"
        child = Child(arn, map_run_arn, json.dumps(job.job_input), EventManager())
        children[arn] = child
        env.event_manager = child.events
        try:
            evaluate(self, env, job)
        finally:
            child.status = _STATUS.get(type(env.program_state()).__name__, "FAILED")
            child.stop_date = _now()

    workers.DistributedItemProcessorWorker._eval_job = evaluate_recorded


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
        return ActionResult(child.describe() | {"input": child.execution_input}) if child else describe(self)

    models.StepFunctionsParserBackend.get_execution_history = history_of
    responses.StepFunctionResponse.list_executions = list_also_children
    responses.StepFunctionResponse.describe_execution = describe_also_children
