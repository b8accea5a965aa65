"""The shapes of botocore's models, with AWS's patterns as they are: the local cloud reads some of them wider."""

from functools import cache
from typing import Any

import regex
from botocore.model import Shape

from local.validation import shapes
from local.validation.requests import model_of


def refusals_of_request(service_name: str, operation: str, parameters: dict[str, Any]) -> list[str]:
    """Return what the model of an operation refuses of a request's parameters, each as "path: problem"."""
    shape = model_of(service_name).operation_model(operation).input_shape
    return [] if shape is None else violations(shape, parameters, operation)


def violations(shape: Shape, value: Any, path: str) -> list[str]:
    """Return "path: problem" for each part of a value that the shape does not allow."""
    return shapes.violations(shape, value, path, _fits)


def _fits(pattern: str, text: str) -> bool:
    return _compiled(pattern).fullmatch(text) is not None


@cache
def _compiled(pattern: str) -> Any:
    return regex.compile(pattern)  # knows \p{L}, as Java's expressions do; Python's own module does not
