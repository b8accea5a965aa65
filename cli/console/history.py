"""The history of one execution: visits of each state by iteration, with input, output and duration.

Pure. Events are fed in order, each once. A loop of a thousand turns is kept as a count and its last turns.
"""

import json
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

# Turns of a loop whose input and output are kept.
KEPT_VISITS = 5
LONGEST_TEXT = 20_000
ENDS = {
    "ExecutionSucceeded": "SUCCEEDED",
    "ExecutionFailed": "FAILED",
    "ExecutionAborted": "ABORTED",
    "ExecutionTimedOut": "TIMED_OUT",
    "MapIterationSucceeded": "SUCCEEDED",
    "MapIterationFailed": "FAILED",
    "MapIterationAborted": "ABORTED",
}
# Suffixes of event types of failed tasks and Maps; a retry or a Catch may follow.
FAILURES = ("Failed", "TimedOut", "StartFailed", "SubmitFailed", "ScheduleFailed")

Event = dict[str, Any]


@dataclass
class Problem:
    """Why a state failed."""

    error: str
    cause: str
    at: float


@dataclass
class Visit:
    """One turn of a state: from its entry to its exit."""

    state: str
    kind: str
    """Its type, such as Task."""
    entered_at: float
    input: str
    exited_at: float | None = None
    output: str = ""
    assigned: dict[str, str] = field(default_factory=dict)
    """Variables that it set, as JSON."""
    attempts: int = 0
    function: str = ""
    """ARN of the Lambda function that it called."""
    failed: Problem | None = None
    """The last failure, if no attempt has followed it."""
    retried: list[Problem] = field(default_factory=list)
    """Failures that were followed by another attempt."""


@dataclass
class StateTrace:
    """All turns of a state in one scope."""

    visits: deque[Visit] = field(default_factory=lambda: deque(maxlen=KEPT_VISITS))
    entered: int = 0
    exited: int = 0
    caught: int = 0
    retries: int = 0
    total_s: float = 0.0
    last_at: float = 0.0
    """When it was last entered or left."""


@dataclass(eq=False)
class Scope:
    """A sequence of states: an execution, or one iteration of an inline Map within it."""

    map_state: str = ""
    index: int = 0
    outer: "Scope | None" = None
    states: dict[str, StateTrace] = field(default_factory=dict)
    taken: dict[tuple[str, str, bool], int] = field(default_factory=dict)
    """Number of times that each edge was taken, by (from, to, whether an error led there)."""
    status: str = "RUNNING"
    open: Visit | None = None
    left: tuple[str, bool] | None = None
    """The last state that was left, and whether an error ended it."""
    item: str = ""
    """Input of its first state, which the Map's ItemSelector made."""

    def trace(self, state: str) -> StateTrace:
        """Return the activity of a state in this scope."""
        return self.states.setdefault(state, StateTrace())


class History:
    def __init__(self) -> None:
        """Begin without any event."""
        self.root = Scope()
        self.iterations: dict[tuple[str, int], Scope] = {}
        self.last_id = 0
        self.problem: Problem | None = None
        """Reason why the execution failed."""
        self.items: dict[str, int] = {}
        """Number of items of each Map."""
        self._scope_of: dict[int, Scope] = {}

    @property
    def has_ended(self) -> bool:
        """Return whether the execution's last event has been read."""
        return self.root.status != "RUNNING"

    def feed(self, events: Iterable[Event]) -> None:
        """Add events in the order of their ids. Known events are ignored."""
        for event in events:
            if event["id"] > self.last_id:
                self.last_id = event["id"]
                self._take(event)

    def _take(self, event: Event) -> None:
        kind, at = str(event["type"]), _epoch(event["timestamp"])
        details = _details(event)
        scope = self._scope_of[event["id"]] = self._scope(event, kind, details)
        if kind.endswith("StateEntered"):
            _enter(scope, kind.removesuffix("StateEntered"), details, at)
        elif kind.endswith("StateExited"):
            _exit(scope, details, at)
        elif kind.endswith("Scheduled") and scope.open:
            _attempt(scope, details)
        elif kind in ENDS:
            scope.status = ENDS[kind]
            if scope is self.root and scope.status != "SUCCEEDED":
                self.problem = Problem(_text(details, "error"), _text(details, "cause"), at)
        elif kind == "MapStateStarted" and scope.open:
            self.items[scope.open.state] = details.get("length", 0)
        elif kind.endswith(FAILURES) and scope.open:
            scope.open.failed = Problem(_text(details, "error"), _text(details, "cause"), at)
            scope.trace(scope.open.state).last_at = at

    def _scope(self, event: Event, kind: str, details: dict[str, Any]) -> Scope:
        """Return the scope of an event: that of its previous event, except at the start and end of a Map."""
        scope = self._scope_of.get(event["previousEventId"], self.root)
        if kind.startswith("Execution"):
            return self.root
        if kind == "MapIterationStarted":
            name, index = str(details["name"]), int(details["index"])
            # An iteration may follow from the end of the one before it.
            outer = _climb(scope, name)
            return self.iterations.setdefault((name, index), Scope(name, index, outer))
        if kind.startswith("MapIteration"):
            return self.iterations.get((str(details.get("name")), int(details.get("index", 0))), scope)
        if kind.startswith("MapState") and kind != "MapStateEntered":
            while scope.outer and not (scope.open and scope.open.kind == "Map"):
                scope = scope.outer
        return scope


def _climb(scope: Scope, map_state: str) -> Scope:
    while scope.outer and scope.map_state == map_state:
        scope = scope.outer
    return scope


def _enter(scope: Scope, kind: str, details: dict[str, Any], at: float) -> None:
    name = str(details["name"])
    if scope.left:
        edge = scope.left[0], name, scope.left[1]
        scope.taken[edge] = scope.taken.get(edge, 0) + 1
    scope.open = Visit(name, kind, at, _text(details, "input"))
    scope.item = scope.item or scope.open.input
    trace = scope.trace(name)
    trace.visits.append(scope.open)
    trace.entered += 1
    trace.last_at = at


def _exit(scope: Scope, details: dict[str, Any], at: float) -> None:
    visit = scope.open
    if visit is None:
        return
    visit.exited_at, visit.output = at, _text(details, "output")
    visit.assigned = {str(name): _cut(str(value)) for name, value in (details.get("assignedVariables") or {}).items()}
    trace = scope.trace(visit.state)
    trace.exited += 1
    trace.total_s += at - visit.entered_at
    trace.last_at = at
    trace.caught += visit.failed is not None
    scope.left, scope.open = (visit.state, visit.failed is not None), None


def _attempt(scope: Scope, details: dict[str, Any]) -> None:
    visit = scope.open
    assert visit is not None  # noqa: S101 - looked at by the caller
    visit.attempts += 1
    if visit.failed:
        visit.retried.append(visit.failed)
        visit.failed = None
        scope.trace(visit.state).retries += 1
    visit.function = _function(details) or visit.function


def _function(details: dict[str, Any]) -> str:
    try:
        return str(json.loads(details.get("parameters") or "{}").get("FunctionName", ""))
    except (ValueError, AttributeError, RecursionError):
        return ""


def _details(event: Event) -> dict[str, Any]:
    """Return the details of an event, whose key depends on its type, such as stateEnteredEventDetails."""
    return next((value for name, value in event.items() if name.endswith("EventDetails") and value), {})


def _text(details: dict[str, Any], name: str) -> str:
    return _cut(str(details.get(name) or ""))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}… ({len(text):,} characters)"


def _epoch(timestamp: Any) -> float:
    return float(timestamp.timestamp() if hasattr(timestamp, "timestamp") else timestamp)
