"""The instances and volumes of a run in EC2's lists: found by tag for the table, looked up by id until gone."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aws.ec2 import instances, volume_mappings
from aws.records import table
from aws.stack import tags
from aws.stack.clock import now

# DescribeVolumes takes 200 values in a filter.
IDS_AT_ONCE = 200
# EC2 forgets terminated instances after about an hour, and is eventually consistent: an instance that it does not know
# counts as new rather than forgotten while it is younger than this.
UNHEARD_OF_S = 600.0
CreatedAt = Mapping[str, float]  # resources of one kind: epoch seconds by id


@dataclass(frozen=True)
class DeletionCheck:
    """How to find the deleted resources of a kind, and the evidence as the receipt words it."""

    deleted: Callable[[CreatedAt], Iterable[str]]
    proof: str


@dataclass(frozen=True)
class Resource:
    """A resource that exists, or did until a moment ago; `facts` are the attributes of its row."""

    kind: str
    id: str
    facts: dict[str, Any]


def record(run: str, cell: str, file_system: str) -> list[Resource]:
    """Give every instance and volume of a cell its row, and return them as EC2 describes them now.

    A name that is not a cell, such as that of the cache, exists once for each file system.
    """
    mine = list(of_fleets(run, file_system, cell))
    add_rows(run, mine, file_system, cell)
    return mine


def add_rows(run: str, resources: Iterable[Resource], file_system: str | None = None, cell: str | None = None) -> None:
    """Add missing rows for resources of a run, file system or cell that were found by tags.

    Most rows were written by the function that created the resource. This adds rows of a function that crashed before,
    and of volumes, which EC2 creates with the instances.
    """
    rows = table.resources(run, file_system, cell)
    # A volume's device shows its purpose, and EC2 may describe a new volume before its attachment.
    known = {row["id"] for row in rows if row["kind"] != "volume" or "instance" in row}
    unknown = (resource for resource in resources if resource.id not in known)
    table.record_resources(run, ((resource.kind, resource.id, resource.facts) for resource in unknown))


def of_fleets(run: str, file_system: str | None = None, cell: str | None = None) -> Iterator[Resource]:
    """Yield every instance and volume with the tags of a run, of one of its file systems, or of a cell."""
    for instance in instances.of_run(run, file_system, cell):
        yield Resource(
            "instance", instance["InstanceId"], facts_of(instance["Tags"], instance["LaunchTime"].timestamp())
        )
    for volume in instances.volumes(tags.of_part(run, file_system, cell)):
        devices = {attachment["Device"] for attachment in volume["Attachments"]}
        facts = facts_of(volume["Tags"], volume["CreateTime"].timestamp()) | {
            "is_data": not devices.isdisjoint(volume_mappings.DEVICES)
        }
        if volume_mappings.WORK_DEVICE in devices:
            facts["is_work"] = True
        # CloudWatch publishes some metrics of a volume only together with the instance it is attached to.
        attached = {"instance": volume["Attachments"][0]["InstanceId"]} if volume["Attachments"] else {}
        yield Resource("volume", volume["VolumeId"], facts | attached)


def facts_of(tag_list: list[dict[str, str]], created_at: float) -> dict[str, Any]:
    """Return the attributes of a resource's row from its tags, and its creation time (epoch seconds)."""
    resource_tags = tags.as_mapping(tag_list)
    facts = {"file_system": resource_tags.get(tags.FILE_SYSTEM), "cell": resource_tags.get(tags.CELL)}
    return {name: value for name, value in facts.items() if value} | {"created_at": created_at}


def verify(
    run: str, *, file_system: str | None = None, of_storages: Mapping[str, DeletionCheck] | None = None
) -> list[dict[str, Any]]:
    """Ask each service for resources not known to be gone; mark the rows of gone ones, return the other rows.

    `of_storages` gives the check for each kind of file system; without it only instances and volumes are checked.

    Check by id, not by tag: a resource that lost its tags is not gone. Resources kept on purpose are left out.
    """
    open_rows = [row for row in table.resources(run, file_system) if not ("gone_at" in row or row.get("kept"))]
    kinds = {row["kind"] for row in open_rows}
    asked = _OF_FLEETS | dict(of_storages or {})
    deleted: dict[str, str] = {}
    for kind in kinds & asked.keys():
        created_at = {row["id"]: float(row["created_at"]) for row in open_rows if row["kind"] == kind}
        deleted |= dict.fromkeys(asked[kind].deleted(created_at), asked[kind].proof)
    there = {row["id"] for row in open_rows if row["id"] not in deleted}
    # A volume goes with its instance. While that is there, EC2 only fails to describe the volume.
    deleted = {
        row["id"]: deleted[row["id"]] for row in open_rows if row["id"] in deleted and row.get("instance") not in there
    }
    table.mark_deleted(run, ((row, deleted[row["id"]]) for row in open_rows if row["id"] in deleted))
    return [row for row in open_rows if row["id"] not in deleted]


def deleted_instances(created_at: CreatedAt) -> Iterable[str]:
    """Return which of these instances are terminated, or so old that EC2 has forgotten them."""
    states = instances.states(list(created_at))
    unheard_of = {name for name, at in created_at.items() if name not in states and now() - at < UNHEARD_OF_S}
    terminated = (name for name in created_at if states.get(name, "terminated") == "terminated")
    return [name for name in terminated if name not in unheard_of]


def _deleted_volumes(created_at: CreatedAt) -> Iterable[str]:
    ids, there = list(created_at), set[str]()
    for start in range(0, len(ids), IDS_AT_ONCE):
        named = [{"Name": "volume-id", "Values": ids[start : start + IDS_AT_ONCE]}]
        there |= {volume["VolumeId"] for volume in instances.volumes(named)}
    return set(ids) - there


_OF_FLEETS = {
    "instance": DeletionCheck(deleted_instances, "EC2 DescribeInstances: terminated"),
    "volume": DeletionCheck(_deleted_volumes, "EC2 DescribeVolumes: not there"),
}
