"""DynamoDB, quicker: what moto works out for each row and asks of botocore's models, and need not.

Rows and queries of a run took a quarter of the local cloud's processor time. moto copies a row once for each column of
a projection, wraps each value again to tell its size, and walks through the model of the answer for each value of it,
though an answer is the rows in DynamoDB's own form. tests/local/test_dynamodb.py holds all three against moto's.
"""

import json
from typing import Any

from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.responses import DynamoHandler, DynamoResult

# What only these operations answer is JSON as it is: rows, keys and counts, and no times.
PLAIN = ("GetItem", "Query", "UpdateItem", "PutItem")


def install() -> None:
    """Answer rows without moto's detours."""
    DynamoType.size = _size
    project, serialized = Item.project, DynamoHandler.serialized

    def project_columns(item: Item, expressions: list[list[str]]) -> Item:
        if any(len(expression) > 1 or "[" in expression[0] for expression in expressions):
            return project(item, expressions)
        columns = [name for [name] in expressions]
        return Item(item.hash_key, item.range_key, {name: item.attrs[name] for name in columns if name in item.attrs})

    def serialized_as_it_is(handler: Any, answer: Any) -> Any:
        if isinstance(answer, DynamoResult) and handler._get_action() in PLAIN:
            try:
                body = json.dumps(_without_none(answer.result))
            except TypeError:  # bytes, which moto's serializer knows to write
                return serialized(handler, answer)
            return 200, {"Content-Type": "application/x-amz-json-1.0", **handler.response_headers}, body
        return serialized(handler, answer)

    Item.project = project_columns
    DynamoHandler.serialized = serialized_as_it_is


def _size(value: DynamoType) -> int:
    """Return the size of a value in bytes, as moto counts it."""
    kind, content = value.type, value.value
    if kind == "S":
        return len(content.encode())
    if kind == "N":
        return len(str(content))
    if kind == "M":
        return sum(len(name.encode()) + _size(_typed(nested)) for name, nested in content.items())
    if kind == "L":
        return sum(_size(_typed(nested)) for nested in content)
    if kind in ("SS", "NS", "BS"):
        return sum(_size(DynamoType({kind[0]: nested})) for nested in content)
    return 1 if isinstance(content, bool) else len(content if isinstance(content, bytes) else content.encode())


def _typed(value: Any) -> DynamoType:
    return value if isinstance(value, DynamoType) else DynamoType(value)


def _without_none(answer: Any) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if value is not None}
