"""Corrections to moto's Step Functions interpreter, of faults that this project's state machine runs into.

Left as they are: no redrive, no TestState, no aliases, no execution logging, state and task time-outs in real time.
"""

import datetime
import json
import logging
import pickle
import re
import sys
import threading
import time
import uuid
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from botocore.config import Config
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult
from moto.stepfunctions import responses
from moto.stepfunctions.exceptions import ValidationException
from moto.stepfunctions.parser.api import ExecutionStatus
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.exec.state_map.iteration.itemprocessor import (
    distributed_item_processor_worker as workers,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_map.iteration.itemprocessor import (
    inline_item_processor_worker as inline,
)
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import WaitFunction
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.program_state import ProgramStopped, ProgramTimedOut
from moto.stepfunctions.parser.asl.eval.variable_store import VariableStore
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser
from moto.stepfunctions.parser.asl.parse.preprocessor import Preprocessor
from moto.stepfunctions.parser.asl.utils import boto_client
from moto.stepfunctions.parser.backend.execution import BaseExecutionWorkerCommunication
from moto.stepfunctions.parser.models import StepFunctionsParserBackend, stepfunctions_parser_backends

from local.step_functions import child_executions, failures, jsonata, packed_histories

LOG = logging.getLogger(__name__)
MAX_PAYLOAD_BYTES = 262_144
NAME = re.compile(r"[^\s<>{}\[\]?*\"#%\\^|~`$&,;:/\x00-\x1f\x7f-\x9f]{1,80}")
HISTORY_PAGE = 1_000
Report = Callable[[Any], None]


class InvalidName(ServiceException):
    """The execution's name is refused."""


def install(
    client_of: Callable[..., Any],
    credentials_for: Callable[[str, str], dict[str, str]],
    time_scale: float,
    *,
    begun: Report,
    ended: Report,
) -> None:
    """Apply all corrections; `client_of` makes clients as an operator's `client` does.

    `begun` is called for each execution that starts, `ended` for each that ends.
    """
    # moto evaluates a Map by recursion, one level per item of a worker
    sys.setrecursionlimit(20_000)
    _use_cached_clients(client_of, credentials_for)
    jsonata.install()
    failures.install()
    _correct_parser()
    _check_definitions()
    _name_and_limit_executions(begun)
    _keep_trace_headers()
    _report_ends(ended)
    _stop_at_once(ended)
    _isolate_map_iterations()
    child_executions.install()
    _page_histories()
    _scale_time(time_scale)


def _use_cached_clients(client_of: Callable[..., Any], credentials_for: Callable[[str, str], dict[str, str]]) -> None:
    """Make a client per region, service and role, not per task (10 ms instead of 17); it signs with the role's keys."""
    clients: dict[tuple[str, str, str], Any] = {}
    lock = threading.Lock()
    config = Config(
        parameter_validation=False, retries={"total_max_attempts": 1}, read_timeout=960, max_pool_connections=200
    )

    def client_for(region: str, service: str, state_credentials: Any = None) -> Any:
        role = getattr(state_credentials, "role_arn", None) or ""
        with lock:
            if (region, service, role) not in clients:
                names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
                keys = dict(zip(names, credentials_for(role, "states").values(), strict=True)) if role else {}
                clients[region, service, role] = client_of(service, region, config=config, **keys)
        return clients[region, service, role]

    original = boto_client.boto_client_for
    for name, module in list(sys.modules.items()):
        # Another module may be one that is loaded when it is first asked for a name (local/quick_start.py).
        if name.startswith("moto.stepfunctions.") and getattr(module, "boto_client_for", None) is original:
            module.boto_client_for = client_for


def _correct_parser() -> None:
    """Give each parser a stack of query languages: as all share one, a refused definition spoils later ones."""

    def begin(self: Any) -> None:
        self._query_language_per_scope = []

    Preprocessor.__init__ = begin


def _check_definitions() -> None:
    """Parse a definition once, and accept an integer ToleratedFailurePercentage, which moto's grammar refuses.

    ValidateStateMachineDefinition, which moto lacks, reports what a creation would refuse. What AWS refuses and moto
    accepts, the tests find (tests/judge/definition.py).
    """
    parse, validate = AmazonStateLanguageParser.parse, StepFunctionsParserBackend._validate_definition

    @lru_cache(maxsize=16)
    def parsed(definition: str) -> tuple[bytes, Any]:
        program, tree = parse(_with_float_percentages(definition))
        return pickle.dumps(program), tree

    def parse_once(definition: str) -> tuple[Any, Any]:
        # Otherwise each execution would parse it again, 0.2 s of processor time for the deployed one; a copy takes 2
        # ms. States store their progress, so two executions must not share them.
        program, tree = parsed(definition)
        return pickle.loads(program), tree  # noqa: S301 - made by the function above

    def validate_state_machine_definition(response: Any) -> ActionResult:
        diagnostics = []
        try:
            validate(response._get_param("definition"))
        except Exception as err:
            diagnostics = [{"severity": "ERROR", "code": "SCHEMA_VALIDATION_FAILED", "message": str(err)}]
        return ActionResult({"result": "FAIL" if diagnostics else "OK", "diagnostics": diagnostics, "truncated": False})

    AmazonStateLanguageParser.parse = staticmethod(parse_once)
    responses.StepFunctionResponse.validate_state_machine_definition = validate_state_machine_definition


def _with_float_percentages(definition: str) -> str:
    return re.sub(r'("ToleratedFailurePercentage"\s*:\s*\d+)(?=\s*[,}])', r"\1.0", definition)


def _name_and_limit_executions(begun: Report) -> None:
    """Name unnamed executions (moto calls them None), refuse bad names and inputs above 256 KiB."""
    start = StepFunctionsParserBackend.start_execution
    one_at_a_time = threading.Lock()

    def start_named(
        self: Any, state_machine_arn: str, name: Any = None, execution_input: Any = None, *rest: Any
    ) -> Any:
        name = name or str(uuid.uuid4())
        if not NAME.fullmatch(name):
            raise InvalidName("InvalidName", f"Invalid Name: '{name}'")
        if execution_input and len(execution_input.encode()) > MAX_PAYLOAD_BYTES:
            raise ValidationException(
                "1 validation error detected: Value at 'input' failed to satisfy constraint: "
                f"Member must have length less than or equal to {MAX_PAYLOAD_BYTES}"
            )
        with one_at_a_time:
            execution = start(self, state_machine_arn, name, execution_input, *rest)
        begun(execution)
        return execution

    StepFunctionsParserBackend.start_execution = start_named


def _keep_trace_headers() -> None:
    """Keep the trace header of the call that started an execution; moto reads none."""
    start, describe = responses.StepFunctionResponse.start_execution, responses.StepFunctionResponse.describe_execution

    def start_traced(self: Any) -> ActionResult:
        answer: Any = start(self)
        execution = self.stepfunction_backend.describe_execution(answer.result["executionArn"])
        execution.trace_header = execution.trace_header or self._get_param("traceHeader")
        return ActionResult(answer.result)

    def describe_traced(self: Any) -> ActionResult:
        result: Any = describe(self).result
        execution = self.stepfunction_backend.describe_execution(result["executionArn"])
        return ActionResult(result | ({"traceHeader": execution.trace_header} if execution.trace_header else {}))

    responses.StepFunctionResponse.start_execution = start_traced
    responses.StepFunctionResponse.describe_execution = describe_traced


def _report_ends(ended: Report) -> None:
    """Report ends; keep the output as JSON: in moto a string is bare, and with a date DescribeExecution answers 500."""
    reflect = BaseExecutionWorkerCommunication._reflect_execution_status

    def reflect_and_tell(self: Any) -> None:
        execution = self.execution
        if execution.status == "ABORTED":  # StopExecution has reported it already
            return
        reflect(self)
        if execution.status == "SUCCEEDED":
            execution.output = json.dumps(jsonata.plain(execution.output))
        ended(execution)
        packed_histories.pack(execution)

    BaseExecutionWorkerCommunication._reflect_execution_status = reflect_and_tell


def _stop_at_once(ended: Report) -> None:
    """Let StopExecution end an execution as ABORTED at once, with error and cause, in any state."""
    set_error = Environment.set_error

    def set_error_unless_ended(self: Any, error: Any) -> None:
        # an interrupted iteration reports a failure, which must not turn the stopped execution into a FAILED one
        if not isinstance(self._program_state, (ProgramStopped, ProgramTimedOut)):
            set_error(self, error)

    def stop(self: Any, execution_arn: str, error: str | None = None, cause: str | None = None) -> Any:
        execution = self.describe_execution(execution_arn)
        if execution.status != "RUNNING":
            return execution
        while execution.exec_worker is None or execution.exec_worker.env is None:
            time.sleep(0.01)  # its thread has not started yet
        execution.stop_date = datetime.datetime.now(datetime.UTC)
        execution.exec_status = ExecutionStatus.ABORTED
        execution.error, execution.cause = error, cause
        execution.stop(stop_date=execution.stop_date, error=error, cause=cause)
        ended(execution)
        return execution

    def answer(self: Any) -> ActionResult:
        words = [self._get_param(name) for name in ("executionArn", "error", "cause")]
        return ActionResult({"stopDate": self.stepfunction_backend.stop_execution(*words).stop_date})

    Environment.set_error = set_error_unless_ended
    StepFunctionsParserBackend.stop_execution = stop
    responses.StepFunctionResponse.stop_execution = answer


def stop_all(account: str, region: str, error: str, cause: str) -> None:
    """Stop every execution that goes on, as StopExecution does."""
    backend: Any = stepfunctions_parser_backends[account][region]
    for execution in [execution for machine in backend.state_machines for execution in machine.executions]:
        backend.stop_execution(execution.execution_arn, error, cause)


def _isolate_map_iterations() -> None:
    """Hide outer variables from iterations of a distributed Map: as executions of their own they may reuse names."""
    select = inline.InlineItemProcessorWorker._eval_input

    def select_then_forget(self: Any, env_frame: Any) -> None:
        select(self, env_frame)  # the ItemSelector still belongs to the outer scope
        env_frame.variable_store = VariableStore()

    workers.DistributedItemProcessorWorker._eval_input = select_then_forget


def _page_histories() -> None:
    """Let GetExecutionHistory honour reverseOrder, maxResults and nextToken."""

    def answer(self: Any) -> ActionResult:
        history = self.stepfunction_backend.get_execution_history(self._get_param("executionArn"))["events"]
        events = list(reversed(history)) if self._get_param("reverseOrder") else list(history)
        size = int(self._get_param("maxResults") or 0) or HISTORY_PAGE
        start = int(self._get_param("nextToken") or 0)
        page: dict[str, Any] = {"events": events[start : start + size]}
        if start + size < len(events):
            page["nextToken"] = str(start + size)
        return ActionResult(page)

    responses.StepFunctionResponse.get_execution_history = answer


def _scale_time(scale: float) -> None:
    """Make waits and retry delays `scale` times shorter and end with the execution; time stamps stay real."""
    running = threading.local()
    evaluate = retrier_decl.RetrierDecl._eval_body

    def wait(env: Any, seconds: float) -> None:
        end = time.monotonic() + seconds / scale
        while env.is_running() and (left := end - time.monotonic()) > 0:
            # moto sets and clears the event at once, so a wake-up can be missed: poll as well
            env.program_state_event.wait(min(left, 0.5))

    def evaluate_retry(self: Any, env: Any) -> None:
        running.env = env
        evaluate(self, env)

    WaitFunction._wait_interval = lambda self, env, wait_seconds: wait(env, wait_seconds)  # noqa: ARG005
    retrier_decl.RetrierDecl._eval_body = evaluate_retry
    retrier_decl.time = type("ScaledTime", (), {"sleep": staticmethod(lambda seconds: wait(running.env, seconds))})
