"""Somebody is told by a topic that a run has ended, with its answer, its cost and what is left, however it ended."""

import json
from collections.abc import Iterator

import pytest
from support.inbox import TOPIC, Inbox
from support.runs import EBS, EFS, Cloud, Run, matrix, start_cloud, until

SLOW = {"type": "build", "name": "slow", "build": "sleep 60", "expectedSeconds": 60}


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A cloud whose stack notifies an address and a topic."""
    given = [f"--parameter=NotifyTopicArn={TOPIC}", "--parameter=NotifyEmail=me@example.org"]
    with start_cloud(tmp_path_factory.mktemp("cloud"), *given) as started:
        yield started


@pytest.fixture(scope="module")
def inbox(cloud: Cloud) -> Inbox:
    return Inbox(cloud)


def test_a_measured_run_is_told_with_its_answer_and_that_nothing_is_left(cloud: Cloud, inbox: Inbox):
    run = cloud.run("measured", matrix(storage=[EBS, EFS]))
    assert run.status == "SUCCEEDED", run.describe()

    text = inbox.told("measured")

    assert text.startswith("Run measured has ended.\n✓ 2 of 2 cells measured · local disk, not AWS")
    assert "nothing is left running" in text
    assert "all gone, and the sweep after the run found nothing more" in text
    assert text.endswith("All: matrix results measured --local\nReport: matrix report measured --local --open")


def test_a_run_with_a_failed_cell_is_told_with_the_reason_and_how_to_go_on(cloud: Cloud, inbox: Inbox):
    broken = {"type": "build", "name": "broken", "build": "exit 7", "expectedSeconds": 1}
    run = cloud.run("partly", matrix(workload=[matrix()["workload"][0], broken]))
    assert run.status == "FAILED"

    text = inbox.told("partly")

    assert "✗ 1 of 2 cells measured · partly failed" in text
    [failed] = [line for line in text.splitlines() if line.startswith("ebs-gp3-8gib-3000iops.broken")]
    assert "ToolFailed" in failed
    assert "7" in failed.partition("ToolFailed")[2]
    assert "measure the rest: matrix run --resume partly --local" in text


def test_a_stopped_run_is_told_too_though_it_enters_no_state_any_more(cloud: Cloud, inbox: Inbox):
    def stop(run: Run) -> None:
        until(run.running_instances, "an instance to run")
        cloud.client("stepfunctions").stop_execution(executionArn=run.arn, error="Interrupted", cause="by hand")

    run = cloud.run("stopped", matrix(storage=[EBS], workload=[SLOW]), stop)
    assert run.status == "ABORTED"

    text = inbox.told("stopped")

    assert text.startswith("Run stopped was stopped.\nInterrupted: by hand\nCost: $")
    assert "resources were created" in text
    assert "measure the rest: matrix run --resume stopped --local" in text


def test_a_matrix_that_is_refused_is_told_at_once_with_its_problem(cloud: Cloud, inbox: Inbox):
    run = cloud.run("refused", matrix(storage=[EBS | {"sizeGiB": 0}]))
    assert run.status == "FAILED"

    text = inbox.told("refused")

    assert "InvalidMatrix" in text
    assert "sizeGiB" in text
    assert "Receipt: nothing was created." in text


def test_a_run_that_is_only_planned_says_so(cloud: Cloud, inbox: Inbox):
    cloud.run("dry", matrix(dryRun=True))

    assert "It was only planned (dryRun).\nReceipt: No resources were created" in inbox.told("dry")


def test_no_right_of_notify_was_missing(cloud: Cloud, inbox: Inbox):
    """The last test of the module: the deployed policies were enforced in all that came before."""
    decisions = [json.loads(line) for line in (cloud.folder / "iam-decisions.jsonl").read_text().splitlines()]
    of_notify = [each for each in decisions if "NotifyRole" in each["role"]]

    assert {each["action"] for each in of_notify} >= {"sns:Publish", "s3:GetObject", "states:DescribeExecution"}
    assert [each for each in of_notify if each["decision"] != "allow"] == []
