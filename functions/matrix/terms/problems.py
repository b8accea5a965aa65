"""Problems of a matrix: the path, the value, the rule and a fix."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

MAX_VALUE_CHARACTERS = 80
MAX_SHOWN_ENTRIES = 8
MAX_PROBLEMS = 200
# Step Functions keeps 32,768 characters of an error's cause.
MAX_LINES = 100

# Marks a place within the value of a problem, such as the position at which a text is not valid JSON.
HERE = "⟨here⟩"

Path = tuple[str | int, ...]


class Weight(StrEnum):
    """What a warning puts at risk, in the order of a plan's warnings."""

    UNFAIR = "unfair"  # something else than the storages would be compared
    NO_VERDICT = "no-verdict"  # a question would have no answer
    MONEY = "money"  # it costs more than it need, or more than the plan knows
    NOTE = "note"


@dataclass(frozen=True)
class Problem:
    """A reason not to run the matrix, or with a `weight` a warning: the matrix is planned all the same."""

    path: str
    value: object
    rule: str
    fix: str
    weight: Weight | None = None
    code: str = ""
    """Name of the violated rule. Stable, unlike the sentences."""

    @property
    def is_warning(self) -> bool:
        """Whether the matrix is planned all the same."""
        return self.weight is not None

    def to_document(self) -> dict[str, object]:
        document = {"path": self.path, "value": self.value, "rule": self.rule, "fix": self.fix}
        return document | ({"code": self.code} if self.code else {})

    def __str__(self) -> str:
        """Return one line such as `storage[2].iops: 20000 needs at least 40 GiB …; write …`."""
        shown = "" if self.value is None else f"{display(self.value)} "
        return f"{self.path or 'matrix'}: {shown}{self.rule}; {self.fix}"


Problems = Iterator[Problem]


def check(rules: Iterable[Callable[..., Problems]], *args: Any) -> Problems:
    """Yield the problems of all rules; the code of each is its rule's name, such as `iops-fit-the-size`."""
    for rule in rules:
        for problem in rule(*args):
            yield replace(problem, code=problem.code or rule.__name__.replace("_", "-"))


class InvalidMatrix(Exception):
    """The matrix cannot be planned; `problems` holds every reason, in the order of the input."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Keep all problems; the message lists the first hundred line by line."""
        self.problems = tuple(problems)
        lines = [str(problem) for problem in self.problems[:MAX_LINES]]
        unsaid = len(self.problems) - len(lines)
        super().__init__("\n".join([*lines, f"and {unsaid} more problems"] if unsaid else lines))

    def to_document(self) -> dict[str, object]:
        listed = [problem.to_document() for problem in self.problems[:MAX_PROBLEMS]]
        unlisted = len(self.problems) - len(listed)
        return {"problems": listed} | ({"further_problems": unlisted} if unlisted else {})


def path_text(path: Path) -> str:
    """Return a path such as `storage[2].iops`; keys that are not plain words are shown quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("$", "").replace("_", "").isalnum() and step.isascii() and len(step) <= MAX_VALUE_CHARACTERS:
            text += f".{step}" if text else step
        else:
            text += f"[{display(step)}]"
    return text


def shorten(value: object) -> object:
    """Return `value` for display: short values unchanged, others as a short text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)  # JSON has no infinity, but 1e999 is read as it
    if isinstance(value, (list, dict)):
        text = display(value)
        return value if len(text) <= MAX_VALUE_CHARACTERS and text[:1] in "[{" else text
    # An integer of a thousand digits is legal JSON, and slow to print.
    if isinstance(value, int):
        return value if abs(value) < 10**20 else f"an integer of {value.bit_length()} bits"
    if isinstance(value, str) and len(value) <= MAX_VALUE_CHARACTERS and value.isprintable():
        return value
    return display(value)


def display(value: object) -> str:
    """Return `value` as short printable ASCII JSON: no control sequences, no lone surrogates reach a terminal."""
    if isinstance(value, str):
        cut = len(value) > MAX_VALUE_CHARACTERS
        return json.dumps(value[:MAX_VALUE_CHARACTERS] + ("…" if cut else ""), ensure_ascii=not value.isprintable())
    if isinstance(value, (list, dict)):
        text = json.dumps(value, default=str) if len(value) <= MAX_SHOWN_ENTRIES else ""
        many = f"a list of {len(value)}" if isinstance(value, list) else f"an object with {len(value)} keys"
        return text if 0 < len(text) <= MAX_VALUE_CHARACTERS else many
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**20:
        return f"an integer of {value.bit_length()} bits"
    return json.dumps(value, default=str)
