"""Baking an image, step by step against EC2, and taking it away again."""

import json

import boto3
import pytest
from support.function_events import RUN, load_event
from support.refusals import refusing

import analyse_run
import bake_images
import launch_fleet
import plan_matrix
import reap
from aws.ec2 import images, instances
from aws.fleet import baking
from aws.records import bucket, plans, table
from aws.stack import clock
from aws.stack.clients import client
from aws.teardown import reaping, receipts
from local.corrections import images as corrections
from matrix.terms.errors import ImageFailed, OverBudget
from matrix.terms.keys import Board

IMAGE = "al2023-x86_64"
BOTH = [{"instanceType": ["m6i.large", "m7g.large"], "count": 1}]
AFTER = {"at": 1.0, "remaining": 0}


@pytest.fixture(autouse=True)
def corrected(monkeypatch):
    """CreateImage and Ubuntu's parameters as EC2 and SSM have them; images are made when a test says so."""
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "true")  # the systems to bake on
    monkeypatch.setattr(corrections.amis.AmiBackend, "create_image", corrections.amis.AmiBackend.create_image)
    loading = corrections.ParameterDict._check_loading_status
    monkeypatch.setattr(corrections.ParameterDict, "_check_loading_status", loading)
    corrections.install(delay_s=3600)


def planned(context, run=RUN, cells=(), **image):
    event = load_event("plan_matrix")
    event |= {"run": run, "matrix": event["matrix"] | dict(cells) | {"image": {"bake": True, **image}}}
    return plan_matrix.handler(event, context)["images"]


def bake(context, run=RUN):
    return bake_images.handler({"run": run}, context)["state"]


def builders(run=RUN):
    return instances.of_file_system(run, "_images")


def finish_builder(run=RUN):
    """The agents say that they are done, and the instances stop."""
    for builder in builders(run):
        [image] = [row["cell"] for row in table.resources(run) if row["id"] == builder]
        bucket.put(f"{Board.of_image(run, image).instances}AROA:{builder}/done.json", {"at": 1})
        boto3.client("ec2").stop_instances(InstanceIds=[builder])


def finish_images(state="available"):
    """EC2 has made the images, or not."""
    for image in mine():
        corrections.ec2_backends["123456789012"]["us-east-1"].amis[image["ImageId"]].state = state


def mine():
    return boto3.client("ec2").describe_images(Owners=["self"])["Images"]


def snapshots():
    found = boto3.client("ec2").describe_snapshots(OwnerIds=["self"])["Snapshots"]
    return [one["SnapshotId"] for one in found if any(t["Key"] == "storage-matrix:image" for t in one.get("Tags", []))]


def baked(context, run=RUN):
    """One image baked from the beginning to the end."""
    planned(context, run)
    assert bake(context, run) == "baking"
    finish_builder(run)
    assert bake(context, run) == "baking"
    finish_images()
    assert bake(context, run) == "baked"


def test_an_image_of_each_architecture_is_made_of_a_stopped_builder_and_the_builder_ends(stack, context):
    assert planned(context, cells={"fleet": BOTH}, packages=["gcc"]) == [IMAGE, "al2023-arm64"]

    assert [bake(context), bake(context)] == ["baking", "baking"]
    made, ec2 = builders(), boto3.client("ec2")
    found = ec2.describe_instance_attribute(InstanceId=made[0], Attribute="instanceInitiatedShutdownBehavior")
    assert found["InstanceInitiatedShutdownBehavior"]["Value"] == "stop"
    job = bucket.get(Board.of_image(RUN, IMAGE).job)
    assert (job["kind"], job["mount"]) == ("bake", {"kind": "root"})
    assert job["provisions"] == plans.plan_of(RUN)["images"][0]["recipe"]
    assert mine() == []
    finish_builder()
    assert [bake(context), bake(context)] == ["baking", "baking"]
    assert [image["State"] for image in mine()] == ["pending", "pending"]
    finish_images()
    assert [bake(context), bake(context)] == ["baked", "baked"]

    assert len(made) == 2
    assert set(instances.states(made).values()) <= {"shutting-down", "terminated"}
    booted = [bucket.get(f"runs/{RUN}/booted/al2023-{name}.json")["image_id"] for name in ("x86_64", "arm64")]
    assert sorted(booted) == sorted(image["ImageId"] for image in mine())
    assert sorted(snapshots()) == sorted(image["BlockDeviceMappings"][0]["Ebs"]["SnapshotId"] for image in mine())
    assert table.run_row(RUN)["reserved"] == {}


def test_where_storages_are_folders_a_builder_installs_nothing_to_make_or_mount_one(stack, context, folders):
    storages = [{"type": "ebs", "volumeType": "gp3", "sizeGiB": 20}, {"type": "efs", "throughputMode": "elastic"}]
    workloads = [{"type": "touch", "files": 64}, {"type": "touch", "files": 64, "tool": "parallel", "name": "parallel"}]

    planned(context, cells={"storage": storages, "workload": workloads})
    bake(context)

    assert bucket.get(Board.of_image(RUN, IMAGE).job)["provisions"]["tools"] == ["parallel"]


def test_runs_that_bake_the_same_take_the_image_that_is_there_or_comes_first(stack, context):
    for run in ("one", "two", "three"):
        planned(context, run)
    assert [bake(context, "one"), bake(context, "two")] == ["baking", "baking"]
    finish_builder("one")
    finish_builder("two")

    assert [bake(context, "one"), bake(context, "two"), bake(context, "three")] == ["baking"] * 3
    assert builders("three") == []
    finish_images()
    assert [bake(context, "two"), bake(context, "one"), bake(context, "three")] == ["baked"] * 3

    [image] = mine()
    assert builders("two") == []
    document = bucket.get(f"runs/three/booted/{IMAGE}.json")
    assert (document["image_id"], document["baked_by"]) == (image["ImageId"], "one")
    assert table.resources("three") == []


def test_a_function_that_is_killed_after_its_call_bakes_nothing_twice(stack, context, monkeypatch):
    def kill_after(module, name):
        def killed(*arguments, **named):
            call(*arguments, **named)
            raise KeyboardInterrupt

        call = getattr(module, name)
        with monkeypatch.context() as patch:
            patch.setattr(module, name, killed)
            with pytest.raises(KeyboardInterrupt):
                bake(context)

    planned(context)
    kill_after(instances, "launch")
    bake(context)
    assert len(builders()) == 1
    finish_builder()
    kill_after(images, "create")
    assert table.open_creations(RUN)
    with monkeypatch.context() as patch:  # for seconds EC2 may not list what it has made
        patch.setattr(images, "find", lambda _: None)
        assert bake(context) == "baking"
    finish_images()
    kill_after(instances, "terminate")

    assert bake(context) == "baked"
    assert (len(mine()), builders(), table.open_creations(RUN)) == (1, [], [])


def test_a_cell_boots_the_baked_image_and_none_is_launched_without_it(stack, context):
    planned(context)
    cell = next(one for one in plans.plan_of(RUN)["cells"] if one["storage"]["type"] == "ebs")
    with pytest.raises(ImageFailed, match="was not baked"):
        launch_fleet.handler({"run": RUN, "cell": cell["id"], "resource_ids": []}, context)
    baked(context)

    launch_fleet.handler({"run": RUN, "cell": cell["id"], "resource_ids": []}, context)

    launched = instances.of_file_system(RUN, cell["file_system"], cell["id"])
    described = boto3.client("ec2").describe_instances(InstanceIds=launched)["Reservations"]
    assert {one["ImageId"] for found in described for one in found["Instances"]} == {mine()[0]["ImageId"]}


def test_an_instance_has_what_the_matrix_gives_and_not_what_other_workloads_need(stack, context):
    event = load_event("plan_matrix")
    yocto = {"type": "yocto", "image": "core-image-minimal"}
    event["matrix"] |= {"image": {"containers": ["debian:12"]}, "workload": [*event["matrix"]["workload"], yocto]}
    event["matrix"]["storage"] = [
        one | ({"sizeGiB": 200} if one["type"] == "ebs" else {}) for one in event["matrix"]["storage"]
    ]
    plan_matrix.handler(event, context)
    plan = plans.plan_of(RUN)
    cell = next(one for one in plan["cells"] if one["storage"]["type"] == "ebs" and one["workload"]["type"] == "touch")

    launch_fleet.handler({"run": RUN, "cell": cell["id"], "resource_ids": []}, context)

    provisions = bucket.get(Board.of_cell(RUN, cell["id"]).job)["provisions"]
    assert provisions == {"packages": [], "containers": ["debian:12"], "dockerfile": None}
    assert plan["images"][0]["recipe"]["containers"] == ["crops/poky:ubuntu-22.04", "debian:12"]


def failing(context, error=ImageFailed):
    """The error of a step, and the results of the cells after it."""
    with pytest.raises(error) as refused:
        bake(context)
    failure = {"Error": error.__name__, "Cause": json.dumps({"errorMessage": str(refused.value)})}
    answer = analyse_run.handler({"run": RUN, "failure": failure}, context)
    assert answer["state"] == "failed"
    results = [bucket.get(Board.of_cell(RUN, cell["id"]).result) for cell in plans.plan_of(RUN)["cells"]]
    assert {row["state"] for row in table.file_systems(RUN)} == {"failed"}
    [outcome] = {(result["state"], result["error"]["name"]) for result in results}
    return str(refused.value), *outcome


def test_a_builder_that_gave_up_is_an_error_in_its_own_words_and_no_builder_remains(stack, context):
    planned(context, cells={"fleet": BOTH})
    bake(context)
    builder = builders()[0]
    [image] = [row["cell"] for row in table.resources(RUN) if row["id"] == builder]
    said = {"error": "ToolMissing", "message": "GNU parallel is not installed"}
    bucket.put(f"{Board.of_image(RUN, image).instances}AROA:{builder}/failed.json", said)

    why, state, name = failing(context)

    assert "ToolMissing: GNU parallel is not installed" in why
    assert (state, name) == ("failed", "ImageFailed")
    assert (builders(), mine()) == ([], [])
    assert all("gone_at" in row for row in table.resources(RUN))


def test_an_image_that_does_not_fit_into_the_budget_skips_all_cells_and_launches_nothing(stack, context):
    planned(context, cells={"budgetUsd": 100})
    table._update(RUN, "PLAN", {"committed_usd": 99.999})

    _, state, name = failing(context, OverBudget)

    assert (state, name) == ("skipped", "skipped: budget")
    assert builders() == []


def test_the_error_of_baking_stays_if_the_builder_cannot_be_terminated(stack, context, monkeypatch):
    planned(context)
    bake(context)
    monkeypatch.setattr(baking, "now", lambda: 1e10)
    monkeypatch.setattr(instances, "terminate", refusing("UnauthorizedOperation"))

    with pytest.raises(ImageFailed, match=f"{IMAGE} was not baked within 3600 s: absent"):
        bake(context)


def test_an_image_that_ec2_could_not_make_is_an_error_and_the_sweep_deletes_it(stack, context):
    planned(context)
    bake(context)
    finish_builder()
    bake(context)
    finish_images("failed")

    why, state, _ = failing(context)
    receipts.after_sweep(RUN, AFTER)

    assert ("could not make" in why, state) == (True, "failed")
    assert (builders(), mine(), snapshots()) == ([], [], [])
    assert bucket.get(f"runs/{RUN}/receipt.json")["totals"]["kept"] == 0


@pytest.mark.parametrize("is_noted", [True, False])
def test_what_is_kept_is_in_the_receipt_with_its_price_and_is_not_a_leak(stack, context, is_noted):
    planned(context)
    bake(context)
    finish_builder()
    bake(context)
    finish_images()
    if is_noted:  # else the run was stopped before
        bake(context)
    instances.terminate(builders())

    receipts.after_sweep(RUN, AFTER)

    receipt = bucket.get(f"runs/{RUN}/receipt.json")
    kept = {one["id"] for one in receipt["resources"] if one["kept"]}
    assert kept == {mine()[0]["ImageId"], *snapshots()}
    assert receipts.still_there(receipt) == []
    assert receipt["is_complete"]
    assert receipt["totals"]["kept_usd_month"]["high"] == pytest.approx(1.0)
    assert not any(one["kind"] == "ebs-snapshot" for one in receipt["resources"])


@pytest.mark.parametrize(("excluded", "days"), [(None, 0), ("another-stack", 30), ("storage-matrix", 0)])
def test_reap_takes_images_of_this_stack_away_only_when_asked_and_when_no_run_is_running(
    stack, context, monkeypatch, excluded, days
):
    baked(context)
    if excluded:
        ours = {"ResourceTagKey": "storage-matrix:stack", "ResourceTagValue": excluded}
        period = {"RetentionPeriodValue": 30, "RetentionPeriodUnit": "DAYS"}
        boto3.client("rbin").create_rule(
            ResourceType="EBS_SNAPSHOT", RetentionPeriod=period, ExcludeResourceTags=[ours]
        )
    ec2 = boto3.client("ec2")
    [theirs] = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1)["Instances"]
    ec2.create_image(InstanceId=theirs["InstanceId"], Name="theirs")
    running = [{"executions": [{"name": "r"}]}]
    real = client("stepfunctions")
    monkeypatch.setattr(reaping._RunningRuns, "_ask", staticmethod(lambda _: False))
    monkeypatch.setattr(real, "get_paginator", lambda _: type("Pages", (), {"paginate": lambda *_, **__: running})())

    reap.handler({}, context)
    assert (len(mine()), len(snapshots())) == (2, 1)
    swept = reap.handler({"images": True}, context)
    assert (swept["deleted"], len(swept["remaining"]), swept["waits_for_runs"]) == ([], 2, True)
    running[0]["executions"] = []
    assert reap.handler({"images": True, "dryRun": True}, context)["deleted"] == []
    swept = reap.handler({"images": True}, context)

    until = clock.now() + 30 * 86_400 if days else None
    assert {one["kind"]: one.get("binned_until") for one in swept["deleted"]} == {
        "image": None,
        "image-snapshot": until and pytest.approx(until, abs=60),
    }
    assert (swept["remaining"], snapshots()) == ([], [])
    assert [one["Name"] for one in mine()] == ["theirs"]


def test_a_snapshot_whose_image_is_gone_already_is_taken_away_by_the_next_sweep(stack, context, monkeypatch):
    baked(context)
    monkeypatch.setattr(reaping.executions, "running", lambda _: [])
    with monkeypatch.context() as patch:
        patch.setattr(client("ec2"), "delete_snapshot", refusing("RequestLimitExceeded"))
        assert reap.handler({"images": True}, context)["deleted"] == []
    assert (mine(), len(snapshots())) == ([], 1)

    swept = reap.handler({"images": True}, context)

    assert [(one["kind"], one["run"]) for one in swept["deleted"]] == [("image-snapshot", RUN)]
    assert (swept["remaining"], snapshots()) == ([], [])
