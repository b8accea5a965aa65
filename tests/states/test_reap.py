"""The sweep: what it deletes and, as important, what it leaves alone."""

import time
from datetime import UTC, datetime
from types import SimpleNamespace

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from support.refusals import refusal
from support.storages import STORAGES

import reap
from aws.ec2 import instances
from aws.records import table
from aws.run import executions
from aws.stack.clients import client
from aws.storages import clouds, prefixes
from aws.storages.efs import cloud as efs
from aws.storages.s3 import cloud as s3
from aws.storages.s3_files import cloud as s3_files
from aws.teardown import reaping
from matrix.terms.errors import FileSystemFailed

LONG_AHEAD, LONG_PAST = 4_000_000_000.0, 1_000_000_000.0


@pytest.fixture
def running(monkeypatch):
    """The runs that Step Functions says are running."""
    names = set()
    monkeypatch.setenv("STATE_MACHINE_ARN", "arn:aws:states:us-east-1:123456789012:stateMachine:run")
    monkeypatch.setattr(executions, "status", lambda arn: "RUNNING" if arn.rpartition(":")[2] in names else "SUCCEEDED")
    return names


def launch(run, deadline_at, owner="me"):
    plan = {"run": run, "deadline_at": deadline_at, "owner": owner}
    return instances.launch(
        plan=plan, file_system="ebs", cell="c", storage={"type": "efs"}, user_data="x",
        boot=instances.Boot("ami-12c6146b", "/dev/xvda"),
        fleet={"instanceType": "m6i.large", "count": 1},
    ).instances  # fmt: skip


def tags_of(run, deadline_at, stack="storage-matrix"):
    deadline = datetime.fromtimestamp(deadline_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    tags = {"storage-matrix:stack": stack, "storage-matrix:run": run, "storage-matrix:deadline": deadline}
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def make_efs(run, deadline_at):
    return efs.create(clouds.token(run, "efs"), STORAGES["efs"], tags_of(run, deadline_at), run, "efs", 0)


def make_prefix(run, deadline_at):
    return s3.create(clouds.token(run, "s3"), {"type": "s3"}, tags_of(run, deadline_at), run, "s3", 0)


def sweep(context, **event):
    return reap.handler(event, context)


def refusal_of(error):
    """A method that raises an error, whatever it is called with."""

    def refuse(*_):
        raise error

    return refuse


def ids(entries):
    return {entry["id"] for entry in entries}


def test_what_a_running_run_uses_before_its_deadline_is_left_alone(stack, context, running):
    running.add("r")
    launch("r", LONG_AHEAD)
    make_efs("r", LONG_AHEAD)

    assert sweep(context) == {"deleted": [], "remaining": [], "dry_run": False}
    assert sweep(context, detail={"name": "r", "status": "RUNNING"})["deleted"] == []


def test_what_a_run_has_left_is_deleted_once_its_execution_has_ended(stack, context, running):
    [instance], file_system = launch("r", LONG_AHEAD), make_efs("r", LONG_AHEAD)

    swept = [sweep(context) for _ in range(3)]

    deleted = ids(entry for one in swept for entry in one["deleted"])
    assert deleted >= {instance, file_system}
    assert swept[-1]["remaining"] == []


def test_what_another_stack_of_the_account_has_made_is_never_touched(stack, context, running, monkeypatch):
    monkeypatch.setenv("STACK", "another")
    [theirs] = launch("r", LONG_PAST)
    their_files = efs.create("theirs", STORAGES["efs"], tags_of("r", LONG_PAST, stack="another"), "r", "theirs", 0)
    monkeypatch.setenv("STACK", "storage-matrix")
    [ours] = launch("r", LONG_PAST)

    swept = sweep(context)

    assert ids(swept["deleted"]) == {ours}
    assert swept["remaining"] == []
    [found] = boto3.client("efs").describe_file_systems()["FileSystems"]
    assert found["FileSystemId"] == their_files
    assert theirs != ours  # the same run, file system and cell: yet another launch


def test_past_its_deadline_even_a_running_run_loses_its_resources(stack, context, running):
    running.add("r")
    [instance] = launch("r", LONG_PAST)

    assert ids(sweep(context)["deleted"]) == {instance}


def test_a_resource_whose_deadline_cannot_be_read_counts_as_overdue(stack, context, running):
    running.add("r")
    [instance] = launch("r", LONG_AHEAD)
    boto3.client("ec2").create_tags(Resources=[instance], Tags=[{"Key": "storage-matrix:deadline", "Value": "soon"}])

    assert ids(sweep(context)["deleted"]) == {instance}


def test_a_dry_run_deletes_nothing_and_lists_all(stack, context, running):
    [instance] = launch("r", LONG_AHEAD)

    swept = sweep(context, dryRun=True)

    assert swept["deleted"] == []
    assert {entry["kind"] for entry in swept["remaining"]} == {"instance", "volume"}
    assert instances.of_file_system("r", "ebs") == [instance]


def test_a_sweep_of_an_owner_takes_what_carries_its_tag_and_leaves_that_of_others(stack, context, running):
    [mine], [theirs] = launch("mine", LONG_AHEAD), launch("theirs", LONG_AHEAD, owner="them")

    swept = sweep(context, owner="me")

    assert ids(swept["deleted"]) == {mine}
    assert {entry["run"] for entry in swept["remaining"]} <= {"mine"}
    assert instances.of_file_system("theirs", "ebs") == [theirs]


def test_a_sweep_of_an_owner_takes_nothing_of_a_run_that_goes_on(stack, context, running):
    running.add("mine")
    launch("mine", LONG_AHEAD)

    assert sweep(context, owner="me") == {"deleted": [], "remaining": [], "dry_run": False}


def test_a_sweep_of_older_runs_goes_by_when_they_were_planned_and_what_nobody_knows_is_old(stack, context, running):
    [unknown], [young], [old] = (launch(run, LONG_AHEAD) for run in ("unknown", "young", "old"))
    for run, age_s in (("young", 86_400), ("old", 4 * 86_400)):
        table._update(run, "PLAN", {"run": run, "owner": "me", "created_at": time.time() - age_s})

    swept = sweep(context, olderThanS=3 * 86_400, dryRun=True)

    assert {unknown, old} <= ids(swept["remaining"])
    assert young not in ids(swept["remaining"])


def test_receipts_of_runs_that_a_sweep_was_not_of_stay_open(stack, context, running, monkeypatch):
    settled = []
    monkeypatch.setattr(reaping.receipts, "after_sweep", lambda run, _sweep: settled.append(run))
    for run, owner in (("mine", "me"), ("theirs", "them")):
        table._update(run, "PLAN", {"run": run, "owner": owner, "created_at": 1.0})
        table.reopen_receipt(run, 1.0)

    sweep(context, owner="me")

    assert settled == ["mine"]


def test_the_event_of_an_ended_execution_sweeps_that_run_only(stack, context, running):
    [ended], [other] = launch("ended", LONG_AHEAD), launch("other", LONG_AHEAD)

    swept = sweep(context, detail={"name": "ended", "status": "ABORTED"})

    assert ids(swept["deleted"]) == {ended}
    assert instances.of_file_system("other", "ebs") == [other]


@pytest.fixture
def pauses(context, monkeypatch):
    """The pauses of the function, which has ten minutes and spends them on nothing else."""
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(context, "get_remaining_time_in_millis", lambda: 1_000 * (600 - sum(slept)))
    return slept


def test_what_takes_longer_than_the_function_may_run_is_left_to_the_next_sweep(
    stack, context, running, pauses, monkeypatch
):
    file_system = make_efs("r", LONG_AHEAD)
    monkeypatch.setattr(type(efs), "delete", lambda _self, _id: False)

    swept = sweep(context, detail={"name": "r", "status": "ABORTED"})

    assert ids(swept["remaining"]) == {file_system}
    assert 500 < sum(pauses) < 600 - reaping.SPARE_S


def test_a_deletion_that_aws_gave_up_is_logged_and_the_others_go_on(stack, context, running, monkeypatch):
    [instance], file_system = launch("r", LONG_AHEAD), make_efs("r", LONG_AHEAD)
    monkeypatch.setattr(type(efs), "delete", refusal_of(FileSystemFailed("a peer is left")))

    swept = sweep(context)

    assert (ids(swept["deleted"]), ids(swept["remaining"])) == ({instance}, {file_system})


@pytest.mark.parametrize("status", ["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"])
def test_an_event_that_a_run_has_ended_counts_more_than_an_answer_that_is_late(stack, context, running, status):
    running.add("r")  # Step Functions may say so for seconds
    [instance] = launch("r", LONG_AHEAD)

    assert sweep(context, run="r")["deleted"] == []
    assert ids(sweep(context, detail={"name": "r", "status": status})["deleted"]) == {instance}


@pytest.mark.parametrize(("age_s", "is_left_alone"), [(3, True), (86_400, False)])
def test_a_run_that_step_functions_does_not_know_yet_loses_nothing(
    stack, context, running, monkeypatch, age_s, is_left_alone
):
    monkeypatch.setattr(executions, "status", lambda _arn: None)
    row = {"PK": {"S": "RUN#r"}, "SK": {"S": "PLAN"}, "created_at": {"N": str(time.time() - age_s)}}
    boto3.client("dynamodb").put_item(TableName="table", Item=row)
    [instance] = launch("r", LONG_AHEAD)

    swept = sweep(context)

    assert (instances.of_file_system("r", "ebs") == [instance]) is is_left_alone
    assert (instance in ids(swept["deleted"])) is not is_left_alone


@pytest.fixture
def forbidden(monkeypatch):
    """Services of which every list of file systems is refused, with this code."""
    refused = {}

    def paginator(service, known):
        def paginate(**_):
            if service in refused:
                raise refusal(refused[service])
            return known("describe_file_systems").paginate()

        return SimpleNamespace(paginate=paginate)

    for service in ("efs", "fsx"):
        made = client(service)
        known = made.get_paginator
        monkeypatch.setattr(made, "get_paginator", lambda _name, s=service, k=known: paginator(s, k))
    return refused


def is_forbidden(module):
    """Whether a type lists its file systems by a service that is refused."""
    try:
        list(module.existing())
    except ClientError:
        return True
    return False


def test_a_service_that_the_account_forbids_keeps_nothing_else_alive(stack, context, running, forbidden):
    forbidden |= {"efs": "AccessDeniedException", "fsx": "AccessDeniedException"}
    [instance], prefix = launch("r", LONG_AHEAD), make_prefix("r", LONG_AHEAD)

    swept = sweep(context)

    assert ids(swept["deleted"]) >= {instance, prefix}
    assert swept["unasked"].keys() == {kind for kind, module in clouds.FILE_SYSTEMS.items() if is_forbidden(module)}
    assert {"efs", "fsx-openzfs"} <= swept["unasked"].keys()
    assert "AccessDeniedException" in swept["unasked"]["fsx-openzfs"]


def test_a_service_that_a_region_does_not_have_keeps_nothing_else_alive(stack, context, running, monkeypatch):
    def existing():
        raise EndpointConnectionError(endpoint_url="https://s3files.eu-south-2.api.aws/")

    monkeypatch.setattr(s3_files, "existing", existing)
    [instance] = launch("r", LONG_AHEAD)

    swept = sweep(context)

    assert instance in ids(swept["deleted"])
    assert swept["unasked"].keys() == {"s3-files"}
    assert "s3files.eu-south-2" in swept["unasked"]["s3-files"]


def test_a_service_that_fails_to_answer_fails_the_sweep_so_that_it_is_repeated(stack, context, running, forbidden):
    forbidden["fsx"] = "InternalServerError"

    with pytest.raises(ClientError, match="InternalServerError"):
        sweep(context)


def test_resources_without_our_tags_are_never_touched(stack, context, running):
    boto3.client("efs").create_file_system(CreationToken="theirs")
    boto3.client("ec2").run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1)

    assert sweep(context) == {"deleted": [], "remaining": [], "dry_run": False}


def test_data_in_s3_is_deleted_with_its_run_and_left_alone_before(stack, context, running):
    running.add("r")
    kept, ended, overdue = make_prefix("r", LONG_AHEAD), make_prefix("ended", LONG_AHEAD), make_prefix("r2", LONG_PAST)
    boto3.client("s3").put_object(Bucket="data", Key=f"{ended.partition('/')[2]}/AROA1:i-1/records", Body=b"x")
    running.add("r2")

    swept = sweep(context)

    assert ids(swept["deleted"]) == {ended, overdue}
    assert {found for found, _, _ in prefixes.all_tagged()} == {kept}
