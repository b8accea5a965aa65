"""What AWS refuses in a state machine definition and moto accepts."""

from collections.abc import Iterator
from typing import Any

ENDINGS = ("Succeed", "Fail")


def problems(definition: dict[str, Any], path: str = "") -> list[str]:
    """Return dangling transitions, states without an end and unreachable states, of nested state machines too."""
    states = definition.get("States", {})
    start: Any = definition.get("StartAt")
    messages = []
    if start not in states:
        messages.append(f"MISSING_TRANSITION_TARGET: Missing 'Next' target: {start} at {path}/StartAt")
    reached, pending = set(), [start]
    while pending:
        name = pending.pop()
        if name in reached or name not in states:
            continue
        reached.add(name)
        targets = list(_targets(states[name]))
        pending += targets
        messages += _problems_of_state(states, name, targets, path)
    unreachable = [name for name in states if name not in reached]
    return messages + [
        f'MISSING_TRANSITION_TARGET: State "{name}" is not reachable. at {path}/States/{name}' for name in unreachable
    ]


def _problems_of_state(states: dict[str, Any], name: str, targets: list[str], path: str) -> list[str]:
    state, here = states[name], f"{path}/States/{name}"
    messages = [
        f"MISSING_TRANSITION_TARGET: Missing 'Next' target: {target} at {here}"
        for target in targets
        if target not in states
    ]
    if state.get("Type") not in ("Choice", *ENDINGS) and "Next" not in state and not state.get("End"):
        messages.append(f"MISSING_END_STATE: the state has neither Next nor End at {here}")
    nested = [*state.get("Branches", []), *(state[key] for key in ("ItemProcessor", "Iterator") if key in state)]
    for machine in nested:
        messages += problems(machine, here)
    return messages


def _targets(state: dict[str, Any]) -> Iterator[str]:
    for key in ("Next", "Default"):
        if key in state:
            yield state[key]
    for rule in [*state.get("Choices", []), *state.get("Catch", [])]:
        if "Next" in rule:
            yield rule["Next"]
