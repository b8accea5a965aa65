"""Notify: reads what a run has left, waits for its sweep, and publishes to each topic of the stack."""

import json

import boto3
import pytest

import notify
from aws.records import bucket
from aws.run import endings
from aws.stack import retrying
from aws.stack.clients import client

RECEIPT = {
    "schema": 1, "run": "r", "at": 1.0, "is_complete": True, "resources": [], "sweep": {"at": 2.0, "remaining": 0},
    "totals": {"resources": 0, "gone": 0, "resources_usd": 0.0, "metered_usd": 0.0, "cost_usd": 0.0},
}  # fmt: skip


@pytest.fixture
def inbox(stack, monkeypatch):
    """The messages of two topics, of which Notify knows."""
    sns, sqs = boto3.client("sns"), boto3.client("sqs")
    queue = sqs.create_queue(QueueName="inbox")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    topics = [sns.create_topic(Name=name)["TopicArn"] for name in ("one", "two")]
    for topic in topics:
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    monkeypatch.setenv("TOPIC_ARNS", ",".join(topics))
    return lambda: [
        json.loads(each["Body"])
        for each in sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", [])
    ]


@pytest.fixture
def ended(stack, monkeypatch):
    """Let a run end in Step Functions' eyes; the event of that."""
    monkeypatch.setattr(
        client("stepfunctions"),
        "describe_execution",
        lambda **_: {"error": "Interrupted", "cause": '{"errorMessage": "by hand"}'},
    )
    arn = f"{stack['STATE_MACHINE_ARN'].replace(':stateMachine:', ':execution:')}:r"
    return lambda status: {"detail": {"name": "r", "status": status, "executionArn": arn}}


@pytest.fixture
def pauses(monkeypatch):
    """What was waited for, without the time."""
    waited = []
    monkeypatch.setattr(retrying.time, "sleep", waited.append)
    return waited


def test_each_topic_is_told_once_with_a_link_into_the_console(inbox, ended, context, pauses):
    bucket.put("runs/r/receipt.json", RECEIPT)

    notify.handler(ended("ABORTED"), context)

    first, second = inbox()
    assert first["Message"] == second["Message"]
    assert first["Subject"] == "Storage Matrix: r was stopped"
    assert "Interrupted: by hand" in first["Message"]
    assert "https://us-east-1.console.aws.amazon.com/states/home" in first["Message"]
    assert pauses == []


def test_one_topic_only_is_what_an_empty_parameter_leaves(inbox, ended, context, pauses, monkeypatch):
    bucket.put("runs/r/receipt.json", RECEIPT)
    monkeypatch.setenv("TOPIC_ARNS", f"{notify.os.environ['TOPIC_ARNS'].split(',')[0]},")

    notify.handler(ended("TIMED_OUT"), context)

    assert len(inbox()) == 1


def test_a_run_with_a_report_is_told_with_its_place_in_the_bucket(inbox, ended, context, pauses):
    bucket.put("runs/r/receipt.json", RECEIPT)
    bucket.put_text("runs/r/report.html", "<html>", "text/html")

    message = notify.handler(ended("SUCCEEDED"), context)["message"]

    page = "https://us-east-1.console.aws.amazon.com/s3/object/results?region=us-east-1&prefix=runs%2Fr%2Freport.html"
    assert message.endswith(f"Report: {page}")


def test_the_message_waits_for_the_sweep_which_knows_what_is_left(inbox, ended, context, pauses, monkeypatch):
    bucket.put("runs/r/receipt.json", {**RECEIPT, "is_complete": False, "sweep": None})
    monkeypatch.setattr(
        retrying.time, "sleep", lambda pause: (pauses.append(pause), bucket.put("runs/r/receipt.json", RECEIPT))
    )

    message = notify.handler(ended("ABORTED"), context)["message"]

    assert "the sweep after the run found nothing more" in message
    assert len(pauses) == 1


def test_without_a_sweep_it_is_told_after_two_minutes_all_the_same(inbox, ended, context, pauses):
    message = notify.handler(ended("ABORTED"), context)["message"]

    assert "none yet, so something may be left: matrix reap --run r --stack storage-matrix" in message
    assert 100 < sum(pauses) < 150
    assert sum(pauses) == sum(endings.SWEPT_WITHIN_S)


def test_what_was_refused_before_anything_was_made_is_told_at_once(inbox, ended, context, pauses, monkeypatch):
    refusal = {"error": "InvalidMatrix", "cause": '{"errorMessage": "storage[0]: no"}'}
    monkeypatch.setattr(client("stepfunctions"), "describe_execution", lambda **_: refusal)

    message = notify.handler(ended("FAILED"), context)["message"]

    assert "InvalidMatrix: storage[0]: no\nReceipt: nothing was created." in message
    assert pauses == []
