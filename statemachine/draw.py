"""Draw the state machine as a Mermaid flowchart, from its definition, into a page (between the markers there).

python statemachine/draw.py          # every state, into docs/run.md
python statemachine/draw.py --brief  # a run without failures, into README.md
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WHOLE_PAGE = HERE.parent / "docs" / "run.md"
BRIEF_PAGE = HERE.parent / "README.md"
MARKERS = re.compile(r"(<!-- graph: .*? -->\n).*?(<!-- graph end -->)", re.S)
SHAPES = {
    "Task": ("[", "]"),
    "Choice": ("{{", "}}"),
    "Wait": ("([", "])"),
    "Succeed": ("(((", ")))"),
    "Fail": ("(((", ")))"),
}
STYLES = """\
  classDef task fill:#eef4ff,stroke:#3b6fb6,color:#10243e
  classDef choice fill:#fff7e0,stroke:#b58900,color:#3d2f00
  classDef wait fill:#f2f2f2,stroke:#888888,color:#333333
  classDef succeed fill:#e6f6ea,stroke:#2e8540,color:#123d1c
  classDef fail fill:#fdeaea,stroke:#b3261e,color:#5c100b"""


def drawing(definition: dict[str, Any]) -> str:
    """Return the flowchart of a definition, each Map as a box around its states."""
    lines = ["flowchart TD", *_machine(definition, "  "), STYLES]
    return "\n".join(lines)


def brief_drawing(definition: dict[str, Any]) -> str:
    """Return the flowchart of a run without failures.

    It shows the tasks that run once. A task that repeats until its resource is ready (Poll fleet) becomes the word on
    the arrow that leaves the loop: "finished".
    """
    lines = ["flowchart TD", *_brief_machine(definition, "  "), STYLES.splitlines()[0]]
    return "\n".join(lines)


def _brief_machine(machine: dict[str, Any], indent: str) -> Iterator[str]:
    states = machine["States"]
    steps = list(_steps(machine))
    for name in steps:
        if states[name]["Type"] == "Map":
            inner = states[name]["ItemProcessor"]
            is_innermost = all(state["Type"] != "Map" for state in inner["States"].values())
            yield f'{indent}subgraph {_id(name)}["{name}"]'
            yield f"{indent}  direction {'LR' if is_innermost else 'TB'}"
            yield from _brief_machine(inner, indent + "  ")
            yield f"{indent}end"
            yield f"{indent}style {_id(name)} fill:#f7f7f7,stroke:#999999,color:#222222"
        else:
            yield f'{indent}{_id(name)}["{name}"]:::task'
    for name in steps:
        for answer, following in _ways_on(states, name, shown=steps):
            yield f"{indent}{_id(name)} -->{f'|{answer}|' if answer else ''} {_id(following)}"


def _steps(machine: dict[str, Any]) -> Iterator[str]:
    """Return the Maps, and the Tasks that run once in a launch, on paths from the start without errors."""
    states = machine["States"]
    reached = [machine["StartAt"], *_reachable(states, machine["StartAt"])]
    for name in states:
        kind = states[name]["Type"]
        if name in reached and (kind == "Map" or (kind == "Task" and name not in _reachable(states, name))):
            yield name


def _reachable(states: dict[str, Any], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = {following for _, following in _good_ways(states[waiting.pop()])} - reached
        reached |= new
        waiting.extend(new)
    return reached


def _ways_on(states: dict[str, Any], name: str, shown: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the next steps of a step, each with the value in the last condition on the path to it."""
    passed = {name}
    waiting = [("", name)]
    while waiting:
        answer, passing = waiting.pop(0)
        for word, following in _good_ways(states[passing]):
            if following == name:
                continue
            if following in shown:
                yield word or answer, following
            elif following not in passed:
                passed.add(following)
                waiting.append((word or answer, following))


def _good_ways(state: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Return the next states of a state if nothing fails, each with the value in its condition."""
    ways = [(" or ".join(_words(rule["Condition"])), rule["Next"]) for rule in state.get("Choices", [])]
    ways += [("", state[key]) for key in ("Default", "Next") if key in state]
    return ((word, following) for word, following in ways if not following.startswith("Record failed"))


def _machine(machine: dict[str, Any], indent: str) -> Iterator[str]:
    aside = _after_errors(machine)
    for name, state in machine["States"].items():
        if name in aside:
            continue
        if state["Type"] == "Map":
            yield f'{indent}subgraph {_id(name)}["{name}"]'
            yield f"{indent}  direction TB"
            yield from _machine(state["ItemProcessor"], indent + "  ")
            yield f"{indent}end"
            yield f"{indent}style {_id(name)} fill:#f7f7f7,stroke:#999999,color:#222222"
        else:
            yield _state(name, state, indent)
    if aside:
        # In a separate box, their arrows stay together instead of crossing all others.
        yield f'{indent}subgraph AfterAnError["after an error"]'
        yield f"{indent}  direction TB"
        yield from (_state(name, machine["States"][name], indent + "  ") for name in aside)
        yield f"{indent}end"
        yield f"{indent}style AfterAnError fill:#fdf4f4,stroke:#b3261e,color:#222222,stroke-dasharray:4 3"
    for name, state in machine["States"].items():
        yield from _arrows(name, state, indent)


def _state(name: str, state: dict[str, Any], indent: str) -> str:
    opening, closing = SHAPES[state["Type"]]
    return f'{indent}{_id(name)}{opening}"{name}"{closing}:::{state["Type"].lower()}'


def _after_errors(machine: dict[str, Any]) -> list[str]:
    """Return the states of a machine that are reached only through errors, in the order of the definition."""
    states, waiting = machine["States"], [machine["StartAt"]]
    reached = set(waiting)
    while waiting:
        state = states[waiting.pop()]
        ways = [rule["Next"] for rule in state.get("Choices", [])]
        ways += [state[key] for key in ("Default", "Next") if key in state]
        waiting += [way for way in ways if way not in reached]
        reached.update(ways)
    return [name for name in states if name not in reached]


def _arrows(name: str, state: dict[str, Any], indent: str) -> Iterator[str]:
    for rule in state.get("Choices", []):
        yield f"{indent}{_id(name)} -->|{_answer(rule['Condition'])}| {_id(rule['Next'])}"
    if "Default" in state:
        yield f"{indent}{_id(name)} -->|otherwise| {_id(state['Default'])}"
    if "Next" in state:
        yield f"{indent}{_id(name)} --> {_id(state['Next'])}"
    for caught in state.get("Catch", []):
        yield f"{indent}{_id(name)} -.->|error| {_id(caught['Next'])}"


def _answer(condition: str) -> str:
    """Return the value that a condition compares with, or yes."""
    return " or ".join(_words(condition)) or "yes"


def _words(condition: str) -> list[str]:
    return re.findall(r"'(\w+)'", condition)


def _id(name: str) -> str:
    return re.sub(r"\W", "", name.title().replace("?", "Asked"))


def write(page: Path, flowchart: str) -> None:
    """Put a flowchart between the markers of a page."""
    block = f"```mermaid\n{flowchart}\n```\n"
    page.write_text(MARKERS.sub(lambda marked: marked[1] + block + marked[2], page.read_text()))


if __name__ == "__main__":
    run = json.loads((HERE / "run.asl.json").read_text())
    if "--brief" in sys.argv[1:]:
        write(BRIEF_PAGE, brief_drawing(run))
    else:
        write(WHOLE_PAGE, drawing(run))
