"""DynamoDB is as atomic as on AWS: budgets are reserved and receipts are written by conditional updates."""

from concurrent.futures import ThreadPoolExecutor

from botocore.exceptions import ClientError

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
