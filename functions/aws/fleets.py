"""EC2: launch the instances of a cell, ask for their states, end them."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from botocore.exceptions import ClientError

from aws import network, tags
from aws.clients import client
from aws.storages import ebs
from matrix.errors import CapacityUnavailable, LaunchRefused, QuotaExceeded

# EC2 advises batches of about 100; each is one idempotent call with a token of its own.
BATCH = 100
# The error codes as RunInstances documents them.
_QUOTA = {
    "InstanceLimitExceeded", "VcpuLimitExceeded", "MaxSpotInstanceCountExceeded", "VolumeLimitExceeded",
    "MaxIOPSLimitExceeded", "InsufficientFreeAddressesInSubnet", "AddressLimitExceeded",
}  # fmt: skip
_CAPACITY = {"InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientCapacity", "Unsupported"}
# Here and not in the launch template: mappings in a request may replace the template's, and then the image's own,
# unencrypted one would count.
ROOT_VOLUME = {
    "DeviceName": "/dev/xvda",
    "Ebs": {"VolumeType": "gp3", "VolumeSize": 20, "Encrypted": True, "DeleteOnTermination": True},
}
ALIVE = ("pending", "running", "stopping", "stopped", "shutting-down")


def architecture(instance_type: str) -> str:
    """Return `arm64` or `x86_64`, as EC2 says of the instance type."""
    answer = client("ec2").describe_instance_types(InstanceTypes=[instance_type])
    supported = answer["InstanceTypes"][0]["ProcessorInfo"]["SupportedArchitectures"]
    return "arm64" if "arm64" in supported else "x86_64"


@cache
def image(arch: str) -> str:
    """Return the id of the newest Amazon Linux 2023 image, from the public parameter that AWS keeps."""
    name = f"/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-{arch}"
    return client("ssm").get_parameter(Name=name)["Parameter"]["Value"]


def launch(
    *, plan: Mapping[str, Any], file_system: str, cell: str, storage: dict[str, Any], instance_type: str, count: int,
    user_data: str,
) -> list[str]:  # fmt: skip
    """Launch `count` instances and return their ids. Calling it again returns the same instances.

    All or nothing: when a later batch is refused, the earlier ones are ended before the refusal is raised as
    QuotaExceeded, CapacityUnavailable or LaunchRefused.
    """
    resource_tags = tags.tags(plan, file_system=file_system, cell=cell)
    request: dict[str, Any] = {
        "LaunchTemplate": {"LaunchTemplateId": os.environ["LAUNCH_TEMPLATE_ID"], "Version": "$Latest"},
        "ImageId": image(architecture(instance_type)),
        "InstanceType": instance_type,
        "SubnetId": network.subnets()[0],
        "UserData": user_data,
        "BlockDeviceMappings": [ROOT_VOLUME],
        "TagSpecifications": [
            {"ResourceType": kind, "Tags": resource_tags} for kind in ("instance", "volume", "network-interface")
        ],
    }
    if storage["type"] == "ebs":
        request["BlockDeviceMappings"].append(ebs.block_device(storage))
    launched: list[str] = []
    try:
        for batch, start in enumerate(range(0, count, BATCH)):
            size = min(BATCH, count - start)
            token = hashlib.sha256(f"{plan['run']}/{file_system}/{cell}/{batch}".encode()).hexdigest()
            answer = client("ec2").run_instances(**request, MinCount=size, MaxCount=size, ClientToken=token)
            launched += [instance["InstanceId"] for instance in answer["Instances"]]
    except ClientError as error:
        terminate(launched)
        raise _refusal(error, instance_type, count, len(launched)) from error
    return launched


def _refusal(error: ClientError, instance_type: str, count: int, launched: int) -> Exception:
    code, message = error.response["Error"]["Code"], error.response["Error"]["Message"]
    what = f"{count} × {instance_type} refused after {launched}: {code}: {message}"
    if code in _QUOTA:
        return QuotaExceeded(f"{what}; ask for a higher quota in Service Quotas or lower the fleet's count")
    if code in _CAPACITY:
        return CapacityUnavailable(f"{what}; try another instance type, Availability Zone or time")
    return LaunchRefused(what)


def states(instances: Sequence[str]) -> dict[str, str]:
    """Return EC2's state of each instance. One launched seconds ago may be absent, as EC2 is eventually consistent."""
    return {one["InstanceId"]: one["State"]["Name"] for one in _by_ids(instances)}


def _by_ids(instances: Sequence[str]) -> Iterator[dict[str, Any]]:
    """By a filter, which takes 200 values: an unknown id among InstanceIds would fail the whole call."""
    for start in range(0, len(instances), 200):
        yield from _describe([{"Name": "instance-id", "Values": list(instances[start : start + 200])}])


def of_file_system(run: str, file_system: str, cell: str | None = None) -> list[str]:
    """Return the ids of instances not yet terminated of a file system, or of one of its cells, found by their tags."""
    wanted = {tags.RUN: run, tags.FILE_SYSTEM: file_system} | ({tags.CELL: cell} if cell else {})
    filters = [{"Name": f"tag:{key}", "Values": [value]} for key, value in wanted.items()]
    return [one["InstanceId"] for one in _describe([*filters, {"Name": "instance-state-name", "Values": list(ALIVE)}])]


def tagged() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (id, tags) of every instance of any run that is not yet terminated."""
    alive = {"Name": "instance-state-name", "Values": list(ALIVE)}
    for one in _describe([{"Name": "tag-key", "Values": [tags.RUN]}, alive]):
        yield one["InstanceId"], tags.as_mapping(one["Tags"])


def of_run(run: str) -> Iterator[dict[str, Any]]:
    """Yield EC2's description of every instance of a run, for an hour also of those that have ended."""
    yield from _describe([{"Name": f"tag:{tags.RUN}", "Values": [run]}])


def tagged_volumes() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield (id, state, tags) of every volume of any run."""
    for volume in volumes([{"Name": "tag-key", "Values": [tags.RUN]}]):
        yield volume["VolumeId"], volume["State"], tags.as_mapping(volume["Tags"])


def volumes(filters: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield EC2's description of every volume that passes the filters."""
    for page in client("ec2").get_paginator("describe_volumes").paginate(Filters=filters):
        yield from page["Volumes"]


def delete_volume(volume: str) -> None:
    """Delete a volume that outlived its instance; one that is gone already is fine."""
    try:
        client("ec2").delete_volume(VolumeId=volume)
    except ClientError as error:
        if error.response["Error"]["Code"] != "InvalidVolume.NotFound":
            raise


def terminate(instances: Iterable[str]) -> None:
    """Terminate instances; one that is gone already is fine."""
    ids = list(instances)
    for start in range(0, len(ids), 1000):
        try:
            client("ec2").terminate_instances(InstanceIds=ids[start : start + 1000])
        except ClientError as error:
            if error.response["Error"]["Code"] != "InvalidInstanceID.NotFound":
                raise


def running_vcpus(is_counted: Callable[[str], bool]) -> float:
    """Return the vCPUs of all instances of the account that run or start, of the types that count."""
    alive = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    cpus = [one["CpuOptions"] for one in _describe(alive) if is_counted(one["InstanceType"]) and "CpuOptions" in one]
    return float(sum(one["CoreCount"] * one["ThreadsPerCore"] for one in cpus))


def _describe(filters: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for page in client("ec2").get_paginator("describe_instances").paginate(Filters=filters):
        for reservation in page["Reservations"]:
            yield from reservation["Instances"]
