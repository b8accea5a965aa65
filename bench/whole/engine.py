"""The local Step Functions interpreter in virtual time, with functions that are called in this process."""

from __future__ import annotations

import importlib
import io
import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.exec.state_map.iteration.distributed_iteration_component import (
    DistributedIterationComponent,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_map.iteration.inline_iteration_component import (
    InlineIterationComponent,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_map.iteration.job import JobPool
from moto.stepfunctions.parser.asl.component.state.state import CommonStateField
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import WaitFunction
from moto.stepfunctions.parser.models import stepfunctions_parser_backends

from bench.scale.cases import Context
from bench.scale.limits import limits, needed_s
from bench.whole.clock import Clock
from bench.whole.cloud import World
from local.step_functions import child_executions, interpreter

ROOT = Path(__file__).parents[2]
ACCOUNT, REGION = "123456789012", "us-east-1"
MACHINE = "storage-matrix-run"
SUBSTITUTED = re.compile(r"\$\{(\w+)Function\}")
Event = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """One call: of which function and for which cell, when, for how long, and what it asked."""

    function: str
    cell: str
    at: float
    seconds: float
    requests: dict[str, int]
    units: dict[str, int]


class Functions:
    """A client of Lambda that calls the handlers, one at a time, and lets the time pass that Lambda would take."""

    def __init__(self, clock: Clock, world: World, processor_s: Callable[[], float]) -> None:
        """`processor_s` tells the processor time of this process so far."""
        self.clock, self.world = clock, world
        self.limits = limits()
        self.at_once = self.most_at_once = 0
        self.log: list[Call] = []
        self._processor_s = processor_s
        self._one_at_a_time = threading.Lock()

    def invoke(self, *, FunctionName: str, Payload: bytes, **_: Any) -> dict[str, Any]:  # noqa: N803
        """Call a function, as Lambda's Invoke does."""
        with self._one_at_a_time:
            answer, error, needs_s = self.call(FunctionName, Payload)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        self.clock.wait(needs_s)
        self.at_once -= 1
        failure = {"FunctionError": "Unhandled"} if error else {}
        return {"StatusCode": 200, "Payload": io.BytesIO(answer), **failure}

    def call(self, function: str, payload: bytes) -> tuple[bytes, bool, float]:
        """Call a function; return what it answers, whether that is an error, and how many seconds Lambda would take."""
        world, event = self.world, json.loads(payload)
        world.thread, world.spent_s = threading.get_ident(), 0.0
        world.requests.clear()
        before, began = Counter(world.units), self._processor_s()
        error = False
        try:
            answer: Any = importlib.import_module(function).handler(event, Context())
        except Exception as problem:  # as Lambda answers it, of any kind
            answer, error = {"errorType": type(problem).__name__, "errorMessage": str(problem)}, True
            print(f"{function}: {answer}", file=sys.stderr)
        spent_s = max(0.0, self._processor_s() - began - world.spent_s)
        needs_s = needed_s(spent_s, world.requests, self.limits[function]) + self.clock.slept_s
        self.clock.slept_s = 0.0
        units = Counter(world.units) - before
        cell = event.get("cell", "")
        self.log.append(Call(function, cell, self.clock.now, needs_s, dict(world.requests), units))
        return json.dumps(answer).encode(), error, needs_s


@dataclass
class Histories:
    """The events of a run's execution and of its children, each with its status."""

    parent: Sequence[Event]
    status: str
    reason: str
    children: Sequence[Sequence[Event]]
    entered: Counter[int]
    """States that were entered in each second."""

    def all(self) -> Iterator[Sequence[Event]]:
        """Yield every history."""
        yield self.parent
        yield from self.children


class Engine:
    """The interpreter, once for a process: its corrections take the place of what was there."""

    functions: Functions
    clock: Clock
    _entered: Counter[int]

    def __init__(self) -> None:
        """Take the place of the interpreter's time and of its clients."""
        self._ended = threading.Event()
        self._children: list[child_executions.Child] = []
        self._at_once: tuple[JobPool, int] | None = None
        interpreter.install(
            self.client,
            lambda *_: dict.fromkeys("abc", ""),
            1.0,
            begun=lambda _: None,
            ended=lambda _: self._ended.set(),
        )
        self._take_time()
        self._follow_children()
        self._follow_states()
        self._count_active()

    def client(self, service: str, *_: Any, **__: Any) -> Engine:
        """Return a client of Lambda; the definition calls nothing else."""
        if service != "lambda":
            raise LookupError(f"the definition calls {service}")
        return self

    def invoke(self, **request: Any) -> dict[str, Any]:
        """Call a function of the run that goes on."""
        return self.functions.invoke(**request)

    def run(self, functions: Functions, name: str, matrix: dict[str, Any]) -> Histories:
        """Run a matrix through the deployed definition, and sweep after it; return the histories."""
        self.functions, self.clock = functions, functions.clock
        self.clock.active = self._active
        self._ended.clear()
        self._children.clear()
        self._entered = Counter()
        self._at_once = None
        text = (ROOT / "statemachine" / "run.asl.json").read_text()
        definition = SUBSTITUTED.sub(lambda match: _module_of(match[1]), text.replace("${Partition}", "aws"))
        backend: Any = stepfunctions_parser_backends[ACCOUNT][REGION]
        role = f"arn:aws:iam::{ACCOUNT}:role/run"
        machine = backend.create_state_machine(name=f"{MACHINE}-{name}", definition=definition, roleArn=role)
        execution = backend.start_execution(machine.arn, name, json.dumps(matrix))
        self._ended.wait()
        parent = execution.to_history_output()["events"]
        children = [child.to_history_output()["events"] for child in self._children]
        reason = f"{execution.error}: {execution.cause}" if execution.error else ""
        return Histories(parent, execution.status, reason, children, self._entered)

    def _take_time(self) -> None:
        def wait(_: Any, env: Any, wait_seconds: float) -> None:  # noqa: ARG001 - as moto calls it
            self.clock.wait(wait_seconds)

        patch.object(WaitFunction, "_wait_interval", wait).start()
        virtual = type("Virtual", (), {"sleep": staticmethod(partial(wait, None, None))})
        patch.object(retrier_decl, "time", virtual).start()

    def _follow_children(self) -> None:
        begin = child_executions.Child.begin

        def begin_and_keep(child: child_executions.Child, env: Any) -> None:
            self._children.append(child)
            begin(child, env)

        patch.object(child_executions.Child, "begin", begin_and_keep).start()

    def _follow_states(self) -> None:
        evaluate = CommonStateField._eval_state_input

        def enter(state: Any, env: Any) -> None:
            self._entered[int(self.clock.now)] += 1
            evaluate(state, env)

        patch.object(CommonStateField, "_eval_state_input", enter).start()

    def _count_active(self) -> None:
        """Note what the distributed Map works on, and let time go on where one of its workers ends."""
        launch, close = InlineIterationComponent._launch_worker, JobPool.close_job

        def launch_and_note(component: Any, env: Any, eval_input: Any, job_pool: JobPool) -> Any:
            if isinstance(component, DistributedIterationComponent):
                self._at_once = job_pool, eval_input.map_run_record.max_concurrency or job_pool._jobs_number
            return launch(component, env, eval_input, job_pool)

        def close_and_go_on(job_pool: JobPool, job: Any) -> None:
            close(job_pool, job)
            self.clock.go_on()

        patch.object(InlineIterationComponent, "_launch_worker", launch_and_note).start()
        patch.object(JobPool, "close_job", close_and_go_on).start()

    def _active(self) -> int:
        """Return how many threads work: the workers of the distributed Map, else the parent alone."""
        if self._at_once is None:
            return 1
        pool, at_once = self._at_once
        return min(at_once, pool._jobs_number - len(pool._closed_jobs)) or 1


def _module_of(name: str) -> str:
    """Return the module of a function by the name of its resource, less the word Function."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
