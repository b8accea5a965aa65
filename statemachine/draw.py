"""Draw the state machine as a Mermaid flowchart, from its definition, into the README (between the markers there).

python statemachine/draw.py          # rewrite the drawing in README.md
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
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


def _machine(machine: dict[str, Any], indent: str) -> Iterator[str]:
    for name, state in machine["States"].items():
        if state["Type"] == "Map":
            yield f'{indent}subgraph {_id(name)}["{name}"]'
            yield f"{indent}  direction TB"
            yield from _machine(state["ItemProcessor"], indent + "  ")
            yield f"{indent}end"
            yield f"{indent}style {_id(name)} fill:#f7f7f7,stroke:#999999,color:#222222"
        else:
            opening, closing = SHAPES[state["Type"]]
            yield f'{indent}{_id(name)}{opening}"{name}"{closing}:::{state["Type"].lower()}'
    for name, state in machine["States"].items():
        yield from _arrows(name, state, indent)


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
    """The word that a condition waits for, or yes."""
    words = re.findall(r"'(\w+)'", condition)
    return " or ".join(words) if words else "yes"


def _id(name: str) -> str:
    return re.sub(r"\W", "", name.title().replace("?", "Asked"))


def write() -> None:
    """Put the drawing into the README."""
    definition = json.loads((HERE / "run.asl.json").read_text())
    readme = README.read_text()
    block = f"```mermaid\n{drawing(definition)}\n```\n"
    README.write_text(MARKERS.sub(lambda found: found[1] + block + found[2], readme))


if __name__ == "__main__":
    write()
