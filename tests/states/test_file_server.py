"""A file server as a file system: launched once, ready when it says so, given up when it cannot become so."""

import json
import time
from datetime import UTC, datetime

import boto3
import pytest
from support.function_events import RUN
from support.hostile import HOSTILE

import plan_matrix
from aws.ec2 import instances
from aws.records.plans import plan_of
from aws.stack import tags as tags_of
from aws.storages import clouds
from aws.storages.file_server import cloud as file_server
from local.programs import stand_ins
from matrix.run.receipt import SERVER, rate_usd
from matrix.terms.errors import FileSystemFailed

NAME = "file-server-m6i-large"
FOLDER = f"runs/{RUN}/servers/{NAME}/instances"
ADDRESS = {"host": "10.0.0.7", "port": 7575, "token": "of-this-run"}
STORAGE = {"type": "file-server", "instanceType": "m6i.large", "sizeGiB": 50}
ARN = "arn:aws:states:us-east-1:123456789012:execution:s-run:r"
MATRIX = {
    "name": "servers", "storage": [STORAGE], "workload": [{"type": "read", "requestSize": "8KiB", "requests": 1024}],
    "fleet": [{"instanceType": "t3.medium", "count": 2}],
}  # fmt: skip


@pytest.fixture
def made(stack, context):
    """The instance id of a server of a planned run."""
    started = datetime.now(UTC).isoformat()
    plan_matrix.handler({"run": RUN, "execution_arn": ARN, "started_at": started, "matrix": MATRIX}, context)
    return create()


def create():
    return file_server.create(
        clouds.token(RUN, NAME), STORAGE, tags_of.tags(plan_of(RUN), file_system=NAME), RUN, NAME, 0
    )


def say(instance, name, document):
    key = f"{FOLDER}/AROA123:{instance}/{name}"
    boto3.client("s3").put_object(Bucket="results", Key=key, Body=json.dumps(document).encode())


def test_creating_a_server_again_after_a_crash_finds_the_one_that_was_launched(made):
    assert create() == made
    [instance] = instances.of_run(RUN)
    assert instance["InstanceId"] == made
    found = tags_of.as_mapping(instance["Tags"])
    assert (found[tags_of.RUN], found[tags_of.FILE_SYSTEM], found[tags_of.CELL]) == (RUN, NAME, SERVER)
    assert instance["InstanceType"] == "m6i.large"


def test_a_launch_that_is_repeated_minutes_later_asks_for_the_same(stack, context, monkeypatch):
    started = datetime.now(UTC).isoformat()
    plan_matrix.handler({"run": RUN, "execution_arn": ARN, "started_at": started, "matrix": MATRIX}, context)
    asked, published = [], iter(("ami-1", "ami-2"))

    def crash(**request):
        asked.append((request["user_data"], request["boot"]))
        raise ConnectionError

    monkeypatch.setattr(instances, "launch", crash)
    monkeypatch.setattr("aws.storages.file_server.newest", lambda _: next(published))
    for at in (time.time(), time.time() + 150):
        monkeypatch.setattr(time, "time", lambda at=at: at)
        with pytest.raises(ConnectionError):
            create()

    assert asked[0] == asked[1]


def test_emulated_machines_have_no_file_server_and_say_so(stack, context, monkeypatch):
    for module, name, replacement in stand_ins.replacements(""):
        monkeypatch.setattr(module, name, replacement)
    started = datetime.now(UTC).isoformat()
    plan_matrix.handler({"run": RUN, "execution_arn": ARN, "started_at": started, "matrix": MATRIX}, context)

    with pytest.raises(FileSystemFailed, match="cannot reach each other"):
        create()

    assert list(instances.of_run(RUN)) == []


def test_the_server_is_told_to_serve_its_volume_until_the_runs_deadline(made):
    body = boto3.client("s3").get_object(Bucket="results", Key=f"runs/{RUN}/servers/{NAME}/job.json")["Body"].read()

    job = json.loads(body)

    assert (job["kind"], job["prefix"]) == ("serve", f"runs/{RUN}/servers/{NAME}/")
    assert job["mount"]["kind"] == "ebs"
    assert job["storage"]["sizeGiB"] == 50
    assert job["deadline_at"] == pytest.approx(plan_of(RUN)["deadline_at"], abs=5)


def test_a_server_is_ready_once_it_has_said_where_it_listens(made):
    assert file_server.is_ready(made, STORAGE) is False
    with pytest.raises(FileSystemFailed, match="has not said where it listens"):
        file_server.mount(made, STORAGE)

    say(made, "address.json", ADDRESS)

    assert file_server.is_ready(made, STORAGE) is True
    assert file_server.mount(made, STORAGE) == {"kind": "file-server", **ADDRESS}


def test_no_other_instance_can_say_where_the_server_listens(made):
    theirs = ["AROA123:i-other", f"AROA123:i-other/x:{made}", f"AROA123:i-other/AROA123:{made}"]
    for folder in theirs:
        key = f"runs/{RUN}/servers/{NAME}/instances/{folder}/address.json"
        body = json.dumps(ADDRESS | {"host": "10.6.6.6"}).encode()
        boto3.client("s3").put_object(Bucket="results", Key=key, Body=body)

    assert file_server.is_ready(made, STORAGE) is False

    say(made, "address.json", ADDRESS)
    assert file_server.mount(made, STORAGE)["host"] == "10.0.0.7"


def test_a_server_that_failed_is_given_up_with_its_own_reason(made):
    say(made, "failed.json", {"error": "MountFailed", "message": "no volume appeared at /dev/sdf"})

    with pytest.raises(FileSystemFailed, match=f"file server {made} is running: MountFailed: no volume appeared"):
        file_server.is_ready(made, STORAGE)


@pytest.mark.parametrize("name", ["address.json", "failed.json"])
def test_whatever_a_server_writes_it_is_given_up_by_its_name(made, name):
    for body in HOSTILE.values():
        boto3.client("s3").put_object(Bucket="results", Key=f"{FOLDER}/AROA123:{made}/{name}", Body=body)

        with pytest.raises(FileSystemFailed, match=f"file server {made}") as given_up:
            file_server.mount(made, STORAGE)

        assert str(given_up.value).isprintable()


@pytest.mark.parametrize("change", [
    {"host": "evil.example"}, {"host": "10.0.0.7; reboot"}, {"port": 0}, {"port": 70_000}, {"port": "7575"},
    {"token": "a b"}, {"token": ""}, {"token": "x" * 101}, {"token": "\x1b[2J"},
], ids=repr)  # fmt: skip
def test_an_address_that_no_agent_writes_leads_no_instance_there(made, change):
    say(made, "address.json", ADDRESS | change)

    with pytest.raises(FileSystemFailed, match=rf"file server {made}: address\.json"):
        file_server.mount(made, STORAGE)


def test_a_server_that_ended_while_its_cells_were_measured_fails_the_next_one_before_it_launches_anything(made):
    say(made, "address.json", ADDRESS)
    assert file_server.mount(made, STORAGE)["host"] == "10.0.0.7"

    instances.terminate([made])

    with pytest.raises(FileSystemFailed, match=f"file server {made} is terminated"):
        file_server.mount(made, STORAGE)


def test_the_server_costs_its_instance_and_its_volumes_once(made):
    plan = plan_of(RUN)
    [file_system] = plan["file_systems"]

    # m6i.large 0.096 and a public address 0.005 an hour, 50 GiB of data and 20 GiB of root volume at 0.08 a month.
    assert file_system["rates_usd"]["hour"] == pytest.approx(0.096 + 0.005 + 70 * 0.08 / 730, rel=0.01)
    row = {"id": made, "kind": "file-server", "cell": SERVER, "file_system": NAME}
    assert rate_usd(row, plan) == file_system["rates_usd"]["hour"]
    assert rate_usd(row | {"id": "vol-1", "kind": "volume"}, plan) == 0
    # As a look by tags finds it, where its launch crashed before it was noted.
    assert rate_usd(row | {"kind": "instance"}, plan) == file_system["rates_usd"]["hour"]
