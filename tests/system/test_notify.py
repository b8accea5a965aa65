"""Somebody is told by a topic that a run has ended, with its answer, its cost and what is left, however it ended.

And a matrix is run by time, and each of its runs is compared with the one before or with a baseline.
"""

import json
import re
from collections.abc import Iterator

import pytest
from support.inbox import TOPIC, Inbox
from support.runs import EBS, EFS, Cloud, Run, matrix, start_cloud, until

SLOW = {"type": "build", "name": "slow", "build": "sleep 60", "expectedSeconds": 60}
KEY = "schedules/nightly.json"
SCHEDULED = "nightly-scheduled-"
# As much work as a file says that is not a part of the matrix, as a driver or a neighbour would make a storage slower.
HASH = {"type": "build", "name": "hash", "build": "head -c $(cat {file}) /dev/zero | sha256sum", "expectedSeconds": 1}
LITTLE_BYTES, MUCH_BYTES = 1 << 20, 1 << 27


def nightly(cloud: Cloud, **changes: object) -> dict:
    """The matrix of the schedule: with five instances and three repetitions a difference can be shown."""
    build = HASH | {"build": HASH["build"].format(file=cloud.folder / "work")}
    five = [{"instanceType": "m6i.large", "count": 5}]
    return matrix(name="nightly", storage=[EBS], workload=[build], fleet=five, repetitions=3, budgetUsd=5, **changes)


def work(cloud: Cloud, size: int) -> None:
    """Say how much each instance has to do from now on."""
    (cloud.folder / "work").write_text(str(size))


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A cloud whose stack tells an address and a topic, and runs a matrix each ten minutes, which are six seconds."""
    given = {
        "NotifyTopicArn": TOPIC, "NotifyEmail": "me@example.org",
        "Schedule": "rate(10 minutes)", "ScheduledMatrix": "nightly",
    }  # fmt: skip
    parameters = [f"--parameter={name}={value}" for name, value in given.items()]
    with start_cloud(tmp_path_factory.mktemp("cloud"), *parameters) as started:
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
    assert "all gone; the sweep after the run found nothing more" in text
    assert text.endswith("All: matrix results measured --local\nReport: matrix report measured --local --open")


def test_a_run_with_a_failed_cell_is_told_with_the_reason_and_how_to_go_on(cloud: Cloud, inbox: Inbox):
    broken = {"type": "build", "name": "broken", "build": "exit 7", "expectedSeconds": 1}
    run = cloud.run("partly", matrix(workload=[matrix()["workload"][0], broken]))
    assert run.status == "FAILED"

    text = inbox.told("partly")

    assert "✗ 1 of 2 cells measured · partly failed" in text
    [failed] = [line for line in text.splitlines() if line.startswith("1 of 2 cells failed (EBS gp3, ")]
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


def run_of_schedule(cloud: Cloud, beside: set[str]) -> Run:
    """The next planned run that the schedule starts, none of these, at its end; it finds no matrix for another."""
    s3, bucket = cloud.client("s3"), cloud.output("BucketName")

    def new() -> list[str]:
        found = s3.list_objects_v2(Bucket=bucket, Prefix=f"runs/{SCHEDULED}").get("Contents", [])
        planned = {key["Key"].split("/")[1] for key in found if key["Key"].endswith("/plan.json")}
        return sorted(planned - beside)

    s3.put_object(Bucket=bucket, Key=KEY, Body=json.dumps(nightly(cloud)).encode())
    until(new, "the schedule to start a run")
    s3.delete_object(Bucket=bucket, Key=KEY)
    [name] = new()
    machine = cloud.output("StateMachineArn")
    run = Run(cloud, name, f"{machine.replace(':stateMachine:', ':execution:')}:{name}")
    run.wait()
    assert run.status == "SUCCEEDED", run.describe()
    return run


def test_the_second_run_of_a_schedule_is_told_to_be_slower_with_its_interval(cloud: Cloud, inbox: Inbox):
    work(cloud, LITTLE_BYTES)
    first = run_of_schedule(cloud, set())
    work(cloud, MUCH_BYTES)
    second = run_of_schedule(cloud, {first.name})

    of_first, of_second = inbox.told(first.name), inbox.told(second.name)

    assert "than" not in of_first.splitlines()[2], "there was no run before"
    assert "comparison.json" not in " ".join(first.keys(f"runs/{first.name}/"))
    assert f"Slower than {first.name} at 1 of 1 point, by more than chance explains:" in of_second, of_second
    assert re.search(r"duration_s \+[0-9.]+ %, slower \(ratio [0-9.]+, 95 % [0-9.]+ – [0-9.]+\)", of_second), of_second
    assert inbox.about(second.name)[0]["Subject"].endswith("measured, slower")
    comparison = second.document("comparison.json")
    assert (comparison["verdict"], comparison["base"], comparison["asked"]) == ("slower", first.name, first.name)
    assert second.document("matrix.json")["compareWith"] == first.name


def test_a_run_beside_a_baseline_that_is_not_there_is_measured_and_says_how_to_set_it(cloud: Cloud, inbox: Inbox):
    work(cloud, LITTLE_BYTES)
    run = cloud.run("beside-nothing", nightly(cloud, compareWith="baseline:release"))
    assert run.status == "SUCCEEDED", run.describe()

    text = inbox.told("beside-nothing")

    assert "Not compared with baseline:release: there is no baseline release" in text
    assert "matrix compare beside-nothing --set-baseline release" in text


def test_a_run_is_compared_with_the_baseline_of_the_bucket_and_says_what_would_have_been_found(
    cloud: Cloud, inbox: Inbox
):
    baseline = {"schema": 1, "name": "good", "run": "beside-nothing", "matrix": "nightly", "set_at": 1.0}
    cloud.client("s3").put_object(
        Bucket=cloud.output("BucketName"), Key="baselines/good/baseline.json", Body=json.dumps(baseline).encode()
    )
    run = cloud.run("beside-good", nightly(cloud, compareWith="baseline:good"))

    comparison = run.document("comparison.json")

    assert (comparison["base"], comparison["points"]) == ("beside-nothing", 1)
    assert comparison["detectable_ratio"] > 1
    assert "beside-nothing (baseline:good)" in inbox.told("beside-good")


def test_no_right_was_missing(cloud: Cloud, inbox: Inbox):
    """The last test of the module: the deployed policies were enforced in all that came before."""
    decisions = [json.loads(line) for line in (cloud.folder / "iam-decisions.jsonl").read_text().splitlines()]
    roles = ("ScheduleRole", "PlanMatrixFunctionRole", "NotifyFunctionRole", "AnalyseRunFunctionRole")
    ours = [each for each in decisions if any(role in each["role"] for role in roles)]

    calls = {
        "sns:Publish",
        "s3:GetObject",
        "states:DescribeExecution",
        "states:StartExecution",
        "states:ListExecutions",
    }
    assert {each["action"] for each in ours} >= calls
    assert [each for each in ours if each["decision"] != "allow"] == []
