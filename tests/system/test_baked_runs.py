"""Images as whole runs bake, take and lose them."""

import json
from typing import Any

from support.runs import EBS, TOUCH, Cloud, Run, matrix

DOCUMENT = matrix(storage=[EBS | {"name": "ebs"}], workload=[TOUCH | {"name": "t"}])
BAKED = {"bake": True}


def our_images(cloud: Cloud) -> list[dict[str, Any]]:
    return cloud.client("ec2").describe_images(Owners=["self"])["Images"]


def kept_snapshots(cloud: Cloud) -> list[str]:
    """The account's snapshots that belong to baked images."""
    found = cloud.client("ec2").describe_snapshots(Filters=[{"Name": "tag-key", "Values": ["storage-matrix:image"]}])
    return [one["SnapshotId"] for one in found["Snapshots"]]


def reap_images(cloud: Cloud) -> dict[str, Any]:
    name = cloud.output("ReapFunctionName")
    answer = cloud.client("lambda").invoke(FunctionName=name, Payload=json.dumps({"images": True}).encode())
    return json.loads(answer["Payload"].read())


def image_of_samples(run: Run) -> set[str]:
    """What the instances themselves say that they have booted."""
    [cell] = run.summary()["cells"]
    [instance] = run.document(f"cells/{cell['id']}/fleet.json")["instances"]
    keys = run.cloud.client("s3").list_objects_v2(
        Bucket=run.cloud.output("BucketName"), Prefix=f"runs/{run.name}/cells/{cell['id']}/instances/"
    )["Contents"]
    [key] = [one["Key"] for one in keys if one["Key"].endswith(f":{instance}/samples.json")]
    return {run.document(key.removeprefix(f"runs/{run.name}/"))["instance"]["image_id"]}


def without_kept(run: Run) -> dict[str, list[Any]]:
    """What a run has left beside what it keeps on purpose."""
    left = run.left_behind()
    rows = run.rows()
    left["open resources"] = [key for key in left.get("open resources", []) if not rows[key].get("kept")]
    return {kind: found for kind, found in left.items() if found}


def test_the_first_run_bakes_the_second_takes_the_image_and_reap_leaves_nothing(cloud: Cloud):
    first = cloud.run("bakes", DOCUMENT | {"image": BAKED})
    second = cloud.run("takes", DOCUMENT | {"image": BAKED})

    assert (first.status, second.status) == ("SUCCEEDED", "SUCCEEDED"), (first.describe(), second.describe())
    [image] = our_images(cloud)
    assert "Check image" in first.states()
    states = second.states()
    assert states[3:8] == ["Images to bake?", "Each image", "Bake image", "Image baked?", "Image ready"]
    assert "Check image" not in states
    assert image_of_samples(first) == image_of_samples(second) == {image["ImageId"]}
    assert (without_kept(first), second.left_behind()) == ({}, {})
    kept = [one["kind"] for one in first.summary()["receipt"]["resources"] if one["kept"]]
    assert sorted(kept) == ["image", "image-snapshot"]

    swept = reap_images(cloud)

    assert {one["id"] for one in swept["deleted"]} == {
        image["ImageId"], image["BlockDeviceMappings"][0]["Ebs"]["SnapshotId"],
    }  # fmt: skip
    assert (our_images(cloud), kept_snapshots(cloud)) == ([], [])


def test_a_builder_that_fails_fails_the_run_with_its_message_and_leaves_nothing(cloud: Cloud):
    parallel = TOUCH | {"name": "parallel", "tool": "parallel"}

    run = cloud.run("bad-recipe", DOCUMENT | {"image": BAKED, "workload": [parallel], "storage": [EBS]})

    assert run.status == "FAILED"
    cell = run.cell()
    assert cell["error"]["name"] == "ImageFailed"
    assert "GNU parallel is not installed" in cell["error"]["message"]
    states = run.states()
    assert {"Record failed image", "Discard image", "Analyse run", "Some cells failed"} <= set(states)
    assert "Create file system" not in states
    assert run.summary()["receipt"]["totals"]["resources"] > 0
    assert run.left_behind() == {}
    assert our_images(cloud) == []
