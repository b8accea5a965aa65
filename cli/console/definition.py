"""The definition of a state machine as the browser draws it: states, edges and conditions. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

MAP_ITEM = "$states.context.Map.Item.Value"


class DrawnEdge(TypedDict):
    """An edge to a state that may follow."""

    target: str
    kind: Literal["next", "choice", "default", "caught"]


class DrawnState(TypedDict):
    name: str
    kind: str
    edges: list[DrawnEdge]
    inside: "Machine | None"
    """The states of a Map's iterations."""


class Machine(TypedDict):
    """States that run one after another."""

    start: str
    states: list[DrawnState]


def machine(definition: Mapping[str, Any]) -> Machine:
    """Return the states and edges to draw for a definition."""
    states: list[DrawnState] = [
        {
            "name": name,
            "kind": str(state["Type"]),
            "edges": list(_edges(state)),
            "inside": machine(state["ItemProcessor"]) if "ItemProcessor" in state else None,
        }
        for name, state in definition["States"].items()
    ]
    return {"start": definition["StartAt"], "states": states}


def _edges(state: Mapping[str, Any]) -> Iterator[DrawnEdge]:
    for choice in state.get("Choices", []):
        yield {"target": choice["Next"], "kind": "choice"}
    if "Default" in state:
        yield {"target": state["Default"], "kind": "default"}
    if "Next" in state:
        yield {"target": state["Next"], "kind": "next"}
    for catch in state.get("Catch", []):
        yield {"target": catch["Next"], "kind": "caught"}


class Place(TypedDict):
    """The position of a state: its enclosing Maps, from the outside in."""

    maps: list[str]
    state: dict[str, Any]


def places(definition: Mapping[str, Any], maps: tuple[str, ...] = ()) -> dict[str, Place]:
    """Return each state of a definition by its name, which no other state has: Step Functions asks for that."""
    by_name: dict[str, Place] = {}
    for name, state in definition["States"].items():
        by_name[name] = {"maps": list(maps), "state": dict(state)}
        if "ItemProcessor" in state:
            by_name |= places(state["ItemProcessor"], (*maps, name))
    return by_name


def is_distributed(state: Mapping[str, Any]) -> bool:
    """Return whether a Map runs its iterations as child executions."""
    return bool(state.get("ItemProcessor", {}).get("ProcessorConfig", {}).get("Mode") == "DISTRIBUTED")


def item_name(state: Mapping[str, Any]) -> str:
    """Return the name under which an iteration of a Map gets its item, from its ItemSelector."""
    selector = state.get("ItemSelector")
    if not isinstance(selector, dict):
        return ""
    return next((str(name) for name, value in selector.items() if MAP_ITEM in str(value)), "")
