"""What a run leaves in the local cloud's memory is packed, and reads as it was written."""

from pathlib import Path

from moto.dynamodb.models.dynamo_type import Item

from local.corrections import packed

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


def plain_row():
    row = Item(None, None, {})
    for name, value in ROW.items():
        row.attrs[name] = packed.DynamoType(value)
    return row


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
