"""Machine images: resolve an image of the plan to an AMI, find a baked one, create it, deregister it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from botocore.exceptions import ClientError

from aws.ec2.instances import Boot
from aws.records import bucket
from aws.records.plans import image_of
from aws.stack import tags
from aws.stack.clients import client, listed
from matrix.terms.documents.job import BootedImage
from matrix.terms.documents.plan import PlanCell, PlanDocument, PlanImage
from matrix.terms.errors import ImageFailed
from matrix.terms.keys import booted_image_key

# Image names are unique in an account and region: of two runs that bake the same image, EC2 refuses the second.
NAME_IN_USE = "InvalidAMIName.Duplicate"
NOT_FOUND = ("InvalidAMIID.NotFound", "InvalidAMIID.Unavailable", "InvalidSnapshot.NotFound")


@dataclass(frozen=True)
class Baked:
    """A baked image as EC2 describes it; `state` is `available`, `pending`, `failed`, …"""

    id: str
    """Empty if only its snapshot is left."""
    state: str
    reason: str
    made_by: str
    owner: str
    created_at: float
    """Epoch seconds."""
    snapshots: list[str]
    tags: dict[str, str]


@cache
def newest(parameter: str) -> str:
    """Return the id of the newest image of an operating system, from the public parameter of its maker."""
    return client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"]


def base_of(image: PlanImage) -> str:
    """Return the id of the base image of a plan's image: the user's own, else the newest of its operating system."""
    return image.get("ami") or newest(image["base_parameter"])


def booted(plan: PlanDocument, cell: PlanCell) -> Boot:
    """Return the image that the instances of a cell boot: the same for a whole run, even if a newer one is published.

    Raises ImageFailed if the image should have been baked and was not.
    """
    image = image_of(plan, cell["image"])

    def chosen() -> str:
        if image["bake"]:
            raise ImageFailed(f"{image['id']} was not baked; the run's first failure says why")
        return base_of(image)

    return Boot(first_booted(plan["run"], image["id"], chosen), image["root_device"])


def first_booted(run: str, name: str, choose: Callable[[], str]) -> str:
    """Return the id of the image that a run boots under a name: as chosen by the first launch, for all later ones.

    EC2 takes a repeated launch for another one, and refuses its token, if a newer image was published in between.
    """
    key = booted_image_key(run, name)
    document = bucket.read(key, BootedImage)
    if document is None:
        document = {"image_id": choose(), "baked": False}
        if not bucket.put_if_absent(key, document):  # another launch was first
            document = bucket.read(key, BootedImage) or document
    return document["image_id"]


def find(fingerprint: str) -> Baked | None:
    """Return this stack's image with the fingerprint, None if there is none; available before pending before failed."""
    order = {"available": 0, "pending": 1}
    wanted = {"Name": f"tag:{tags.IMAGE}", "Values": [fingerprint]}
    candidates = [_baked(image) for image in _describe([*tags.of_stack(), wanted])]
    return min(candidates, key=lambda image: order.get(image.state, 2), default=None)


def all_baked() -> list[Baked]:
    """Return every image that runs of this stack have baked and kept.

    A snapshot whose image is deregistered, and that could not be deleted then, is an image without an id.
    """
    filters = [*tags.of_stack(), {"Name": "tag-key", "Values": [tags.IMAGE]}]
    baked = [_baked(image) for image in _describe(filters)]
    of_images = {snapshot for image in baked for snapshot in image.snapshots}
    snapshots = listed("ec2", "describe_snapshots", "Snapshots", OwnerIds=["self"], Filters=filters)
    return baked + [_alone(each) for each in snapshots if each["SnapshotId"] not in of_images]


def create(plan: PlanDocument, instance: str, name: str, fingerprint: str) -> None:
    """Start to create an image of a stopped instance, unless another run is creating it already."""
    named = tags.image_tags(plan, name, fingerprint)
    kinds = ("image", "snapshot")
    try:
        client("ec2").create_image(
            InstanceId=instance, Name=name, TagSpecifications=[{"ResourceType": kind, "Tags": named} for kind in kinds]
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != NAME_IN_USE:
            raise


def deregister(image: Baked) -> None:
    """Deregister an image and delete its snapshots; parts that no longer exist are not errors."""
    if image.id:
        _ignoring_not_found(lambda: client("ec2").deregister_image(ImageId=image.id))
    for snapshot in image.snapshots:
        _ignoring_not_found(lambda snapshot=snapshot: client("ec2").delete_snapshot(SnapshotId=snapshot))


def _ignoring_not_found(call: Any) -> None:
    try:
        call()
    except ClientError as error:
        if error.response["Error"]["Code"] not in NOT_FOUND:
            raise


def _describe(filters: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return listed("ec2", "describe_images", "Images", Owners=["self"], Filters=filters)


def _baked(image: Mapping[str, Any]) -> Baked:
    volumes = (mapping.get("Ebs", {}) for mapping in image.get("BlockDeviceMappings", []))
    named = tags.as_mapping(image.get("Tags", []))
    return Baked(
        id=image["ImageId"],
        state=image["State"],
        reason=image.get("StateReason", {}).get("Message", ""),
        made_by=named.get(tags.MADE_BY, ""),
        owner=named.get(tags.OWNER, ""),
        created_at=datetime.fromisoformat(image["CreationDate"]).timestamp(),
        snapshots=[volume["SnapshotId"] for volume in volumes if "SnapshotId" in volume],
        tags=named,
    )


def _alone(snapshot: Mapping[str, Any]) -> Baked:
    named = tags.as_mapping(snapshot.get("Tags", []))
    return Baked(
        id="",
        state="deregistered",
        reason="",
        made_by=named.get(tags.MADE_BY, ""),
        owner=named.get(tags.OWNER, ""),
        created_at=snapshot["StartTime"].timestamp(),
        snapshots=[snapshot["SnapshotId"]],
        tags=named,
    )
