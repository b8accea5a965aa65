"""How many events the history of an execution gets, counted from the definition.

Of a standard workflow each state writes that it was entered and left, and between them what its type does (Step
Functions API, HistoryEvent). An execution that reaches 25,000 of them fails (quotas, state throttling).
"""

from collections.abc import Iterator
from typing import Any

# Entered and exited, and what is between: an invocation is scheduled, started and ended, a Map started and ended.
EVENTS = {"Task": 5, "Choice": 2, "Wait": 2, "Pass": 2, "Succeed": 2, "Fail": 1, "Map": 4, "Parallel": 4}
# Scheduled, started and failed, for each attempt that is followed by another.
EVENTS_PER_RETRY = 3
EVENTS_PER_ITERATION = 2  # started and ended
EVENTS_PER_EXECUTION = 2  # likewise


def following(state: dict[str, Any]) -> list[str]:
    """Return the names of all states that may come next."""
    rules = [*state.get("Choices", []), *state.get("Catch", [])]
    return [name for name in [state.get("Next"), state.get("Default"), *(rule["Next"] for rule in rules)] if name]


def cycle(states: dict[str, Any], member: str) -> set[str]:
    """Return the states that lead to a state and are led to by it: its polling loop."""
    return {name for name in _reached(states, member) if member in _reached(states, name)}


def _reached(states: dict[str, Any], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = following(states[start])
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += following(states[name])
    return reached


def turn(states: dict[str, Any], member: str) -> int:
    """Return the events of one turn of the loop that a state is in."""
    return sum(EVENTS[states[name]["Type"]] for name in cycle(states, member))


def longest(machine: dict[str, Any], *, with_retries: bool) -> int:
    """Return the events of the longest way through a machine that enters no state twice, without those of its Maps."""
    states = machine["States"]

    def cost(name: str) -> int:
        state = states[name]
        retries = sum(retry.get("MaxAttempts", 3) for retry in state.get("Retry", [])) if with_retries else 0
        return EVENTS[state["Type"]] + EVENTS_PER_RETRY * retries

    def ways(name: str, passed: frozenset[str]) -> Iterator[int]:
        passed |= {name}
        onwards = [one for one in following(states[name]) if one not in passed]
        yield cost(name) + max((max(ways(one, passed)) for one in onwards), default=0)

    return max(ways(machine["StartAt"], frozenset()))
