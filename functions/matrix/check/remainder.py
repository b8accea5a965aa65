"""Checks the readable remainder of a matrix as a whole, so that one wrong value hides none of the other problems."""

import re
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from matrix.check.cells import Expansion
from matrix.check.rules import matrix_problems
from matrix.input.matrix import Matrix
from matrix.terms.problems import Problem, Problems

_LISTS = ("storage", "workload", "fleet", "include", "exclude")
_AXES = _LISTS[:3]
_INDEX = re.compile(rf"\b({'|'.join(_LISTS)})\[(\d+)\]")


def whole_problems(error: ValidationError, document: dict[str, Any]) -> Problems:
    """Yield what the rules of a whole matrix find in the parts of `document` in which `error` finds no fault."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    # A location is empty where the document itself is refused, for a key that is no Unicode.
    locations = [detail["loc"] for detail in details if detail["loc"]]
    bad_keys = {loc[0] for loc in locations if len(loc) == 1 or loc[0] not in _LISTS}
    bad_elements = {loc[:2] for loc in locations if loc[0] in _LISTS}
    kept = {
        name: [i for i in range(len(document[name])) if (name, i) not in bad_elements]
        for name in _LISTS
        if isinstance(document.get(name), list)
    }
    remainder = {key: value for key, value in document.items() if key not in bad_keys and key not in kept}
    remainder |= {name: [document[name][i] for i in indices] for name, indices in kept.items()}
    # Stand-ins that break no rule.
    remainder |= {"name": "remainder"} | ({"repetitions": 1} if "repetitions" in bad_keys else {})
    try:
        matrix = Matrix.model_validate(remainder)
    except ValidationError:  # an axis has nothing left
        return
    is_whole = all(len(kept.get(name, [])) == len(document.get(name, [])) for name in _AXES)
    for problem in matrix_problems(matrix, Expansion(matrix)):
        # What matches nothing here may be meant for a part that could not be read.
        if is_whole or not problem.path.startswith("exclude"):
            yield _with_original_indices(problem, kept)


def _with_original_indices(problem: Problem, kept: dict[str, list[int]]) -> Problem:
    def original(match: re.Match[str]) -> str:
        name, index = match[1], int(match[2])
        return f"{name}[{kept[name][index] if name in kept else index}]"

    return replace(problem, path=_INDEX.sub(original, problem.path), rule=_INDEX.sub(original, problem.rule))
