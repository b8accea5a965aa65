"""DynamoDB is as atomic as on AWS: budgets are reserved and receipts are written by conditional updates."""

from concurrent.futures import ThreadPoolExecutor

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table
from moto.dynamodb.responses import DynamoHandler

from local.corrections import dynamodb

KEY = {"AttributeName": "k", "AttributeType": "S"}


def test_of_conditional_updates_at_the_same_time_one_wins_and_no_row_is_seen_half_written(cloud):
    client = cloud.client("dynamodb")
    client.create_table(
        TableName="race", KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}], AttributeDefinitions=[KEY],
        BillingMode="PAY_PER_REQUEST",
    )  # fmt: skip

    def claim(row: str) -> bool:
        try:
            client.update_item(
                TableName="race", Key={"k": {"S": row}}, UpdateExpression="SET v = :v",
                ConditionExpression="attribute_not_exists(v)", ExpressionAttributeValues={":v": {"S": "1"}},
            )  # fmt: skip
        except ClientError as error:
            assert error.response["Error"]["Code"] == "ConditionalCheckFailedException"
            return False
        return True

    def look(_: int) -> list[dict]:
        return [item for item in client.scan(TableName="race")["Items"] if "v" not in item]

    rows = [str(number) for number in range(30) for _ in range(4)]
    with ThreadPoolExecutor(12) as threads:
        half_written = threads.map(look, range(60))
        won = list(threads.map(claim, rows))

    assert sum(won) == 30
    assert not any(half_written)


# Each type of DynamoDB's, nested too, as far as moto can tell its size (not that of NULL).
VALUES = {
    "string": {"S": "größer"}, "number": {"N": "-1.50"}, "truth": {"BOOL": True}, "binary": {"B": b"\x00\xff"},
    "list": {"L": [{"S": "a"}, {"M": {"in": {"N": "2"}}}]}, "map": {"M": {"p50": {"N": "1E+3"}, "ü": {"L": []}}},
    "strings": {"SS": ["yy"]}, "numbers": {"NS": ["22"]}, "reserved": {"BOOL": False},
}  # fmt: skip


def setting(client, row: str, names: dict[str, str], values: dict[str, dict]) -> dict:
    """The answer to a client that sets attributes, every other one only where the row has none yet."""
    expression = ", ".join(
        f"{name} = if_not_exists({name}, :v{n})" if n % 2 else f"{name} = :v{n}" for n, name in enumerate(names)
    )
    content = {f":v{n}": value for n, value in enumerate(reversed(list(values.values())[: len(names)]))}
    try:
        return client.update_item(
            TableName="rows", Key={"k": {"S": row}}, UpdateExpression=f"SET {expression}",
            ExpressionAttributeNames=names, ExpressionAttributeValues=content, ReturnValues="ALL_NEW",
        )  # fmt: skip
    except ClientError as error:
        return error.response


def queried(client) -> list[dict]:
    """Answers to queries of a partition, forwards in pages and backwards, and of one that is not there."""
    both = ("k", "HASH"), ("s", "RANGE")
    client.create_table(
        TableName="parts", KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in both],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name, _ in both],
        BillingMode="PAY_PER_REQUEST",
    )  # fmt: skip
    for part, row in ("b", "r3"), ("a", "r2"), ("b", "r1"), ("a", "r1"), ("b", "r22"):
        client.put_item(TableName="parts", Item={"k": {"S": part}, "s": {"S": row}, "v": {"S": part + row}})

    def of(part: str, start: str = "r", **more: object) -> dict:
        return client.query(
            TableName="parts", KeyConditionExpression="k = :k AND begins_with(s, :s)",
            ExpressionAttributeValues={":k": {"S": part}, ":s": {"S": start}}, **more,
        )  # fmt: skip

    page = of("b", Limit=2)
    rest = of("b", Limit=2, ExclusiveStartKey=page["LastEvaluatedKey"])
    return [page, rest, of("b", ScanIndexForward=False), of("a", start="r2"), of("absent")]


def what_a_client_sees(values: dict[str, dict]) -> list[dict]:
    """Answers of moto to one of each call, but for what is random in them."""
    columns = {f"#{name}": name for name in values}
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
        client.create_table(
            TableName="rows", KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}], AttributeDefinitions=[KEY],
            BillingMode="PAY_PER_REQUEST",
        )  # fmt: skip
        key = {"k": {"S": "row"}}
        of_row = {"KeyConditionExpression": "k = :k", "ExpressionAttributeValues": {":k": key["k"]}}
        answers = [
            client.put_item(TableName="rows", Item={**key, **values}, ReturnConsumedCapacity="TOTAL"),
            client.get_item(TableName="rows", Key=key),
            client.get_item(TableName="rows", Key={"k": {"S": "absent"}}),
            client.query(TableName="rows", **of_row),
            client.query(
                TableName="rows", ProjectionExpression=", ".join(columns), ExpressionAttributeNames=columns, **of_row
            ),
            client.query(
                TableName="rows", ProjectionExpression="#map.p50", ExpressionAttributeNames={"#map": "map"}, **of_row
            ),
            client.query(TableName="rows", Select="COUNT", **of_row),
            client.update_item(
                TableName="rows", Key=key, UpdateExpression="SET steps_done = :n", ReturnValues="ALL_NEW",
                ExpressionAttributeValues={":n": {"N": "7"}},
            ),
            client.batch_write_item(RequestItems={"rows": [{"PutRequest": {"Item": {"k": {"S": "other"}}}}]}),
            *(setting(client, row, names, values) for row in ("row", "absent") for names in (columns, {"#k": "k"})),
            client.get_item(TableName="rows", Key={"k": {"S": "absent"}}),
            *queried(client),
        ]  # fmt: skip
    for answer in answers:
        head = answer["ResponseMetadata"]
        answer["ResponseMetadata"] = head["HTTPStatusCode"], head["HTTPHeaders"]["content-type"]
    return answers


@pytest.fixture
def quick(monkeypatch):
    """A function that installs the quicker answers; after the test moto is as it was."""
    holders = (
        (DynamoType, "size"), (Item, "project"), (DynamoHandler, "serialized"), (DynamoDBBackend, "update_item"),
        (Table, "query"),
    )  # fmt: skip
    for holder, name in holders:
        monkeypatch.setattr(holder, name, getattr(holder, name))
    return dynamodb.answer_quickly


@pytest.mark.parametrize("values", [VALUES, {name: value for name, value in VALUES.items() if name != "binary"}])
def test_quicker_answers_are_those_of_moto(quick, values):
    sizes = {name: DynamoType(value).size() for name, value in values.items()}
    answers = what_a_client_sees(values)

    quick()

    assert what_a_client_sees(values) == answers
    assert {name: DynamoType(value).size() for name, value in values.items()} == sizes
