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
from botocore.loaders import Loader
from botocore.model import ServiceModel, Shape

# What signs a request or stands in an ARN, where botocore calls the service otherwise.
NAMES = {
    "states": "stepfunctions",
    "elasticfilesystem": "efs",
    "monitoring": "cloudwatch",
    "s3express": "s3",
    "servicequotas": "service-quotas",
}
TYPES: dict[str, type | tuple[type, ...]] = {
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


@cache
def service(name: str) -> ServiceModel:
    """Return botocore's model of a service, by its name there or by the one that ARNs and signatures have.

    Raises UnknownServiceError where botocore has none.
    """
    return ServiceModel(Loader().load_service_model(NAMES.get(name, name), "service-2"), NAMES.get(name, name))


def refusals_of_request(service_name: str, operation: str, parameters: dict[str, Any]) -> list[str]:
    """Return what the model of an operation refuses of a request's parameters, each as "path: problem"."""
    shape = service(service_name).operation_model(operation).input_shape
    return [] if shape is None else list(violations(shape, parameters, operation))


def violations(shape: Shape, value: Any, path: str) -> Iterator[str]:
    """Yield "path: problem" for each part of a value that the shape does not allow."""
    kind = shape.type_name
    expected = TYPES[kind]
    if not isinstance(value, expected) or (isinstance(value, bool) and kind != "boolean"):
        yield f"{path}: {_brief(value)} is no {kind}"
        return
    yield from _outside_limits(shape, value, path)
    if kind == "structure":
        if getattr(shape, "is_document_type", False):
            return
        yield from (f"{path}.{name}: is required" for name in shape.required_members if name not in value)
        for name, member in value.items():
            if name in shape.members:
                yield from violations(shape.members[name], member, f"{path}.{name}")
            else:
                yield f"{path}.{name}: is no member of {shape.name}"
    elif kind == "map":
        for key, member in value.items():
            yield from violations(shape.key, key, f"{path}.{key} (key)")
            yield from violations(shape.value, member, f"{path}.{key}")
    elif kind == "list":
        for index, member in enumerate(value):
            yield from violations(shape.member, member, f"{path}[{index}]")


def _outside_limits(shape: Shape, value: Any, path: str) -> Iterator[str]:
    """Yield what pattern, enumeration, minimum and maximum refuse: of a number's value, of other values' length."""
    least, most = (_limit(shape, name, unset) for name, unset in (("min", -math.inf), ("max", math.inf)))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not least <= value <= most:
            yield f"{path}: {value} is not from {least:g} to {most:g}"
    elif isinstance(value, (str, bytes, list, dict)) and not least <= len(value) <= most:
        yield f"{path}: {_brief(value)} has a length of {len(value)}, not from {least:g} to {most:g}"
    if isinstance(value, str):
        if getattr(shape, "enum", None) and value not in shape.enum:
            yield f"{path}: {value!r} is none of {', '.join(shape.enum)}"
        pattern = shape.metadata.get("pattern")
        if pattern and not _matches(pattern, value):
            yield f"{path}: {_brief(value)} does not match {pattern}"


def _limit(shape: Shape, name: str, unset: float) -> float:
    return float(shape.metadata.get(name, unset))


def _matches(pattern: str, text: str) -> bool:
    """Say whether a text fits a pattern as services apply it: as a whole, where the pattern does not say otherwise."""
    return _compiled(pattern).fullmatch(text) is not None


@cache
def _compiled(pattern: str) -> Any:
    return regex.compile(pattern)  # knows \p{L}, as Java's expressions do; Python's own module does not


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
