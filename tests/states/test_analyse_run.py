"""Analyse run: summary, decision and report in the bucket; and what is measured outlives what cannot be drawn."""

import json
import time
from datetime import UTC, datetime

import boto3
import pytest
from boto3.dynamodb.conditions import Key
from support.runs_for_reports import build_run

import analyse_run
from aws.records import plans, table
from matrix.samples.cloudwatch import document, resources

OBJECTIVE = {"metric": "duration_s", "percentile": 90, "atMost": 4000}


@pytest.fixture
def bucket(stack):
    """A bucket with the plan and the cells' results of a run."""
    bucket = boto3.resource("s3").Bucket(stack["BUCKET"])
    _, results, planned = build_run({"ebs": {1: 3000.0, 4: 3000.0}, "efs": {1: 3500.0, 4: 3900.0}})
    planned |= {
        "created_at": 1000.0,
        "run": "r1",
        "environment": "aws",
        "region": "us-east-1",
        "objective": OBJECTIVE,
        "deadline_at": 1e10,
        "budget_usd": None,
    }
    bucket.put_object(Key="runs/r1/plan.json", Body=json.dumps(planned).encode())
    for cell, result in results.items():
        bucket.put_object(Key=f"runs/r1/cells/{cell}/result.json", Body=json.dumps(result).encode())
    facts = {"execution_arn": "arn", "created_at": 1000, "deadline_at": 10**10, "owner": "me", "environment": "aws"}
    table.start_run("r1", planned, **facts, budget_usd=None)
    return bucket


def read(bucket, name):
    """A text of the run."""
    return bucket.Object(f"runs/r1/{name}").get()["Body"].read().decode()


def test_the_decision_is_in_the_answer_in_the_summary_and_in_the_markdown(bucket, context):
    answer = analyse_run.handler({"run": "r1"}, context)
    summary = json.loads(read(bucket, "summary.json"))
    decision = summary["decision"]

    assert answer["state"] == "measured"
    assert answer["decision"][0] in read(bucket, "summary.md")
    assert answer["open_report"].startswith("https://")
    assert answer["open_report"].endswith("prefix=runs%2Fr1%2Freport.html")
    assert decision["objective"] == OBJECTIVE
    # One instance shows nothing of others, and four of four are far below the limit.
    states = {one["instances"]: (one["state"], bool(one["recommended"])) for one in decision["questions"]}
    assert states == {1: ("by-value", False), 4: ("shown", True)}
    assert "**EBS gp3 on 4 × m6i.large: P90 50m 08s, " in read(bucket, "summary.md")


def test_each_cell_is_found_by_its_key_with_what_was_measured_and_what_it_cost(bucket, context):
    analyse_run.handler({"run": "r1"}, context)

    rows = boto3.resource("dynamodb").Table("table").query(KeyConditionExpression=Key("PK").eq("RUN#r1"))["Items"]
    [one] = [row for row in rows if row["SK"].startswith("RESULT#efs-") and row["instance_count"] == 4]
    found = boto3.client("dynamodb").query(
        TableName="table",
        IndexName="cell-over-runs",
        KeyConditionExpression="cell_key = :key AND measured_at >= :since",
        ExpressionAttributeValues={":key": {"S": one["cell_key"]}, ":since": {"S": "1970-01-01T00:16"}},
    )["Items"]
    [cell] = [cell for cell in json.loads(read(bucket, "summary.json"))["cells"] if cell["id"] == one["cell"]]
    median = cell["points"][0]["metrics"]["duration_s"]["p50"]
    assert [(row["run"]["S"], row["SK"]["S"], float(row["p50"]["N"])) for row in found] == [("r1", one["SK"], median)]
    assert float(one["usd"]) > 0
    assert one["usd_per"] == "build"
    # What `matrix watch` and the console read has not become longer.
    assert not any({"cell_key", "storage_label"} & row.keys() for row in rows if not row["SK"].startswith("RESULT#"))


def test_what_an_earlier_run_has_measured_counts_as_that_runs(bucket, context):
    planned = json.loads(read(bucket, "plan.json"))
    taken = planned["cells"][0]["id"]
    result = json.loads(read(bucket, f"cells/{taken}/result.json")) | {"taken_from": {"run": "r0", "cell": taken}}
    bucket.put_object(Key=f"runs/r1/cells/{taken}/result.json", Body=json.dumps(result).encode())

    analyse_run.handler({"run": "r1"}, context)

    rows = boto3.resource("dynamodb").Table("table").query(KeyConditionExpression=Key("PK").eq("RUN#r1"))["Items"]
    cells = {row["cell"] for row in rows if row["SK"].startswith("RESULT#")}
    assert cells == {cell["id"] for cell in planned["cells"]} - {taken}


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("page.render", "report.html was not written"),
        ("decide", "no decision was reached"),
        ("values_of", "summary.values.json was not written"),
        ("rows.rows_of", "the run has no rows that answer questions"),
    ],
)
def test_what_cannot_be_drawn_or_decided_loses_no_figure(bucket, context, monkeypatch, broken, said):
    def fail(*_args, **_named):
        raise ZeroDivisionError("of nothing")

    monkeypatch.setattr(f"analyse_run.{broken}", fail)

    answer = analyse_run.handler({"run": "r1"}, context)

    assert answer["state"] == "measured"
    assert f"{said}: ZeroDivisionError: of nothing" in answer["warnings"]
    assert json.loads(read(bucket, "summary.json"))["totals"]["measured"] == 4


def test_what_comparisons_read_is_kept_with_every_single_value(bucket, context):
    analyse_run.handler({"run": "r1"}, context)

    kept = json.loads(read(bucket, "summary.values.json"))
    cells = {cell["id"]: cell for cell in json.loads(read(bucket, "summary.json"))["cells"]}
    assert [cell["id"] for cell in kept["cells"]] == list(cells)
    for cell in kept["cells"]:
        result = json.loads(read(bucket, f"cells/{cell['id']}/result.json"))
        for judged, point in zip(cell["points"], result["points"], strict=True):
            samples = point["samples"]
            places = zip(map(cell["instances"].index, samples["instance"]), samples["repetition"], strict=True)
            values = [judged["values"][row][cell["repetitions"].index(repetition)] for row, repetition in places]
            assert values == samples["metrics"][judged["metric"]]


def ask_to_compare_with(bucket, asked):
    """Let the run's matrix name what it is compared with."""
    planned = json.loads(read(bucket, "plan.json")) | {"compare_with": asked}
    bucket.put_object(Key="runs/r1/plan.json", Body=json.dumps(planned).encode())


def keep_as(bucket, run, **fields):
    """Let the values of the run be those of another one too."""
    values = json.loads(read(bucket, "summary.values.json")) | {"run": run} | fields
    bucket.put_object(Key=f"runs/{run}/summary.values.json", Body=json.dumps(values).encode())


def test_a_run_is_compared_with_what_its_matrix_names_and_without_a_name_with_nothing(bucket, context):
    analyse_run.handler({"run": "r1"}, context)
    assert not [each.key for each in bucket.objects.filter(Prefix="runs/r1/comparison")]
    keep_as(bucket, "r0")
    plans.plan_of.cache_clear()
    ask_to_compare_with(bucket, "r0")

    assert analyse_run.handler({"run": "r1"}, context)["warnings"] == []

    comparison = json.loads(read(bucket, "comparison.json"))
    assert (comparison["base"], comparison["asked"], comparison["run"]) == ("r0", "r0", "r1")
    assert comparison["points"] > 0
    assert (comparison["slower"], comparison["faster"]) == (0, 0)


def test_earlier_runs_of_a_cell_are_found_in_the_table_and_count_with_their_scatter(bucket, context):
    analyse_run.handler({"run": "r1"}, context)
    values = json.loads(read(bucket, "summary.values.json"))
    results = boto3.resource("dynamodb").Table("table")
    rows = results.query(KeyConditionExpression=Key("PK").eq("RUN#r1") & Key("SK").begins_with("RESULT#"))["Items"]
    for night in range(1, 6):
        keep_as(bucket, f"r1-{night}", started_at=values["started_at"] - 86_400.0 * night)
        at = datetime.fromtimestamp(values["started_at"] - 86_400.0 * night, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for row in rows:
            results.put_item(Item=row | {"PK": f"RUN#r1-{night}", "run": f"r1-{night}", "measured_at": at})
    plans.plan_of.cache_clear()
    ask_to_compare_with(bucket, "r1-3")

    assert analyse_run.handler({"run": "r1"}, context)["warnings"] == []

    assert json.loads(read(bucket, "comparison.json"))["runs"] == 5


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (
            "baseline:gone",
            "there is no baseline gone (there is: good); set it by matrix compare r1 --set-baseline gone",
        ),
        ("baseline:good", "it is this run itself"),
        ("never", "the run never has no summary.values.json: it was not analysed"),
    ],
)
def test_a_name_that_leads_to_nothing_is_told_and_costs_no_figure(bucket, context, asked, reason):
    baseline = {"schema": 1, "name": "good", "run": "r1", "matrix": "m", "set_at": 1.0}
    bucket.put_object(Key="baselines/good/baseline.json", Body=json.dumps(baseline).encode())
    ask_to_compare_with(bucket, asked)

    assert analyse_run.handler({"run": "r1"}, context)["state"] == "measured"

    comparison = json.loads(read(bucket, "comparison.json"))
    assert (comparison["verdict"], comparison["reason"]) == ("not-compared", reason)


def test_metrics_that_arrived_since_a_cell_was_analysed_are_kept_and_name_its_ceiling(bucket, context):
    key = next(one.key for one in bucket.objects.filter(Prefix="runs/r1/cells/") if "ebs" in one.key)
    name = key.removeprefix("runs/r1/")
    result = json.loads(read(bucket, name))
    begun = int(time.time()) // 60 * 60 - 600
    for point in result["points"]:
        point["samples"] |= {"repetition": [1], "started_at": [begun], "ended_at": [begun + 180]}
    about = resources(result["storage"], "m6i.large", ["i-1"], {"vol-1": "i-1"}, [])
    result["cloudwatch"] = document(about, (begun, begun + 180), [], read_at=begun + 181)
    bucket.put_object(Key=key, Body=json.dumps(result).encode())
    boto3.client("cloudwatch").put_metric_data(
        Namespace="AWS/EBS",
        MetricData=[
            {
                "MetricName": "VolumeThroughputExceededCheck", "Value": 1.0, "Timestamp": begun + 60,
                "Dimensions": [{"Name": "VolumeId", "Value": "vol-1"}, {"Name": "InstanceId", "Value": "i-1"}],
            }
        ],
    )  # fmt: skip

    analyse_run.handler({"run": "r1"}, context)

    kept = json.loads(read(bucket, name))
    (cell,) = [one for one in json.loads(read(bucket, "summary.json"))["cells"] if one["id"] == result["id"]]
    assert [one["values"] for one in kept["cloudwatch"]["series"]] == [[1.0]]
    assert kept["bottleneck"]["name"] == cell["bottleneck"]["name"] == "volume throughput"
    assert "series" not in cell["cloudwatch"]
    assert "| volume throughput |" in read(bucket, "summary.md")

    plans.plan_of.cache_clear()
    analyse_run.handler({"run": "r1"}, context)

    # Only the moment of asking is another now.
    assert json.loads(read(bucket, name)) == kept
