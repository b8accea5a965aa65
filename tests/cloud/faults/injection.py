"""Fault injection: chosen AWS calls of the deployed roles fail, lose their response or kill their caller.

Off unless the local cloud is started with `--faults FILE`. The file holds rules and is read again whenever it changes:

    {"rules": [{"id": "1", "fault": "throttled", "run": "my-run", "who": "LaunchFleet", "action": "ec2:RunInstances",
                "what": null, "nth": 1, "times": 3}]}

A rule matches calls with its `run`, `who` (a function without "Function", Instance or Run), `action` and `what` (the
object, table row or function of a call, without parts that differ between runs); null matches any. Its fault hits the
`nth` match and the following, `times` in all; `"times": null` hits all that follow. The faults:

    throttled       the service's own throttling error; nothing takes effect
    denied          the service's own error for a missing permission; nothing takes effect
    no capacity     EC2 has no such instances free; nothing takes effect
    internal error  the service answers 500; nothing takes effect
    lost answer     the call takes effect, then its connection is cut (calls of Step Functions are answered with 500)
    crash           the call takes effect, then the sandbox or the agent that made it is killed
    stopped         StopExecution, when the state machine enters a state: action `enter`, `what` the state's name
    history full    likewise: the execution, or the child of a file system, ends by an error that nothing catches
    late            an effect is visible only after `seconds`; its `what`: tests/cloud/faults/lateness.py

All calls are recorded in calls.jsonl, in their order, hit by a fault or not: a harness takes its work list from there.
"""

import json
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import unquote

import flask

# With faults, retries of AWS calls wait 100 times shorter: ten attempts would otherwise take two minutes.
BACKOFF_SCALE = 100.0
THROTTLING = {
    "s3": ("SlowDown", 503),
    "s3express": ("SlowDown", 503),
    "ec2": ("RequestLimitExceeded", 503),
    "lambda": ("TooManyRequestsException", 429),
    "sts": ("Throttling", 400),
    "s3files": ("ThrottlingException", 429),
}
INTERNAL = {
    "s3": "InternalError",
    "s3express": "InternalError",
    "ec2": "InternalError",
    "lambda": "ServiceException",
    "dynamodb": "InternalServerError",
    "elasticfilesystem": "InternalServerError",
    "fsx": "InternalServerError",
    "s3files": "InternalServerException",
}
LATE = "late"
DENIAL = {
    "ec2": "UnauthorizedOperation",
    "s3": "AccessDenied",
    "s3express": "AccessDenied",
    "elasticfilesystem": "AccessDenied",
}
# Objects outside of the runs, by the first part of their key; objects with the same first part are of one kind.
OF_ALL_RUNS = {"agents": "agent", "points": "points", "owners": "owner"}


@dataclass(frozen=True)
class Call:
    """A call that a deployed role makes, or a state that the state machine enters."""

    run: str | None
    who: str
    action: str
    what: str

    @property
    def service(self) -> str:
        return self.action.partition(":")[0]


@dataclass(frozen=True)
class Rule:
    id: str
    fault: str
    run: str | None = None
    who: str | None = None
    action: str | None = None
    what: str | None = None
    nth: int = 1
    times: int | None = 1
    seconds: float = 0.0

    def matches(self, call: Call) -> bool:
        """Return whether the rule matches a call."""
        return self.fault != LATE and all(
            getattr(self, name) in (None, getattr(call, name)) for name in ("run", "who", "action", "what")
        )

    def hits(self, number: int) -> bool:
        """Return whether the fault hits the `number`th matching call."""
        return number >= self.nth and (self.times is None or number < self.nth + self.times)


@dataclass(frozen=True)
class Refusal:
    code: str
    message: str
    status: int


@dataclass(frozen=True)
class Client:
    """The holder of an access key: the run it works for, and how to kill it."""

    run: Callable[[], str | None]
    kill: Callable[[], None]


class Faults:
    """Decides for each call which fault hits it, and records all calls."""

    def __init__(self, rules: Path, record: Path) -> None:
        self.clients: dict[str, Client] = {}
        self._path = rules
        self._read_at = -1
        self._rules: list[Rule] = []
        self._matches: Counter[str] = Counter()
        self._record: TextIO = record.open("w", buffering=1)
        self._lock = threading.Lock()
        self._begun: dict[str | None, float] = {}
        self._shown_late: set[tuple[str, str | None]] = set()
        self._answering = threading.local()

    def due(self, call: Call) -> str | None:
        """Return the fault that hits this call, None for none; the call is recorded."""
        with self._lock:
            self._read()
            fault = None
            for rule in self._rules:
                if rule.matches(call):
                    self._matches[rule.id] += 1
                    fault = fault or (rule.fault if rule.hits(self._matches[rule.id]) else None)
            is_call = call.action not in ("enter", "sts:GetCallerIdentity")
            if is_call and self._late_s("grants", call.run, self._begun.setdefault(call.run, time.time())):
                fault = "denied"
            self._keep(call, fault)
            return fault

    def late_s(self, what: str, run: str | None, since: float) -> float:
        """Return for how many seconds more something of a run that happened at a time does not show, 0 if it does."""
        with self._lock:
            self._read()
            return self._late_s(what, run, since)

    def is_late(self, what: str, run: str | None) -> bool:
        """Return whether a kind of effect of a run is currently delayed."""
        return self.late_s(what, run, time.time()) > 0

    @property
    def is_asked_by_role(self) -> bool:
        """Return whether this thread answers a Describe call of a deployed role."""
        return getattr(self._answering, "is_role", False)

    @contextmanager
    def describing(self, call: Call) -> Iterator[None]:
        """Answer a call of a deployed role in the block."""
        self._answering.is_role = call.action.partition(":")[2].startswith(("Describe", "Get"))
        try:
            yield
        finally:
            self._answering.is_role = False

    def _late_s(self, what: str, run: str | None, since: float) -> float:
        rules = (rule for rule in self._rules if rule.fault == LATE and rule.what == what and rule.run in (None, run))
        left_s = max((rule.seconds for rule in rules), default=0.0) - (time.time() - since)
        if left_s > 0 and (what, run) not in self._shown_late:
            self._shown_late.add((what, run))
            self._keep(Call(run, "AWS", LATE, what), LATE)
        return max(left_s, 0.0)

    def _keep(self, call: Call, fault: str | None) -> None:
        line = {"at": round(time.time(), 3), **vars(call)}
        self._record.write(json.dumps(line | ({"fault": fault} if fault else {})) + "\n")

    def run_of(self, access_key: str) -> str | None:
        """Return the run that the holder of an access key works for at this moment."""
        client = self.clients.get(access_key)
        return client.run() if client else None

    def kill(self, access_key: str) -> None:
        """Kill the holder of an access key."""
        client = self.clients.get(access_key)
        if client:
            client.kill()

    def _read(self) -> None:
        try:
            changed_at = self._path.stat().st_mtime_ns
        except FileNotFoundError:
            self._rules, self._read_at = [], -1
            return
        if changed_at != self._read_at:
            self._rules = [Rule(**rule) for rule in json.loads(self._path.read_text())["rules"]]
            self._read_at = changed_at


def refusal(fault: str, call: Call) -> Refusal | None:
    """Return the answer of a fault that keeps the call from taking effect; None for the other faults."""
    service = call.service
    if fault == "throttled":
        code, status = THROTTLING.get(service, ("ThrottlingException", 400))
        return Refusal(code, "Rate exceeded (injected fault)", status)
    if fault == "denied":
        code = DENIAL.get(service, "AccessDeniedException")
        return Refusal(code, f"not authorized to perform {call.action} (injected fault)", 403)
    if fault == "no capacity":
        return Refusal("InsufficientInstanceCapacity", "no sufficient capacity (injected fault)", 500)
    if fault == "internal error":
        return broken(call)
    return None


def broken(call: Call) -> Refusal:
    """Return the service's 500."""
    return Refusal(INTERNAL.get(call.service, "InternalFailure"), "an internal error occurred (injected fault)", 500)


def cut_connection() -> None:
    """Cut the connection of the request that is being answered."""
    flask.request.environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)


def who(session_arn: str) -> str:
    """Return the caller: the function in the name of its role session, else the role, such as Instance or Run.

    LaunchFleet of assumed-role/storage-matrix-LaunchFleetFunctionRole-0D91MG/storage-matrix-LaunchFleetFunction-7H2K.
    """
    role, session = session_arn.split("/")[-2:]
    names = re.search(r"-([A-Za-z]+)Function-", session) or re.search(r"-([A-Za-z]+)Role-", role)
    return names[1] if names else role


def object_name(key: str) -> str:
    """Return the kind of an S3 key or prefix: agent, points, plan.json, gate, ready, raw, instances/."""
    parts = unquote(key).split("/")
    if parts[0] in OF_ALL_RUNS:
        return OF_ALL_RUNS[parts[0]]
    if "raw" in parts:
        return "raw"
    for place, name in (("gates", "gate"), ("ready", "ready")):
        if place in parts:
            return name
    name = parts[-1] or "/".join(parts[-2:])
    return re.sub(r"\d+", "#", re.sub(r"\b[0-9a-f]{32,}\b", "data", name))


def row_name(parameters: dict[str, Any]) -> str:
    """Return the kind of the (first) row in a DynamoDB request, such as CELL or RESOURCE."""
    requests = [request for requests in parameters.get("RequestItems", {}).values() for request in requests]
    item = next((each for request in requests for each in request.values()), {}).get("Item") or parameters.get("Item")
    whole = item or parameters.get("Key") or {}
    partition, key = (whole.get(name, {}).get("S") for name in ("PK", "SK"))
    if partition is not None and not partition.startswith("RUN#"):
        return str(partition)  # rows about several runs, by run
    if key is None:
        values = [value.get("S", "") for value in parameters.get("ExpressionAttributeValues", {}).values()]
        key = next((value for value in values if not value.startswith("RUN#")), "")
    return str(key).partition("#")[0]
