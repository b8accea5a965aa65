"""What a run leaves in the local cloud's memory is packed, and reads as it was written."""

import sys
from pathlib import Path

import pytest
from moto.dynamodb.models.dynamo_type import Item
from moto.s3.models import FakeKey

from local.corrections import packed
from local.corrections.dynamodb import _size

FIGURES = {f"p{level}": {"N": str(level + 0.125)} for level in range(400)}
ROW = {
    "PK": {"S": "RUN#r"},
    "SK": {"S": "POINT#c#p01"},
    "metrics": {"M": {"duration_s": {"M": FIGURES}}},
    "fleet": {"L": [{"N": "1"}, {"S": '€ and " and \\' * 10}, {"BOOL": True}, {"NULL": True}]},
    "state": {"S": "x" * 1_000},
}


def memory_kib(pid: int) -> int:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1])


def deep_size(thing):
    """The bytes of an object and of all that it refers to."""
    seen, left, size = set(), [thing], 0
    while left:
        part = left.pop()
        if id(part) in seen or isinstance(part, type):
            continue
        seen.add(id(part))
        size += sys.getsizeof(part)
        if isinstance(part, dict):
            left += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple):
            left += part
        elif hasattr(part, "__dict__"):
            left.append(part.__dict__)
    return size


def plain_row():
    row = Item(None, None, {})
    for name, value in ROW.items():
        row.attrs[name] = packed.DynamoType(value)
    return row


def test_a_packed_row_is_a_tenth_and_reads_and_counts_as_it_was_written():
    plain, row = plain_row(), plain_row()
    packed.pack_row(row, _size)

    assert deep_size(row.attrs["metrics"]) < deep_size(plain.attrs["metrics"]) / 10
    assert row.to_json() == plain.to_json() == {"Attributes": ROW}
    assert [value.size() for value in row.attrs.values()] == [_size(value) for value in plain.attrs.values()]
    assert type(row.attrs["state"]) is packed.DynamoType
    packed.unpack_row(row)
    assert {type(value) for value in row.attrs.values()} == {packed.DynamoType}
    assert row.to_json() == plain.to_json()


def test_bytes_in_a_row_are_left_as_they_are():
    row = Item(None, None, {"PK": {"S": "a"}, "log": {"M": {"text": {"B": b"\x00" * 400}}}})

    packed.pack_row(row, _size)

    assert row.attrs["log"].value["text"].value == b"\x00" * 400


@pytest.mark.parametrize("body", [b"", b"{}", b'{"a": 1}' * 1_000, bytes(range(256)) * 3])
def test_a_packed_object_reads_as_it_was_written_and_takes_no_more_than_its_bytes(body):
    key = FakeKey("runs/r/x.json", body, "123456789012", "us-east-1", bucket_name="b")
    before = deep_size(key)

    packed.pack_object(key)

    assert (key.value, key.value, key.contentsize) == (body, body, len(body))
    assert sys.getsizeof(key._value_buffer._kept) <= sys.getsizeof(body)
    assert deep_size(key) < before
    key.dispose()


ROWS, MAX_KIB_EACH = 300, 20


def test_a_row_of_many_figures_takes_little_memory_and_an_update_within_it_is_kept(cloud):
    client = cloud.client("dynamodb")
    names = {"AttributeName": "PK"}, {"AttributeName": "SK"}
    client.create_table(
        TableName="packed",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{**name, "AttributeType": "S"} for name in names],
        KeySchema=[{**name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=True)],
    )

    def write(first: int, count: int) -> None:
        for number in range(first, first + count):
            client.put_item(TableName="packed", Item={**ROW, "SK": {"S": f"POINT#{number}"}})

    write(0, 50)  # what is made once
    before = memory_kib(cloud.process.pid)
    write(50, ROWS)
    assert (memory_kib(cloud.process.pid) - before) / ROWS < MAX_KIB_EACH

    key = {"PK": ROW["PK"], "SK": {"S": "POINT#7"}}
    client.update_item(
        TableName="packed",
        Key=key,
        UpdateExpression="SET #m.#d.p0 = :v",
        ExpressionAttributeNames={"#m": "metrics", "#d": "duration_s"},
        ExpressionAttributeValues={":v": {"N": "7"}},
    )
    stored = client.get_item(TableName="packed", Key=key)["Item"]
    assert stored == {**ROW, **key, "metrics": {"M": {"duration_s": {"M": {**FIGURES, "p0": {"N": "7"}}}}}}
    [row] = client.query(
        TableName="packed",
        KeyConditionExpression="PK = :run AND SK = :point",
        ExpressionAttributeValues={":run": ROW["PK"], ":point": {"S": "POINT#8"}},
        ProjectionExpression="#m",
        ExpressionAttributeNames={"#m": "metrics"},
    )["Items"]
    assert row == {"metrics": ROW["metrics"]}
