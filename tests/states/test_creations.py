"""A run that ends while its functions go on: what they create is ended, and no receipt says before that all is gone."""

import boto3
import pytest
from botocore.exceptions import ReadTimeoutError
from support.function_events import RUN
from support.refusals import refusal

import create_file_system
import launch_fleet
import reap
from aws.ec2 import instances
from aws.records import bucket, table
from aws.run import creations, executions
from matrix.terms.errors import CapacityUnavailable, LaunchRefused, RunEnded
from matrix.terms.sentences import receipt_sentence

ENDED = {"detail": {"name": RUN, "status": "ABORTED"}}


@pytest.fixture
def planned(planned, monkeypatch):
    """A run that is planned; Step Functions says that it has ended."""
    monkeypatch.setattr(executions, "status", lambda arn: "ABORTED")
    return planned


def event_of(plan):
    [cell, *_] = [cell for cell in plan["cells"] if cell["storage"]["type"] == "ebs"]
    return {"run": RUN, "cell": cell["id"], "resource_ids": []}


def receipt():
    return bucket.get(f"runs/{RUN}/receipt.json")


def launched():
    found = boto3.client("ec2").describe_instances()["Reservations"]
    return [(one["InstanceId"], one["State"]["Name"]) for each in found for one in each["Instances"]]


def test_a_receipt_is_not_complete_while_a_fleet_of_its_run_is_being_launched(planned, context, monkeypatch):
    launch, during = instances.launch, []

    def launch_late(**request):
        """The run is stopped when Launch fleet has begun: its sweep finds nothing yet."""
        swept = reap.handler(ENDED, context)
        during.append((swept["deleted"], swept["remaining"], receipt()))
        return launch(**request)

    monkeypatch.setattr(instances, "launch", launch_late)
    launch_fleet.handler(event_of(planned), context)

    [(deleted, remaining, then)] = during
    assert (deleted, remaining) == ([], [])
    assert not then["is_complete"]
    assert "cut short, so these may still appear: the instances of" in receipt_sentence(then)
    assert table.open_receipts() == [RUN]  # so that the next sweep looks again
    for _ in range(3):
        reap.handler({}, context)
    assert {state for _, state in launched()} == {"terminated"}
    assert receipt()["is_complete"]


def test_after_the_sweep_of_a_runs_end_nothing_is_created_for_it(planned, context):
    reap.handler(ENDED, context)

    with pytest.raises(RunEnded, match="not created, since the run has ended"):
        launch_fleet.handler(event_of(planned), context)
    [file_system, *_] = [each["id"] for each in planned["file_systems"] if each["storage"]["type"] == "efs"]
    with pytest.raises(RunEnded):
        create_file_system.handler({"run": RUN, "file_system": file_system}, context)

    assert launched() == []
    assert boto3.client("efs").describe_file_systems()["FileSystems"] == []
    assert receipt()["is_complete"]


@pytest.mark.parametrize(
    ("error", "is_open"),
    [
        (None, False),
        (refusal("x", status=400), False),
        (refusal("x", status=500), True),
        (ReadTimeoutError(endpoint_url="https://ec2"), True),  # nobody knows what became of the call
        (KeyboardInterrupt(), True),  # as when Lambda ends it
        (LaunchRefused("two shares of three zones"), False),
    ],
)
def test_what_may_have_been_created_is_open_until_it_would_have_come(planned, error, is_open):
    noted_at = float(table.run_row(RUN)["created_at"])

    try:
        with creations.noted(RUN, "fs"):
            if error:
                raise error
    except BaseException as raised:
        assert raised is error

    assert creations.unfinished(RUN, noted_at) == (["fs"] if is_open else [])
    # Lambda lets a function run for 15 minutes at the most, and EC2 shows what it launched within ten.
    assert creations.unfinished(RUN, noted_at + 26 * 60) == []


@pytest.mark.parametrize(("code", "is_open"), [("InternalError", True), ("InsufficientInstanceCapacity", False)])
def test_a_launch_that_ec2_refused_is_over_but_not_one_that_failed_within_ec2(planned, code, is_open):
    with pytest.raises(CapacityUnavailable), creations.noted(RUN, "fs"):
        raise CapacityUnavailable("refused") from refusal(code, status=500)

    assert bool(table.open_creations(RUN)) is is_open
