"""A value held against a shape of botocore's models.

botocore's own validation knows required members, types and minima. Its models also carry patterns, enumerations and
maxima, which it leaves to the service: a wrong value costs a call, or a stack that rolls back. Here all are judged.
"""

import math
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any

import regex
from judge.requests import model_of

TYPES: dict[str, Any] = {
    "structure": dict,
    "map": dict,
    "list": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "long": int,
    "float": (int, float),
    "double": (int, float),
    "timestamp": (datetime, int, float, str),
    "blob": (bytes, str),
}
MAX_SHOWN = 80


def refusals_of_request(service_name: str, operation: str, parameters: dict[str, Any]) -> list[str]:
    """Return what the model of an operation refuses of a request's parameters, each as "path: problem"."""
    shape = model_of(service_name).operation_model(operation).input_shape
    return [] if shape is None else violations(shape, parameters, operation)


def violations(shape: Any, value: Any, path: str) -> list[str]:
    """Return "path: problem" for each part of a value that the shape does not allow."""
    problems: list[str] = []
    _judge(shape, value, (path,), problems)
    return problems


# The parts of a path: they are joined only where there is a problem, as each value of each request is judged.
Path = tuple[str, ...]


def _judge(shape: Any, value: Any, path: Path, problems: list[str]) -> None:
    """Add to `problems` those of a value."""
    kind = shape.type_name
    if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        problems.append(f"{''.join(path)}: {_brief(value)} is no {kind}")
        return
    if shape.metadata:
        problems += (f"{''.join(path)}: {problem}" for problem in _outside_limits(shape.metadata, value))
    if kind == "structure":
        if not getattr(shape, "is_document_type", False):
            _judge_members(shape, value, path, problems)
    elif kind == "map":
        for key, member in value.items():
            _judge(shape.key, key, (*path, ".", key, " (key)"), problems)
            _judge(shape.value, member, (*path, ".", key), problems)
    elif kind == "list":
        for index, member in enumerate(value):
            _judge(shape.member, member, (*path, f"[{index}]"), problems)


def _judge_members(shape: Any, value: dict[str, Any], path: Path, problems: list[str]) -> None:
    required, members = shape.required_members, shape.members
    problems += (f"{''.join(path)}.{name}: is required" for name in required if name not in value)
    for name, member in value.items():
        if name in members:
            _judge(members[name], member, (*path, ".", name), problems)
        else:
            problems.append(f"{''.join(path)}.{name}: is not a member of {shape.name}")


def _outside_limits(metadata: dict[str, Any], value: Any) -> Iterator[str]:
    """Yield what pattern, enumeration, minimum and maximum refuse: of a number's value, of other values' length."""
    if "min" in metadata or "max" in metadata:
        least, most = float(metadata.get("min", -math.inf)), float(metadata.get("max", math.inf))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if not least <= value <= most:
                yield f"{value} is not from {least:g} to {most:g}"
        elif isinstance(value, (str, bytes, list, dict)) and not least <= len(value) <= most:
            yield f"{_brief(value)} has a length of {len(value)}, not from {least:g} to {most:g}"
    if isinstance(value, str):
        if "enum" in metadata and value not in metadata["enum"]:
            yield f"{value!r} is none of {', '.join(metadata['enum'])}"
        pattern = metadata.get("pattern")
        if pattern and not _compiled(pattern).fullmatch(value):
            yield f"{_brief(value)} does not match {pattern}"


@cache
def _compiled(pattern: str) -> Any:
    return regex.compile(pattern)  # knows \p{L}, as Java's expressions do; Python's own module does not


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
