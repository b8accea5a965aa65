"""Errors in a state machine definition that AWS refuses and moto accepts."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from judge import states as state_rules

ENDINGS = ("Succeed", "Fail")
# Fields of a state with nested state machines; their variable scopes are inside that of the state.
NESTED = state_rules.NESTED
MAX_SECONDS = state_rules.MAX_SECONDS


def problems(definition: dict[str, Any]) -> list[str]:
    """Return invalid transitions, states without end, unreachable ones, variables out of scope, and invalid states."""
    names = Counter(_names(definition))
    twice = [f"DUPLICATE_STATE_NAME: Duplicate State name: {name} at /States" for name, n in names.items() if n > 1]
    timeout = definition.get("TimeoutSeconds", 1)
    if not isinstance(timeout, int) or not 1 <= timeout <= MAX_SECONDS:
        twice.append(
            f"SCHEMA_VALIDATION_FAILED: {timeout!r} is not a number from 1 to {MAX_SECONDS} at /TimeoutSeconds"
        )
    return twice + _problems_of_machine(definition, "", frozenset(), frozenset(), "JSONPath")


def _problems_of_machine(
    definition: dict[str, Any], path: str, outer: frozenset[str], hidden: frozenset[str], language: str
) -> list[str]:
    """Return the problems of a machine and of its nested machines.

    `outer` are the variables that the enclosing scopes assign, `hidden` those of them that cannot be read in this
    machine, and `language` is the query language of the enclosing machine.
    """
    language = definition.get("QueryLanguage", language)
    states = definition.get("States", {})
    own = frozenset(name for state in states.values() for name in _assigned(state))
    hidden -= own
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
        own_language = states[name].get("QueryLanguage", language)
        messages += state_rules.problems(name, states[name], f"{path}/States/{name}", own_language)
        messages += _problems_of_variables(states[name], f"{path}/States/{name}", outer, hidden)
        for machine, is_distributed in _nested(states[name]):
            visible = outer | own
            unread = visible if is_distributed else hidden
            messages += _problems_of_machine(machine, f"{path}/States/{name}", visible, unread, language)
    unreachable = [name for name in states if name not in reached]
    return messages + [
        f'MISSING_TRANSITION_TARGET: State "{name}" is not reachable. at {path}/States/{name}' for name in unreachable
    ]


def _names(definition: dict[str, Any]) -> Iterator[str]:
    """Yield the names of all states, of machines within states too: they share one name space."""
    for name, state in definition.get("States", {}).items():
        yield name
        for machine, _ in _nested(state):
            yield from _names(machine)


def _problems_of_state(states: dict[str, Any], name: str, targets: list[str], path: str) -> list[str]:
    state, here = states[name], f"{path}/States/{name}"
    messages = [
        f"MISSING_TRANSITION_TARGET: Missing 'Next' target: {target} at {here}"
        for target in targets
        if target not in states
    ]
    if state.get("Type") not in ("Choice", *ENDINGS) and "Next" not in state and not state.get("End"):
        messages.append(f"MISSING_END_STATE: the state has neither Next nor End at {here}")
    return messages


def _problems_of_variables(
    state: dict[str, Any], here: str, outer: frozenset[str], hidden: frozenset[str]
) -> Iterator[str]:
    """Yield them; Step Functions guide, "Passing data between states with variables", scope."""
    for name in sorted(set(_assigned(state)) & outer):
        yield f"SCHEMA_VALIDATION_FAILED: an outer scope assigns the variable '{name}' too at {here}/Assign"
    for name in sorted(set(_read({key: value for key, value in state.items() if key not in NESTED})) & hidden):
        yield f"SCHEMA_VALIDATION_FAILED: a distributed Map cannot read the outer variable '{name}' at {here}"


def _assigned(state: dict[str, Any]) -> Iterator[str]:
    """Yield the names of all variables that a state may assign, without the suffix of JSONPath."""
    for rule in [state, *state.get("Choices", []), *state.get("Catch", [])]:
        for name in rule.get("Assign", {}):
            yield name.removesuffix(".$")


def _read(value: Any) -> Iterator[str]:
    """Yield the variables in JSONata expressions below a value, including names of functions that are not called."""
    if isinstance(value, dict):
        for child in value.values():
            yield from _read(child)
    elif isinstance(value, list):
        for child in value:
            yield from _read(child)
    elif isinstance(value, str) and value.startswith("{%"):
        without_texts = re.sub(r"'[^']*'|\"[^\"]*\"", "''", value)
        yield from re.findall(r"\$(\w+)\b(?!\s*\()", without_texts)


def _nested(state: dict[str, Any]) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the state machines within a state, and whether their states run in child executions."""
    for key in NESTED:
        for machine in state.get(key, []) if key == "Branches" else [state[key]] if key in state else []:
            yield machine, machine.get("ProcessorConfig", {}).get("Mode") == "DISTRIBUTED"


def _targets(state: dict[str, Any]) -> Iterator[str]:
    for key in ("Next", "Default"):
        if key in state:
            yield state[key]
    for rule in [*state.get("Choices", []), *state.get("Catch", [])]:
        if "Next" in rule:
            yield rule["Next"]
