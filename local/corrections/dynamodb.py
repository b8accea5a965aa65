"""DynamoDB: one call at a time, as its updates are atomic and moto's are not; and faster.

moto's UpdateItem puts an empty item and fills it afterwards, and checks a condition some time before it writes. So a
query may see a row without its attributes, and two conditional writes at once may both succeed.

Rows and queries of a run took a quarter of the local cloud's processor time. moto copies a row once for each column of
a projection and wraps each value again to compute its size. It walks through the model of the response for each value,
although rows are already in DynamoDB's own format. Ten validators walk through the tree of an update expression,
although most updates only set attributes. A query sorts the rows of all runs, although it asks for those of one.
tests/local/test_dynamodb.py compares all five with moto's.
"""

import copy
import json
import re
import threading
from typing import Any

from moto.dynamodb.exceptions import ItemSizeTooLarge, ItemSizeToUpdateTooLarge
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table
from moto.dynamodb.responses import DynamoHandler, DynamoResult

from local.corrections.packed import PackedValue, pack_row, unpack_row

# Responses of these operations are plain JSON: rows, keys and counts, and no times.
PLAIN = ("GetItem", "Query", "UpdateItem", "PutItem")
# The expressions of functions/aws/records/table.py: set an attribute, or set it only if it does not exist.
SETTING = re.compile(r"(#\w+) = (?:(:\w+)|if_not_exists\(\1, (:\w+)\))")


def install() -> None:
    """Answer DynamoDB's calls one after the other; install it after the enforcement of roles, to serialize that too."""
    answer_quickly()
    lock, call_action = threading.Lock(), DynamoHandler.call_action

    def call_action_alone(self: Any) -> Any:
        with lock:
            return call_action(self)

    DynamoHandler.call_action = call_action_alone


def answer_quickly() -> None:
    """Answer rows without moto's detours."""
    DynamoType.size = _size
    project, serialized, update_item = Item.project, DynamoHandler.serialized, DynamoDBBackend.update_item

    def row(item: Item, hash_key: DynamoType, range_key: DynamoType | None, attrs: dict[str, Any]) -> None:
        item.hash_key, item.range_key, item.attrs = hash_key, range_key, LimitedSizeDict()
        for name, value in attrs.items():
            item.attrs[name] = value if isinstance(value, PackedValue) else DynamoType(value)
        pack_row(item, _size)

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

    def update_plainly(backend: Any, table_name: str, key: dict[str, Any], **update: Any) -> Item:
        settings, table = _settings(**update), backend.get_table(table_name)
        indexed = {attribute["AttributeName"] for attribute in table.attr}
        is_plain = {table.hash_key_attr, table.range_key_attr} - {None} == key.keys() and table.stream_shard is None
        if not settings or not is_plain or not indexed.isdisjoint(name for name, *_ in settings):
            names = [name for name in (table.hash_key_attr, table.range_key_attr) if name in key]
            # The expression may address a member of a packed value.
            unpack_row(table.get_item(*(DynamoType(key[name]) for name in names)) if names else None)
            return update_item(backend, table_name, key, **update)
        return _set(table, key, settings)

    Item.__init__ = row
    DynamoDBBackend.update_item = update_plainly
    Item.project = project_columns
    DynamoHandler.serialized = serialized_as_it_is
    _query_one_partition()


def _query_one_partition() -> None:
    query = Table.query

    def query_partition(
        table: Table, key: Any, compare: Any, values: Any, limit: Any, start: Any, forward: Any, columns: Any,
        index: str | None = None, *rest: Any, **named: Any,
    ) -> Any:  # fmt: skip
        if index is None:
            whole, table = table, copy.copy(table)
            table.items = {key: whole.items[key]} if key in whole.items else {}
        return query(table, key, compare, values, limit, start, forward, columns, index, *rest, **named)

    Table.query = query_partition


def _set(table: Any, key: dict[str, Any], settings: list[tuple[str, Any, bool]]) -> Item:
    """Set attributes of a row; create the row if it does not exist."""
    keys = [DynamoType(key[name]) for name in (table.hash_key_attr, table.range_key_attr) if name]
    if table.get_item(*keys) is None:
        table.put_item(key)
    item: Item = table.get_item(*keys)
    try:
        for name, value, is_first in settings:
            if not (is_first and name in item.attrs):
                item.attrs[name] = DynamoType(value)
    except ItemSizeTooLarge as err:
        raise ItemSizeToUpdateTooLarge from err
    pack_row(item, _size)
    return item


def _settings(
    *,
    update_expression: str | None,
    expression_attribute_names: dict[str, str] | None,
    expression_attribute_values: dict[str, Any] | None,
    return_values_on_condition_check_failure: str | None = None,
    **conditions: Any,
) -> list[tuple[str, Any, bool]]:
    """Return each attribute, its value, and whether it is set only if absent; [] for other expressions."""
    del return_values_on_condition_check_failure
    expression, names, values = update_expression or "", expression_attribute_names or {}, expression_attribute_values
    parts = list(SETTING.finditer(expression))
    is_whole = expression == "SET " + ", ".join(part[0] for part in parts)
    used = [part[2] or part[3] for part in parts]
    is_known = names.keys() == {part[1] for part in parts} and (values or {}).keys() == set(used)
    is_once = len({*names.values()}) == len(parts)
    if any(conditions.values()) or not (is_whole and is_known and is_once) or not values:
        return []
    return [(names[part[1]], values[value], part[2] is None) for part, value in zip(parts, used, strict=True)]


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
