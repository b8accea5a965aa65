"""The graph of a run and its states, for one file system and one cell. Pure: histories in, documents out."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cli.console.definition import Place, is_distributed, item_name
from cli.console.documents import Graph, GraphState, ProblemView, StateStatus, StateView, TakenEdge, VisitView
from cli.console.history import History, Problem, Scope, StateTrace, Visit


@dataclass(frozen=True)
class Traced:
    """A run, read from its execution histories."""

    places: Mapping[str, Place]
    parent: History
    parent_arn: str
    children: Mapping[str, tuple[str, History]]
    """ARN and history of each iteration of distributed Maps, by its item: the file system."""

    def scope_of(self, state: str, file_system: str, cell: str) -> tuple[str, History, Scope] | None:
        """Return the execution and the scope of a state; None if the run has not reached them."""
        arn, history, scope = self.parent_arn, self.parent, self.parent.root
        for name in self.places[state]["maps"]:
            if is_distributed(self.places[name]["state"]):
                if file_system not in self.children:
                    return None
                arn, history = self.children[file_system]
                scope = history.root
            else:
                spot = self._iteration(history, name, cell)
                if spot is None:
                    return None
                scope = spot
        return arn, history, scope

    def _iteration(self, history: History, map_state: str, item: str) -> Scope | None:
        """Return the iteration of an item, None if it has not started."""
        key = item_name(self.places[map_state]["state"])
        of_map = (scope for (name, _), scope in history.iterations.items() if name == map_state)
        return next((scope for scope in of_map if _item(scope.item, key) == item), None)


def _item(text: str, key: str) -> str:
    """Return the item of an iteration, by the input of its first state."""
    try:
        value = json.loads(text).get(key, "")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return str(value)


def graph(traced: Traced, file_system: str, cell: str, reading: str) -> Graph:
    """Return the activity of the states, and the edges that were taken."""
    states: dict[str, GraphState] = {}
    edges: list[TakenEdge] = []
    seen: set[int] = set()
    for name in traced.places:
        spot = traced.scope_of(name, file_system, cell)
        if spot is None:
            continue
        _, history, scope = spot
        if name in scope.states:
            states[name] = _state(scope.states[name], history, scope)
        if id(scope) not in seen:
            seen.add(id(scope))
            edges += [
                {"source": source, "target": target, "caught": caught, "times": times}
                for (source, target, caught), times in scope.taken.items()
            ]
    return {"states": states, "edges": edges, "maps": _titles(traced, file_system, cell), "reading": reading}


def _titles(traced: Traced, file_system: str, cell: str) -> dict[str, str]:
    titles: dict[str, str] = {}
    for name, place in traced.places.items():
        spot = traced.scope_of(name, file_system, cell)
        if place["state"].get("Type") != "Map" or spot is None:
            continue
        _, history, _ = spot
        count = history.items.get(name)
        if count is None:
            continue
        begun = sum(map_state == name for map_state, _ in history.iterations)
        if is_distributed(place["state"]):
            begun = len(traced.children)
        titles[name] = f"{begun} of {count}"
    return titles


def _state(trace: StateTrace, history: History, scope: Scope) -> GraphState:
    return {
        "status": _status(trace, history, scope),
        "entered": trace.entered,
        "retries": trace.retries,
        "caught": trace.caught,
        "last_at": trace.last_at,
        "total_s": round(trace.total_s, 3),
    }


def _status(trace: StateTrace, history: History, scope: Scope) -> StateStatus:
    last = trace.visits[-1]
    if trace.entered > trace.exited:
        # Use the status of the scope that ended: an iteration may fail within an execution that goes on.
        ended = scope.status if scope.status != "RUNNING" else history.root.status
        if ended != "RUNNING":
            return "failed" if ended in ("FAILED", "TIMED_OUT") else "stopped"
        return "retrying" if last.failed else "running"
    return "caught" if last.failed else "done"


def state_view(traced: Traced, name: str, where: tuple[str, str], address_of: Callable[[str], str]) -> StateView:
    """Return the details of a state. `where` is the shown (file system, cell)."""
    place = traced.places[name]
    spot = traced.scope_of(name, *where)
    trace = spot[2].states.get(name) if spot else None
    return {
        "name": name,
        "kind": str(place["state"].get("Type", "")),
        "comment": str(place["state"].get("Comment", "")),
        "where": _where(traced, place, where),
        "arn": spot[0] if spot else "",
        "address": address_of(spot[0]) if spot else "",
        "function": next((visit.function for visit in reversed(trace.visits) if visit.function), "") if trace else "",
        "summary": _state(trace, spot[1], spot[2]) if spot and trace else None,
        "visits": [_visit(visit) for visit in reversed(trace.visits)] if trace else [],
    }


def _where(traced: Traced, place: Place, where: tuple[str, str]) -> str:
    """Return the file system and cell for which a state ran. Empty in the outermost machine."""
    items = {"file_system": where[0], "cell": where[1]}
    keys = [item_name(traced.places[name]["state"]) for name in place["maps"]]
    return " · ".join(items.get(key, key) for key in keys)


def _visit(visit: Visit) -> VisitView:
    return {
        "entered_at": visit.entered_at,
        "exited_at": visit.exited_at,
        "attempts": visit.attempts,
        "input": visit.input,
        "output": visit.output,
        "assigned": visit.assigned,
        "failed": _problem(visit.failed),
        "retried": [problem for each in visit.retried if (problem := _problem(each))],
    }


def _problem(problem: Problem | None) -> ProblemView | None:
    return {"error": problem.error, "cause": problem.cause, "at": problem.at} if problem else None
