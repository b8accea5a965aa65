"""A cloud that stays up gathers little."""

import itertools
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from local import sweeping

EXECUTIONS, STATES = 60, 12
# The deployed state machine hands its plan on from state to state.
PLAN = {"cells": ["a cell with its steps, times and costs" * 2] * 250}
MAX_KIB_EACH = 200
LOOKS, MAX_KIB_EACH_LOOK = 100, 100


def memory_kib(pid: int) -> int:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1])


def test_an_execution_that_has_ended_takes_little_memory_and_keeps_its_history(cloud):
    names = [f"S{number}" for number in range(STATES)]
    states = {name: {"Type": "Pass", "Next": after} for name, after in itertools.pairwise(names)}
    machine = {"QueryLanguage": "JSONata", "StartAt": "S0", "States": {**states, names[-1]: {"Type": "Succeed"}}}
    client = cloud.client("stepfunctions")
    arn = client.create_state_machine(
        name="growth", definition=json.dumps(machine), roleArn="arn:aws:iam::123456789012:role/r"
    )["stateMachineArn"]

    def run(_number: int) -> str:
        started = client.start_execution(stateMachineArn=arn, input=json.dumps(PLAN))["executionArn"]
        assert cloud.wait_for_execution(started, 60)["status"] == "SUCCEEDED"
        return started

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(run, range(10)))  # what is made once
        before = memory_kib(cloud.process.pid)
        executions = list(threads.map(run, range(EXECUTIONS)))
    grown = memory_kib(cloud.process.pid) - before

    assert grown / EXECUTIONS < MAX_KIB_EACH
    events = client.get_execution_history(executionArn=executions[0])["events"]
    assert [event["type"] for event in events][:2] == ["ExecutionStarted", "PassStateEntered"]
    assert events[-1]["type"] == "ExecutionSucceeded"
    assert json.loads(events[1]["stateEnteredEventDetails"]["input"]) == PLAN


def test_what_is_read_and_what_is_overwritten_takes_no_memory(cloud):
    rows, s3 = cloud.client("dynamodb"), cloud.client("s3")
    names = {"AttributeName": "PK"}, {"AttributeName": "SK"}
    rows.create_table(
        TableName="growth",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{**name, "AttributeType": "S"} for name in names],
        KeySchema=[{**name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=True)],
    )
    for number in range(100):
        text = {str(column): {"S": f"{number} {column}"} for column in range(10)}
        rows.put_item(TableName="growth", Item={"PK": {"S": "RUN#r"}, "SK": {"S": f"CELL#{number}"}, **text})
    s3.create_bucket(Bucket="growth")
    asked = {"ExpressionAttributeNames": {f"#{column}": str(column) for column in range(10)}}
    asked["ProjectionExpression"] = ", ".join(asked["ExpressionAttributeNames"])

    def look(times: int) -> None:
        """As who follows a run does, while its instances write their heartbeats."""
        for _ in range(times):
            s3.put_object(Bucket="growth", Key="heartbeat.json", Body=b"x" * 300_000)
            answer = rows.query(
                TableName="growth",
                KeyConditionExpression="PK = :run",
                ExpressionAttributeValues={":run": {"S": "RUN#r"}},
                **asked,
            )
            assert answer["Count"] == 100

    look(20)
    before = memory_kib(cloud.process.pid)
    look(LOOKS)

    assert (memory_kib(cloud.process.pid) - before) / LOOKS < MAX_KIB_EACH_LOOK


FIGURES = {f"p{level}": {"N": str(level + 0.125)} for level in range(400)}
ROW = {
    "PK": {"S": "RUN#r"},
    "SK": {"S": "POINT#c#p01"},
    "metrics": {"M": {"duration_s": {"M": FIGURES}}},
    "fleet": {"L": [{"N": "1"}, {"S": '€ and " and \\' * 10}, {"BOOL": True}, {"NULL": True}]},
    "state": {"S": "x" * 1_000},
}
ROWS, MAX_KIB_EACH_ROW = 300, 20


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
    assert (memory_kib(cloud.process.pid) - before) / ROWS < MAX_KIB_EACH_ROW

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


def leave(path: Path, number: int, size: int = 0) -> None:
    """Make a file that is so many seconds younger than a day old."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    changed_at = time.time() - 86_400 + number
    os.utime(path, (changed_at, changed_at))


def left_in(*folders: Path) -> list[str]:
    return sorted(path.name for folder in folders for path in folder.iterdir())


def test_old_logs_and_agents_are_removed_and_the_latest_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(sweeping, "MAX_LOGS", 3)
    monkeypatch.setattr(sweeping, "MAX_AGENTS", 2)
    for number in range(5):
        leave(tmp_path / f"logs/i-{number}.log", number)
        leave(tmp_path / f"agents/bucket/{number}.pyz", number)
    (tmp_path / "agents/bucket/4.pyz.unpacked").mkdir()
    leave(tmp_path / "logs/cloud.log", 0)

    sweeping.remove_old_logs(tmp_path)

    assert left_in(tmp_path / "logs", tmp_path / "agents/bucket") == [
        "4.pyz", "4.pyz.unpacked", "cloud.log", "i-2.log", "i-3.log", "i-4.log",
    ]  # fmt: skip


def test_logs_and_agents_have_a_limit_of_age_and_of_size(tmp_path, monkeypatch):
    monkeypatch.setattr(sweeping, "MAX_BYTES", 250)
    leave(tmp_path / "logs/i-1.log", 0, size=100)
    leave(tmp_path / "logs/i-2.log", 1, size=100)
    leave(tmp_path / "logs/Analyse.log", 2, size=100)
    leave(tmp_path / "agents/bucket/a.pyz", -32 * 86_400, size=10)
    leave(tmp_path / "agents/bucket/b.pyz", 0, size=10)

    sweeping.remove_old_logs(tmp_path)

    assert left_in(tmp_path / "logs") == ["Analyse.log", "i-2.log"]
    assert left_in(tmp_path / "agents/bucket") == ["b.pyz"]


INSTANCES, SCRIPT = 100, "x" * 15_000
MAX_KIB_EACH_INSTANCE = 10


def test_an_instance_that_has_ended_takes_little_memory(cloud):
    ec2 = cloud.client("ec2")
    [image] = ec2.describe_images(Filters=[{"Name": "architecture", "Values": ["x86_64"]}], MaxResults=5)["Images"][:1]

    def live(number: int) -> None:
        [launched] = ec2.run_instances(
            ImageId=image["ImageId"], InstanceType="t3.micro", MinCount=1, MaxCount=1, UserData=f"{SCRIPT}{number}",
            ClientToken=f"growth-{number}", InstanceInitiatedShutdownBehavior="terminate",
        )["Instances"]  # fmt: skip
        ec2.terminate_instances(InstanceIds=[launched["InstanceId"]])

    for number in range(20):
        live(number)
    before = memory_kib(cloud.process.pid)
    for number in range(20, 20 + INSTANCES):
        live(number)

    assert (memory_kib(cloud.process.pid) - before) / INSTANCES < MAX_KIB_EACH_INSTANCE
