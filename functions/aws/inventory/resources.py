"""What a run has created, as AWS lists it: found by tag for the table, looked up by id until it is gone."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aws.ec2 import instances, volume_mappings
from aws.records import data_bucket, table
from aws.stack import tags
from aws.stack.clients import client
from aws.stack.clock import now

# DescribeVolumes takes 200 values in a filter.
IDS_AT_ONCE = 200
# EC2 forgets terminated instances after about an hour, and is eventually consistent: an instance that it does not know
# counts as new rather than forgotten while it is younger than this.
UNHEARD_OF_S = 600.0
CreatedAt = Mapping[str, float]  # resources of one kind: epoch seconds by id


@dataclass(frozen=True)
class Resource:
    """A resource that exists, or did until a moment ago; `facts` are the attributes of its row."""

    kind: str
    id: str
    facts: dict[str, Any]


def record(run: str, *, file_system: str | None = None, cell: str | None = None) -> None:
    """Give every resource of a run, file system or cell its row, found by tags.

    Most rows were written by the function that created the resource. This adds those of a function that crashed in
    between, and of volumes, which EC2 creates with the instances.
    """
    known = {row["id"] for row in table.resources(run)}
    for resource in _of_fleets(run) if cell else of_run(run):
        facts = resource.facts
        is_wanted = file_system in (None, facts.get("file_system")) and cell in (None, facts.get("cell"))
        if is_wanted and resource.id not in known:
            table.record_resource(run, resource.kind, resource.id, **facts)


def of_run(run: str) -> Iterator[Resource]:
    """Yield every resource that carries the run's tag.

    Only services that the run was planned to use are asked: an account may forbid the others.
    """
    yield from _of_fleets(run)
    planned = table.file_systems(run)
    for kind, service in (("efs", "efs"), ("fsx-openzfs", "fsx")):
        # A row written by an older version of the stack has no type: it may be of any.
        if all(row.get("storage_type", kind) != kind for row in planned):
            continue
        for page in client(service).get_paginator("describe_file_systems").paginate():
            for existing in page["FileSystems"]:
                if tags.is_ours(tags.as_mapping(existing.get("Tags", [])), run):
                    facts = _facts(existing["Tags"], existing["CreationTime"])
                    yield Resource(kind, existing["FileSystemId"], facts)
    yield from _prefixes_of(run)


def _prefixes_of(run: str) -> Iterator[Resource]:
    for prefix, tag_list, since in data_bucket.all_tagged():
        prefix_tags = tags.as_mapping(tag_list)
        if tags.is_ours(prefix_tags, run):
            yield Resource("s3", prefix, {"file_system": prefix_tags[tags.FILE_SYSTEM], "created_at": since})


def _of_fleets(run: str) -> Iterator[Resource]:
    for instance in instances.of_run(run):
        facts = _facts(instance["Tags"], instance["LaunchTime"])
        yield Resource("instance", instance["InstanceId"], facts)
    for volume in instances.volumes(tags.of_runs(run)):
        devices = {attachment["Device"] for attachment in volume["Attachments"]}
        facts = _facts(volume["Tags"], volume["CreateTime"]) | {
            "is_data": not devices.isdisjoint(volume_mappings.DEVICES)
        }
        # CloudWatch publishes some metrics of a volume only together with the instance it is attached to.
        attached = {"instance": volume["Attachments"][0]["InstanceId"]} if volume["Attachments"] else {}
        yield Resource("volume", volume["VolumeId"], facts | attached)


def _facts(tag_list: list[dict[str, str]], created: Any) -> dict[str, Any]:
    resource_tags = tags.as_mapping(tag_list)
    facts = {"file_system": resource_tags.get(tags.FILE_SYSTEM), "cell": resource_tags.get(tags.CELL)}
    return {name: value for name, value in facts.items() if value} | {"created_at": created.timestamp()}


def verify(run: str, *, file_system: str | None = None) -> list[dict[str, Any]]:
    """Ask each service for resources not known to be gone; mark the rows of those that are, return the other rows.

    By id, not by tag: a resource that lost its tags is not gone. Resources kept on purpose are left out.
    """
    open_rows = [
        row
        for row in table.resources(run)
        if not ("gone_at" in row or row.get("kept")) and file_system in (None, row.get("file_system"))
    ]
    kinds = {row["kind"] for row in open_rows}
    gone: dict[str, str] = {}
    for kind in kinds & _SEEN_GONE.keys():
        created_at = {row["id"]: float(row["created_at"]) for row in open_rows if row["kind"] == kind}
        gone |= dict.fromkeys(_SEEN_GONE[kind](created_at), _WHO_SAYS_SO[kind])
    for resource, verified in gone.items():
        table.resource_gone(run, resource, verified)
    return [row for row in open_rows if row["id"] not in gone]


def _gone_instances(created_at: CreatedAt) -> Iterable[str]:
    states = instances.states(list(created_at))
    unheard_of = {name for name, at in created_at.items() if name not in states and now() - at < UNHEARD_OF_S}
    terminated = (name for name in created_at if states.get(name, "terminated") == "terminated")
    return [name for name in terminated if name not in unheard_of]


def _gone_volumes(created_at: CreatedAt) -> Iterable[str]:
    ids, there = list(created_at), set[str]()
    for start in range(0, len(ids), IDS_AT_ONCE):
        named = [{"Name": "volume-id", "Values": ids[start : start + IDS_AT_ONCE]}]
        there |= {volume["VolumeId"] for volume in instances.volumes(named)}
    return set(ids) - there


def _gone_file_systems(service: str) -> Callable[[CreatedAt], Iterable[str]]:
    def gone(created_at: CreatedAt) -> Iterable[str]:
        there = {
            file_system["FileSystemId"]
            for page in client(service).get_paginator("describe_file_systems").paginate()
            for file_system in page["FileSystems"]
            if file_system.get("LifeCycleState") != "deleted"
        }
        return set(created_at) - there

    return gone


def _gone_prefixes(created_at: CreatedAt) -> Iterable[str]:
    return set(created_at) - {prefix for prefix, _, _ in data_bucket.all_tagged()}


_SEEN_GONE: dict[str, Callable[[CreatedAt], Iterable[str]]] = {
    "instance": _gone_instances,
    "volume": _gone_volumes,
    "efs": _gone_file_systems("efs"),
    "fsx-openzfs": _gone_file_systems("fsx"),
    "s3": _gone_prefixes,
    "file-server": _gone_instances,
}
_WHO_SAYS_SO = {
    "instance": "EC2 DescribeInstances: terminated",
    "volume": "EC2 DescribeVolumes: not there",
    "efs": "EFS DescribeFileSystems: not there",
    "fsx-openzfs": "FSx DescribeFileSystems: not there",
    "s3": "S3 ListObjectsV2: no object",
    "file-server": "EC2 DescribeInstances: terminated",
}
