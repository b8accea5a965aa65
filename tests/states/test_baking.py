"""Baking an image, step by step against EC2, and taking it away again."""

import json

import boto3
import pytest
from support.function_events import RUN, load_event

import bake_image
import check_image
import discard_image
import launch_fleet
import plan_matrix
import reap
import record_failed_image
from aws.ec2 import images, instances
from aws.records import bucket, plans, table
from aws.stack.clients import client
from aws.teardown import reaping, receipts
from local.corrections import images as corrections
from matrix.terms.errors import ImageFailed
from matrix.terms.keys import Board

IMAGE = "al2023-x86_64"


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
    answer = plan_matrix.handler(event, context)
    return answer["images"]


def bake(context, run=RUN, image=IMAGE):
    return bake_image.handler({"run": run, "image": image}, context)["state"]


def check(context, run=RUN, image=IMAGE):
    return check_image.handler({"run": run, "image": image}, context)["state"]


def builders(run=RUN):
    return instances.of_file_system(run, "_images")


def finish_builder(run=RUN, image=IMAGE):
    """The agent says that it is done, and the instance stops."""
    [builder] = builders(run)
    bucket.put(f"{Board.of_image(run, image).instances}AROA:{builder}/done.json", {"at": 1})
    boto3.client("ec2").stop_instances(InstanceIds=[builder])


def finish_image():
    """EC2 has made the image."""
    [image] = mine()
    _backend().amis[image["ImageId"]].state = "available"


def _backend():
    return corrections.ec2_backends["123456789012"]["us-east-1"]


def mine():
    return boto3.client("ec2").describe_images(Owners=["self"])["Images"]


def snapshots():
    found = boto3.client("ec2").describe_snapshots(OwnerIds=["self"])["Snapshots"]
    return [one for one in found if any(tag["Key"] == "storage-matrix:image" for tag in one.get("Tags", []))]


def baked(context, run=RUN):
    """One image baked from the beginning to the end."""
    planned(context, run)
    assert bake(context, run) == "baking"
    finish_builder(run)
    assert check(context, run) == "baking"
    finish_image()
    assert check(context, run) == "baked"


def test_an_image_is_made_of_a_stopped_builder_and_the_builder_ends(stack, context):
    assert planned(context) == [IMAGE]

    assert bake(context) == "baking"
    [builder] = builders()
    assert check(context) == "baking"
    assert mine() == []
    finish_builder()
    assert [check(context), check(context)] == ["baking", "baking"]
    [image] = mine()
    assert image["State"] == "pending"
    finish_image()
    assert check(context) == "baked"

    assert instances.states([builder])[builder] in ("shutting-down", "terminated")
    assert bucket.get(f"runs/{RUN}/booted/{IMAGE}.json")["image_id"] == image["ImageId"]
    assert [one["SnapshotId"] for one in snapshots()] == [image["BlockDeviceMappings"][0]["Ebs"]["SnapshotId"]]


def test_a_builder_is_tagged_stops_when_done_and_installs_what_the_matrix_needs(stack, context):
    planned(context, packages=["gcc"], containers=["debian:12"])

    bake(context)

    [builder] = builders()
    found = boto3.client("ec2").describe_instance_attribute(
        InstanceId=builder, Attribute="instanceInitiatedShutdownBehavior"
    )
    assert found["InstanceInitiatedShutdownBehavior"]["Value"] == "stop"
    job = bucket.get(Board.of_image(RUN, IMAGE).job)
    assert (job["kind"], job["mount"]) == ("bake", {"kind": "root"})
    assert job["provisions"]["packages"] == ["gcc"]
    assert job["provisions"]["containers"] == ["debian:12"]
    assert set(job["provisions"]["tools"]) >= {"mkfs.xfs", "mount.nfs"}
    assert job["provisions"] == plans.image_of(plans.plan_of(RUN), IMAGE)["recipe"]


def test_where_storages_are_folders_a_builder_installs_nothing_to_make_or_mount_one(stack, context, folders):
    storages = [{"type": "ebs", "volumeType": "gp3", "sizeGiB": 20}, {"type": "efs", "throughputMode": "elastic"}]
    workloads = [{"type": "touch", "files": 64}, {"type": "touch", "files": 64, "tool": "parallel", "name": "parallel"}]

    planned(context, cells={"storage": storages, "workload": workloads})
    bake(context)

    assert bucket.get(Board.of_image(RUN, IMAGE).job)["provisions"]["tools"] == ["parallel"]


def test_a_later_run_takes_the_image_and_launches_nothing(stack, context):
    baked(context)

    planned(context, "later")

    assert bake(context, "later") == "baked"
    assert builders("later") == []
    document = bucket.get(f"runs/later/booted/{IMAGE}.json")
    assert (document["image_id"], document["baked_by"]) == (mine()[0]["ImageId"], RUN)
    assert not any(row["kind"] == "image" for row in table.resources("later"))


@pytest.mark.parametrize("change", [{"packages": ["gcc"]}, {"os": "ubuntu-22.04"}, {"dockerfile": "FROM debian:12"}])
def test_another_recipe_is_another_image(stack, context, change):
    baked(context)

    [image] = planned(context, "later", **change)

    assert bake(context, "later", image) == "baking"


def test_of_two_runs_that_bake_the_same_the_second_takes_the_image_of_the_first(stack, context):
    planned(context, "one")
    planned(context, "two")
    assert [bake(context, "one"), bake(context, "two")] == ["baking", "baking"]
    finish_builder("one")
    finish_builder("two")

    assert [check(context, "one"), check(context, "two")] == ["baking", "baking"]
    finish_image()
    assert [check(context, "two"), check(context, "one")] == ["baked", "baked"]

    assert len(mine()) == 1
    assert builders("two") == []


def test_a_cell_boots_the_baked_image_and_none_is_launched_without_it(stack, context):
    planned(context)
    plan = plans.plan_of(RUN)
    cell = next(one for one in plan["cells"] if one["storage"]["type"] == "ebs")
    with pytest.raises(ImageFailed, match="was not baked"):
        launch_fleet.handler({"run": RUN, "cell": cell["id"], "resource_ids": []}, context)
    bake(context)
    finish_builder()
    check(context)
    finish_image()
    check(context)

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


def test_a_builder_that_gave_up_is_an_error_in_its_own_words_and_leaves_nothing(stack, context):
    planned(context)
    bake(context)
    [builder] = builders()
    said = {"error": "ToolMissing", "message": "GNU parallel is not installed"}
    bucket.put(f"{Board.of_image(RUN, IMAGE).instances}AROA:{builder}/failed.json", said)

    with pytest.raises(ImageFailed, match="ToolMissing: GNU parallel is not installed") as refused:
        check(context)
    failure = {"Error": "ImageFailed", "Cause": json.dumps({"errorMessage": str(refused.value)})}
    record_failed_image.handler({"run": RUN, "failure": failure}, context)
    for _ in range(2):
        state = discard_image.handler({"run": RUN}, context)["state"]

    assert state == "gone"
    assert (builders(), mine()) == ([], [])
    for cell in plans.plan_of(RUN)["cells"]:
        result = bucket.get(Board.of_cell(RUN, cell["id"]).result)
        assert (result["state"], result["error"]["name"]) == ("failed", "ImageFailed")


def test_an_image_that_ec2_could_not_make_is_an_error_and_its_name_is_free_again(stack, context):
    planned(context)
    bake(context)
    finish_builder()
    check(context)
    _backend().amis[mine()[0]["ImageId"]].state = "failed"

    with pytest.raises(ImageFailed, match="could not make"):
        check(context)

    assert mine() == []


def test_what_is_kept_is_in_the_receipt_with_its_price_and_is_not_a_leak(stack, context):
    baked(context)

    receipt = receipts.make(RUN, sweep={"at": 1.0, "remaining": 0})

    kept = {one["kind"] for one in receipt["resources"] if one["kept"]}
    assert kept == {"image", "image-snapshot"}
    assert receipts.still_there(receipt) == []
    assert receipt["is_complete"]
    assert receipt["totals"]["kept_usd_month"]["high"] == pytest.approx(1.0)
    assert not any(one["kind"] == "ebs-snapshot" for one in receipt["resources"])


def test_an_image_whose_creation_was_cut_short_is_no_longer_waited_for_once_it_is_found(stack, context, monkeypatch):
    planned(context)
    bake(context)
    finish_builder()
    create = images.create

    def create_and_crash(*arguments):
        create(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(images, "create", create_and_crash)
    with pytest.raises(KeyboardInterrupt):
        check(context)
    assert table.open_creations(RUN)

    finish_image()
    assert check(context) == "baked"

    assert table.open_creations(RUN) == []


def test_an_image_that_its_run_could_not_note_any_more_is_in_the_receipt_after_the_sweep(stack, context):
    planned(context)
    bake(context)
    finish_builder()
    assert check(context) == "baking"
    finish_image()

    receipts.after_sweep(RUN, {"at": 1.0, "remaining": 0})

    receipt = bucket.get(f"runs/{RUN}/receipt.json")
    assert [one["id"] for one in receipt["resources"] if one["kind"] == "image"] == [mine()[0]["ImageId"]]
    assert receipt["totals"]["kept"] == 2
    assert receipt["totals"]["kept_usd_month"]["high"] == pytest.approx(1.0)


def test_a_run_that_fails_once_its_image_is_there_does_not_wait_for_the_image_to_go(stack, context):
    baked(context)

    assert discard_image.handler({"run": RUN}, context) == {"state": "gone"}
    assert len(mine()) == 1


def test_reap_takes_images_away_only_when_asked_and_when_no_run_is_running(stack, context, monkeypatch):
    baked(context)
    running = [{"executions": [{"name": "r"}]}]
    real = client("stepfunctions")
    monkeypatch.setattr(reaping._RunningRuns, "_ask", staticmethod(lambda _: False))
    monkeypatch.setattr(real, "get_paginator", lambda _: type("Pages", (), {"paginate": lambda *_, **__: running})())

    reap.handler({}, context)
    assert len(mine()) == len(snapshots()) == 1
    swept = reap.handler({"images": True}, context)
    assert (swept["deleted"], len(swept["remaining"]), swept["waits_for_runs"]) == ([], 2, True)
    running[0]["executions"] = []
    assert reap.handler({"images": True, "dryRun": True}, context)["deleted"] == []
    swept = reap.handler({"images": True}, context)

    assert {one["kind"] for one in swept["deleted"]} == {"image", "image-snapshot"}
    assert (swept["remaining"], mine(), snapshots()) == ([], [], [])


def test_images_of_others_are_never_taken_away(stack, context, monkeypatch):
    ec2 = boto3.client("ec2")
    [theirs] = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1)["Instances"]
    ec2.create_image(InstanceId=theirs["InstanceId"], Name="theirs")
    pages = [{"executions": []}]
    monkeypatch.setattr(
        client("stepfunctions"),
        "get_paginator",
        lambda _: type("Pages", (), {"paginate": lambda *_, **__: pages})(),
    )

    assert reap.handler({"images": True}, context)["deleted"] == []
    assert [one["Name"] for one in mine()] == ["theirs"]
