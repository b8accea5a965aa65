"""Checks the readable remainder of a matrix as a whole, so that one wrong value hides none of the other problems."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from matrix.check.cells import Expansion
from matrix.check.kinds import kind_problems
from matrix.check.rules import is_too_much, matrix_problems
from matrix.input import workloads
from matrix.input.matrix import Matrix
from matrix.input.part import Part
from matrix.terms.problems import Problem, Problems
from storages.models import MODELS

_LISTS = ("storage", "workload", "fleet", "include", "exclude")
_AXES = _LISTS[:3]
_INDEX = re.compile(rf"\b({'|'.join(_LISTS)})\[(\d+)\]")


def whole_problems(error: ValidationError, document: dict[str, Any]) -> Problems:
    """Yield the problems that the rules of a whole matrix find in the valid parts of `document`."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    # A location is empty if the document itself is refused, for a key that is not valid Unicode.
    locations = [detail["loc"] for detail in details if detail["loc"]]
    bad_keys = {loc[0] for loc in locations if len(loc) == 1 or loc[0] not in _LISTS}
    bad_elements = {loc[:2] for loc in locations if loc[0] in _LISTS}
    lists = {name: document[name] for name in _LISTS if isinstance(document.get(name), list)}
    kept = {name: [i for i in range(len(items)) if (name, i) not in bad_elements] for name, items in lists.items()}
    rest = {key: value for key, value in document.items() if key not in bad_keys and key not in kept}
    # Stand-ins that break no rule.
    rest |= {"name": "remainder"} | ({"repetitions": 1} if "repetitions" in bad_keys else {})
    if (matrix := _read(rest, lists, kept)) is not None:
        is_whole = all(len(kept.get(name, [])) == len(document.get(name, [])) for name in _AXES)
        for problem in matrix_problems(matrix, Expansion(matrix)):
            # An exclusion without a match may be for a part that could not be read.
            if is_whole or not problem.path.startswith("exclude"):
                yield _with_original_indices(problem, kept)
    yield from _problems_of_kinds(rest, lists, kept)


def _read(rest: dict[str, Any], lists: Mapping[str, list[Any]], kept: Mapping[str, list[int]]) -> Matrix | None:
    """Return the matrix of the kept elements of each list. None if an axis is empty."""
    chosen = {name: [lists[name][i] for i in indices] for name, indices in kept.items()}
    try:
        return Matrix.model_validate(rest | chosen)
    except ValidationError:
        return None


def _problems_of_kinds(rest: dict[str, Any], lists: Mapping[str, list[Any]], kept: dict[str, list[int]]) -> Problems:
    """Yield problems of combinations by type, also for parts with other problems."""
    mended, known = {**lists}, {**kept}
    for name, models in (("storage", MODELS), ("workload", workloads.MODELS)):
        mended[name] = [
            element if i in kept.get(name, []) else _mended(element, models)
            for i, element in enumerate(lists.get(name, []))
        ]
        known[name] = [i for i, element in enumerate(mended[name]) if element is not None]
    matrix = _read(rest, mended, known)
    if matrix is not None and not is_too_much(matrix):
        for problem in kind_problems(matrix, Expansion(matrix).cells):
            yield _with_original_indices(problem, known)


def _mended(element: Any, models: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an element with its readable fields and examples for missing ones. None if an example is missing."""
    tag = element.get("type") if isinstance(element, dict) else None
    model: type[BaseModel] | None = models.get(tag) if isinstance(tag, str) else None
    if model is None:
        return None
    readable = Part(model, element, ()).readable()
    examples = {
        field.alias or name: field.examples[0]
        for name, field in model.model_fields.items()
        if field.is_required() and field.examples
    }
    mended = examples | readable
    try:
        model.model_validate(mended)
    except ValidationError:
        return None
    return mended


def _with_original_indices(problem: Problem, kept: dict[str, list[int]]) -> Problem:
    def original(match: re.Match[str]) -> str:
        name, index = match[1], int(match[2])
        return f"{name}[{kept[name][index] if name in kept else index}]"

    return replace(problem, path=_INDEX.sub(original, problem.path), rule=_INDEX.sub(original, problem.rule))
