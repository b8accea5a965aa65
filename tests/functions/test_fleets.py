"""Launching and ending instances."""

import boto3
import pytest
from botocore.exceptions import ClientError

from aws import fleets
from aws.clients import client
from matrix.errors import CapacityUnavailable, LaunchRefused, QuotaExceeded

PLAN = {"run": "r", "deadline_at": 2_000_000_000.0, "owner": "me"}
EBS = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 20, "iops": 3000, "throughputMiBps": 125}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Three instances in a call are as good as a hundred, and faster."""
    monkeypatch.setattr(fleets, "BATCH", 3)


def launch(count, storage=EBS):
    return fleets.launch(
        plan=PLAN, file_system="ebs", cell="c1", storage=storage, instance_type="m6i.large", count=count,
        user_data="#!/bin/bash\n",
    )  # fmt: skip


def instances():
    pages = boto3.client("ec2").describe_instances()["Reservations"]
    return [instance for reservation in pages for instance in reservation["Instances"]]


def test_a_fleet_larger_than_a_batch_is_launched_whole_and_tagged_from_the_first_moment(stack):
    ids = launch(4)

    assert len(set(ids)) == 4
    for instance in instances():
        tags = {tag["Key"]: tag["Value"] for tag in instance["Tags"]}
        assert tags["storage-matrix:run"] == "r"
        assert tags["storage-matrix:cell"] == "c1"
        assert tags["storage-matrix:deadline"] == "2033-05-18T03:33:20Z"


def test_root_and_data_volumes_are_encrypted_and_end_with_their_instance(stack, monkeypatch):
    requests = []
    monkeypatch.setattr(client("ec2"), "run_instances", lambda **request: requests.append(request) or {"Instances": []})

    launch(1)

    mappings = {mapping["DeviceName"]: mapping["Ebs"] for mapping in requests[0]["BlockDeviceMappings"]}
    assert mappings.keys() == {"/dev/xvda", "/dev/sdf"}
    assert all(volume["Encrypted"] and volume["DeleteOnTermination"] for volume in mappings.values())


def test_each_batch_has_a_token_of_its_own_that_a_retry_repeats(stack, monkeypatch):
    tokens = []
    real = client("ec2").run_instances
    monkeypatch.setattr(client("ec2"), "run_instances", lambda **r: tokens.append(r["ClientToken"]) or real(**r))

    launch(4)
    launch(4)

    assert len(set(tokens)) == 2
    assert tokens[:2] == tokens[2:]
    assert all(len(token) <= 64 for token in tokens)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("VcpuLimitExceeded", QuotaExceeded),
        ("VolumeLimitExceeded", QuotaExceeded),
        ("InsufficientInstanceCapacity", CapacityUnavailable),
        ("InvalidParameterCombination", LaunchRefused),
    ],
)
def test_a_refused_batch_ends_the_earlier_ones_and_says_which_kind_of_refusal(stack, monkeypatch, code, error):
    real = client("ec2").run_instances
    calls = []

    def refuse_the_second(**request):
        calls.append(request)
        if len(calls) == 2:
            raise ClientError({"Error": {"Code": code, "Message": "no more"}}, "RunInstances")
        return real(**request)

    monkeypatch.setattr(client("ec2"), "run_instances", refuse_the_second)

    with pytest.raises(error, match=f"4 × m6i.large refused after 3: {code}: no more"):
        launch(4)

    assert {instance["State"]["Name"] for instance in instances()} <= {"shutting-down", "terminated"}


def test_instances_are_found_by_their_tags_not_by_notes_of_ours(stack):
    ids = launch(3)

    assert set(fleets.of_file_system("r", "ebs", "c1")) == set(ids)
    assert fleets.of_file_system("r", "other") == []
    fleets.terminate(ids)
    assert fleets.of_file_system("r", "ebs") == []


def test_an_instance_that_ec2_does_not_know_has_no_state_and_ending_it_is_fine(stack):
    [known] = launch(1)

    assert fleets.states([known, "i-0123456789abcdef0"]).keys() == {known}
    fleets.terminate(["i-0123456789abcdef0"])


def test_arm_instances_get_an_arm_image(stack):
    assert fleets.architecture("m7g.large") == "arm64"
    assert fleets.architecture("m6i.large") == "x86_64"
    assert fleets.image("arm64") != fleets.image("x86_64")
