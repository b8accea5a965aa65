"""Machine images: which one an image of the plan is, find a baked one, make it, take it away."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from botocore.exceptions import ClientError

from aws.ec2.instances import Boot
from aws.records import bucket
from aws.stack import tags
from aws.stack.clients import client
from matrix.terms.errors import ImageFailed
from matrix.terms.keys import booted_image_key

Document = dict[str, Any]
# Names of images are unique in an account and region, so of two runs of a stack that bake the same one, one is refused.
TAKEN = "InvalidAMIName.Duplicate"
GONE = ("InvalidAMIID.NotFound", "InvalidAMIID.Unavailable", "InvalidSnapshot.NotFound")


@dataclass(frozen=True)
class Baked:
    """A baked image as EC2 tells it: `available`, `pending`, `failed`, …; and the snapshots it consists of."""

    id: str
    state: str
    reason: str
    made_by: str
    snapshots: list[str]


@cache
def newest(parameter: str) -> str:
    """Return the id of the newest image of an operating system, from the public parameter of its maker."""
    return client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"]


def booted(plan: Mapping[str, Any], cell: Mapping[str, Any]) -> Boot:
    """Return what the instances of a cell boot: one image in all launches of a run, whatever is released meanwhile.

    ImageFailed where it should have been baked and was not.
    """
    image = next(one for one in plan["images"] if one["id"] == cell["image"])
    key = booted_image_key(plan["run"], image["id"])
    document = bucket.get(key)
    if document is None and image["bake"]:
        raise ImageFailed(f"{image['id']} was not baked; the run's first failure says why")
    if document is None:
        bucket.put_if_absent(key, {"image_id": newest(image["base_parameter"]), "baked": False})
        document = bucket.get(key)
    return Boot(document["image_id"], image["root_device"])


def find(fingerprint: str) -> Baked | None:
    """Return our image with this fingerprint; of several an available one before a pending, before a failed one."""
    order = {"available": 0, "pending": 1}
    wanted = {"Name": f"tag:{tags.IMAGE}", "Values": [fingerprint]}
    found = [_baked(one) for one in _describe([*tags.of_stack(), wanted])]
    return min(found, key=lambda one: order.get(one.state, 2), default=None)


def all_baked() -> list[Baked]:
    """Return every image that runs of this stack have baked and kept."""
    return [_baked(one) for one in _describe([*tags.of_stack(), {"Name": "tag-key", "Values": [tags.IMAGE]}])]


def create(plan: Mapping[str, Any], instance: str, name: str, fingerprint: str) -> str | None:
    """Begin to make an image of a stopped instance; return its id, None where another run is making it just now."""
    named = tags.image_tags(plan, name, fingerprint)
    kinds = ("image", "snapshot")
    try:
        answer = client("ec2").create_image(
            InstanceId=instance, Name=name, TagSpecifications=[{"ResourceType": kind, "Tags": named} for kind in kinds]
        )
    except ClientError as error:
        if error.response["Error"]["Code"] == TAKEN:
            return None
        raise
    return str(answer["ImageId"])


def deregister(image: Baked) -> None:
    """Take an image away with its snapshots; what is gone already is fine."""
    _unless_gone(lambda: client("ec2").deregister_image(ImageId=image.id))
    for snapshot in image.snapshots:
        _unless_gone(lambda snapshot=snapshot: client("ec2").delete_snapshot(SnapshotId=snapshot))


def _unless_gone(call: Any) -> None:
    try:
        call()
    except ClientError as error:
        if error.response["Error"]["Code"] not in GONE:
            raise


def _describe(filters: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for page in client("ec2").get_paginator("describe_images").paginate(Owners=["self"], Filters=filters):
        yield from page["Images"]


def _baked(image: Mapping[str, Any]) -> Baked:
    mappings = (one.get("Ebs", {}) for one in image.get("BlockDeviceMappings", []))
    return Baked(
        id=image["ImageId"],
        state=image["State"],
        reason=image.get("StateReason", {}).get("Message", ""),
        made_by=tags.as_mapping(image.get("Tags", [])).get(tags.MADE_BY, ""),
        snapshots=[one["SnapshotId"] for one in mappings if "SnapshotId" in one],
    )
