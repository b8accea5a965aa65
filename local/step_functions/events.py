"""Events that moto never sends: EventBridge rules on the end of executions, and schedules.

Targets are Lambda functions, and of a schedule also the start of an execution; an event for another target is reported
on stderr. Schedules fire in scaled time, like the waits of executions: `rate(15 minutes)` at a time scale of 40 is
every 22.5 s, but never more often than every 2 s. Only rate expressions fire.
"""

import json
import re
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from moto.awslambda.models import lambda_backends
from moto.events.models import events_backends
from moto.scheduler.models import scheduler_backends

RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400}
MIN_INTERVAL_S = 2.0
# EventBridge Scheduler replaces these attributes in an input; the first here with the current time.
# https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
SCHEDULED_TIME, EXECUTION_ID = "<aws.scheduler.scheduled-time>", "<aws.scheduler.execution-id>"
# https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html
START_EXECUTION = ":aws-sdk:sfn:startExecution"
Invoke = Callable[[Any, bytes], Any]
Start = Callable[[str, dict[str, str]], Any]


@dataclass(frozen=True)
class Scheduled:
    """One schedule, its target, and the target's input."""

    key: str
    interval_s: float
    target_arn: str
    payload: str
    role_arn: str = ""
    """Of a schedule of EventBridge Scheduler; empty for a rule."""


class EventBridge:
    """Delivers events to functions in threads of their own."""

    def __init__(self, invoke: Invoke, start: Start, account: str, region: str, time_scale: float) -> None:
        self._invoke = invoke
        self._start_execution = start
        self._account = account
        self._region = region
        self._time_scale = time_scale
        self._is_closed = threading.Event()

    def start(self) -> None:
        """Start to fire schedules."""
        threading.Thread(target=self._fire_schedules, name="schedules", daemon=True).start()

    def close(self) -> None:
        """Stop firing schedules and delivering events."""
        self._is_closed.set()

    def execution_ended(self, execution: Any) -> None:
        """Deliver the event that Step Functions sends when an execution ends."""
        event = execution_event(execution, self._account, self._region)
        for rule in self._rules():
            if rule.state == "ENABLED" and rule.event_pattern.get_pattern() and rule.event_pattern.matches_event(event):
                for target in rule.targets:
                    self._deliver(target["Arn"], json.dumps(event))

    def _rules(self) -> list[Any]:
        return list(events_backends[self._account][self._region].event_buses["default"].rules.values())

    def _fire_schedules(self) -> None:
        due: dict[str, float] = {}
        while not self._is_closed.wait(0.5):
            now = time.monotonic()
            for schedule in self._schedules():
                interval = max(MIN_INTERVAL_S, schedule.interval_s / self._time_scale)
                if now >= due.setdefault(schedule.key, now + interval):
                    due[schedule.key] = now + interval
                    self._deliver(schedule.target_arn, schedule.payload, schedule.role_arn)

    def _schedules(self) -> Iterator[Scheduled]:
        for rule in self._rules():
            rate = RATE.fullmatch(rule.scheduled_expression or "")
            if rate and rule.state == "ENABLED":
                event = _scheduled_event(rule.arn, self._account, self._region)
                for target in rule.targets:
                    yield Scheduled(rule.arn + target["Id"], _seconds(rate), target["Arn"], json.dumps(event))
        for group in list(scheduler_backends[self._account][self._region].schedule_groups.values()):
            for schedule in list(group.schedules.values()):
                rate = RATE.fullmatch(schedule.schedule_expression)
                if rate and schedule.state == "ENABLED":
                    payload = (schedule.target.get("Input") or "{}").replace(SCHEDULED_TIME, _utc())
                    payload = payload.replace(EXECUTION_ID, uuid.uuid4().hex[:16])
                    target = schedule.target
                    yield Scheduled(schedule.arn, _seconds(rate), target["Arn"], payload, target["RoleArn"])

    def _deliver(self, target_arn: str, payload: str, role_arn: str = "") -> None:
        if self._is_closed.is_set():
            return
        if ":lambda:" not in target_arn and not target_arn.endswith(START_EXECUTION):
            print(f"local cloud: nothing delivers events to {target_arn}", file=sys.stderr)
            return
        threading.Thread(target=self._call, args=(target_arn, payload, role_arn), daemon=True).start()

    def _call(self, target_arn: str, payload: str, role_arn: str) -> None:
        try:
            if target_arn.endswith(START_EXECUTION):
                request = {name[0].lower() + name[1:]: value for name, value in json.loads(payload).items()}
                self._start_execution(role_arn, request)
            else:
                function = lambda_backends[self._account][self._region].get_function(target_arn)
                self._invoke(function, payload.encode())
        except Exception as err:
            if not self._is_closed.is_set():
                print(f"local cloud: event for {target_arn} was lost: {err!r}", file=sys.stderr)


def start_execution(
    client_of: Callable[..., Any],
    credentials_for: Callable[[str, str], dict[str, str]],
    role_arn: str,
    request: dict[str, str],
) -> None:
    """Start an execution with the rights of the role that EventBridge Scheduler assumes."""
    names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    keys = zip(names, credentials_for(role_arn, "scheduler").values(), strict=True)
    client_of("stepfunctions", **dict(keys)).start_execution(**request)


def execution_event(execution: Any, account: str, region: str) -> dict[str, Any]:
    """Return the event of an execution's end, in the shape that AWS documents."""
    detail = {
        "executionArn": execution.execution_arn,
        "stateMachineArn": execution.state_machine_arn,
        "name": execution.name,
        "status": execution.status,
        "startDate": int(execution.start_date.timestamp() * 1000),
        "stopDate": int(execution.stop_date.timestamp() * 1000),
        "input": execution.execution_input,
        "inputDetails": {"included": True},
        "output": execution.output if execution.status == "SUCCEEDED" else None,
        "outputDetails": {"included": True} if execution.status == "SUCCEEDED" else None,
        "error": execution.error,
        "cause": execution.cause,
    }
    kind = "Step Functions Execution Status Change"
    return _envelope("aws.states", kind, execution.execution_arn, place=(account, region), detail=detail)


def _scheduled_event(rule_arn: str, account: str, region: str) -> dict[str, Any]:
    return _envelope("aws.events", "Scheduled Event", rule_arn, place=(account, region), detail={})


def _envelope(source: str, kind: str, resource: str, *, place: tuple[str, str], detail: dict) -> dict[str, Any]:
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": kind,
        "source": source,
        "account": place[0],
        "time": _utc(),
        "region": place[1],
        "resources": [resource],
        "detail": detail,
    }


def _utc() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _seconds(rate: re.Match[str]) -> float:
    return int(rate[1]) * SECONDS[rate[2]]
