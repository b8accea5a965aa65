"""Read documents. A value of a wrong type is refused with path, value and rule."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from pydantic_core import from_json

from matrix.terms.documents.compared import BaselineDocument, ComparisonDocument
from matrix.terms.documents.job import (
    BakeRecord,
    BarrierRecord,
    BootedImage,
    FleetRecord,
    FleetVolumes,
    Gate,
    JobDocument,
    Roster,
)
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.samples import SamplesDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.documents.values import ValuesDocument, wrong_shape
from matrix.terms.errors import InvalidDocument
from matrix.terms.problems import display, path_text

T = TypeVar("T")
# More is no time, size, rate or cost of anything; arithmetic with larger numbers overflows.
LARGEST = 1e24
# A larger number has 25 digits, or an exponent.
DIGITS_AS_ZEROS = bytes.maketrans(b"0123456789E", b"0000000000e")
MAY_BE_HUGE = (b"0" * 25, b"e0")
# By the names of their schemas in dist/schemas.
DOCUMENTS: dict[str, type] = {
    "plan": PlanDocument,
    "job": JobDocument,
    "fleet": FleetRecord,
    "volumes": FleetVolumes,
    "meeting": BarrierRecord,
    "roster": Roster,
    "gate": Gate,
    "recipe": BakeRecord,
    "booted": BootedImage,
    "samples": SamplesDocument,
    "result": ResultDocument,
    "summary": SummaryDocument,
    "summary.values": ValuesDocument,
    "receipt": ReceiptDocument,
    "comparison": ComparisonDocument,
    "baseline": BaselineDocument,
}


@cache
def adapter(kind: type, *, is_described: bool = False) -> TypeAdapter[Any]:
    """Return the validator of a document type, which also has its schema. Unknown keys are refused.

    With `is_described` the schema has the description of each key. pydantic parses the sources for that, which took
    half of the time that a command needed to read its documents.
    """
    strict = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=is_described)
    return TypeAdapter(with_config(strict)(kind))


def parse(text: bytes, name: str) -> Any:
    """Return the JSON of a document. `name` identifies it, such as its key. Raises InvalidDocument with the reason."""
    try:
        # Half to a third of the time that json takes, with the same values.
        document = from_json(text, allow_inf_nan=False)
    except ValueError:
        document = _parsed_by_json(text, name)
    if _may_be_huge(text) and any(abs(number) > LARGEST for number in _numbers(document)):
        raise InvalidDocument(f"{name} cannot be read: it has a number above {LARGEST:g}")
    return document


def _may_be_huge(text: bytes) -> bool:
    """Whether a text of JSON may hold a number above `LARGEST`. Visiting all numbers takes as long as reading them."""
    shape = text.translate(DIGITS_AS_ZEROS, b" \t\r\n+")
    return any(_ends_in_number(before) for each in MAY_BE_HUGE for before in shape.split(each)[:-1])


def _ends_in_number(shape: bytes) -> bool:
    """Whether a shape ends outside of a string; what follows within quotes is an id or digest."""
    # Of a number without 25 digits in a row at most 49 characters stand before its exponent.
    return shape[-60:].rstrip(b"0.").endswith((b":", b",", b"[", b"-"))


def _parsed_by_json(text: bytes, name: str) -> Any:
    """Parse JSON that pydantic refuses but Python accepts (half a surrogate pair). Raises with Python's reason."""
    try:
        # As text: of bytes Python guesses the encoding, and whoever checks them as UTF-8 checks something else.
        return json.loads(text.decode("utf-8-sig"), parse_constant=_refuse)
    except RecursionError as error:
        raise InvalidDocument(f"{name} cannot be read: it is nested too deeply") from error
    except ValueError as error:  # no JSON, no UTF-8, or a number of too many digits
        raise InvalidDocument(f"{name} cannot be read: {error if text else 'it is empty'}") from error


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a number of JSON")


def _numbers(document: Any) -> Iterator[float]:
    left = [document]
    while left:
        value = left.pop()
        if isinstance(value, (dict, list)):
            left += value.values() if isinstance(value, dict) else value
        elif isinstance(value, (int, float)):
            yield value


def read(kind: type[T], document: object, name: str) -> T:
    """Return a document after a check that it is one of `kind`. `name` identifies it, such as its key.

    An unknown key is not a problem: a newer version may have written it. Raises InvalidDocument.
    """
    try:
        adapter(cast("type", kind)).validate_python(document, extra="ignore")
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        where = path_text(tuple(first["loc"])) or "the whole document"
        value = "" if first["type"] == "missing" else f" {display(first['input'])}"
        raise InvalidDocument(
            f"{name}: {where}:{value} {first['msg']}{more}; docs/run.md says what it holds"
        ) from error
    if kind is ValuesDocument and (wrong := wrong_shape(cast("ValuesDocument", document))):
        raise InvalidDocument(f"{name}: {wrong}")
    return cast("T", document)
