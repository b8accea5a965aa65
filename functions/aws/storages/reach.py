"""Reasons why an existing file system cannot be measured: a run made it, its VPC, its interfaces' groups."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aws.stack import network
from aws.stack.clients import client
from aws.stack.tags import RUN, as_mapping
from aws.storages.base import Refusal
from matrix.storages.base import FILE_SYSTEM_ID
from matrix.terms.documents.parts import StorageFields


def subnets(subnet_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return EC2's descriptions of subnets, with their VPC and zone."""
    described: list[dict[str, Any]] = client("ec2").describe_subnets(SubnetIds=list(subnet_ids))["Subnets"]
    return described


def interfaces(ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return those of the network interfaces that exist."""
    # A filter instead of ids: EC2 would refuse the whole request if one of the ids was deleted meanwhile.
    named = [{"Name": "network-interface-id", "Values": list(ids)}]
    if not named[0]["Values"]:
        return []
    described: list[dict[str, Any]] = client("ec2").describe_network_interfaces(Filters=named)["NetworkInterfaces"]
    return described


def of_a_run(field: str, resource_id: str, tags: Iterable[Mapping[str, str]]) -> Refusal | None:
    """Return that a run made it, which also deletes it; None if its owner did. `field` has its id in the matrix."""
    run = as_mapping(tags).get(RUN)
    if not run:
        return None
    return Refusal(field, resource_id, f"was made by the run {run}, and is deleted with it", "write one of your own")


def of_another_vpc(resource_id: str, theirs: Iterable[Mapping[str, Any]], vpc: str) -> Refusal | None:
    """Return that its subnets or interfaces are in another VPC than the stack's; None if they are not."""
    elsewhere = sorted({each["VpcId"] for each in theirs} - {vpc})
    if not elsewhere:
        return None
    rule = f"is mounted in {elsewhere[0]}, and the stack's instances are in {vpc}"
    fix = f"deploy a stack with VpcId {elsewhere[0]} and SubnetIds of it"
    return Refusal(FILE_SYSTEM_ID, resource_id, rule, fix)


def of_other_zones(resource_id: str, zones: Sequence[str]) -> Refusal | None:
    """Return that the stack has no subnet in its Availability Zones, so that every byte would cross zones.

    Of one in several zones this is free of charge, and only a warning.
    """
    own = sorted({network.availability_zone(subnet) for subnet in network.subnets()})
    if set(own) & set(zones):
        return None
    rule = f"is in {', '.join(zones)}, and the stack has subnets in {', '.join(own)} only"
    fix = f"give the stack a subnet in {zones[0]} in SubnetIds"
    return Refusal(FILE_SYSTEM_ID, resource_id, rule, fix, is_doubt=len(zones) > 1)


def closed(
    resource_id: str, door: str, interface: Mapping[str, Any], command: str, ports: str = "port 2049"
) -> Refusal | None:
    """Return that an interface lacks the stack's security group, the only one that all stacks' instances may reach.

    `door` names the interface in the message. `command` sets its groups, and ends with their list; `ports` are those by
    which it is mounted. A stack that knows the address range of its VPC lets its instances out to all of it, so there
    it is only a warning. None if it has the group.
    """
    own, group = [each["GroupId"] for each in interface["Groups"]], network.file_system_security_group()
    if group in own:
        return None
    groups = " ".join(own)
    rule = f"its {door} has the group {groups}, which need not let the stack's instances in at {ports}"
    fix = f"add the stack's group, which lets in nobody else: {command} {groups} {group}"
    return Refusal(FILE_SYSTEM_ID, resource_id, rule, fix, is_doubt=network.reaches_multi_az())


def without_mount_targets(
    resource_id: str, target_of: Mapping[str, str], subnet_ids: Iterable[str], *, create: str, regroup: str
) -> Iterable[Refusal]:
    """Yield reasons why instances in these subnets cannot reach it: a zone without mount target, or its groups.

    `target_of` has its available mount targets by their network interface. `create` and `regroup` are the commands that
    create a mount target and that set its groups.
    """
    own = subnets(subnet_ids)
    there = interfaces(target_of)
    if elsewhere := of_another_vpc(resource_id, there, own[0]["VpcId"]):
        yield elsewhere
        return
    for subnet in own:
        in_zone = [each for each in there if each["AvailabilityZone"] == subnet["AvailabilityZone"]]
        if not in_zone:
            group = network.file_system_security_group()
            rule = f"has no available mount target in {subnet['AvailabilityZone']}"
            fix = f"{create} --subnet-id {subnet['SubnetId']} --security-groups {group}"
            yield Refusal(FILE_SYSTEM_ID, resource_id, rule, fix)
        for interface in in_zone:
            target = target_of[interface["NetworkInterfaceId"]]
            command = f"{regroup} --mount-target-id {target} --security-groups"
            if refusal := closed(resource_id, f"mount target {target}", interface, command):
                yield refusal


def otherwise(resource_id: str, storage: StorageFields, described: Mapping[str, Any]) -> Iterable[Refusal]:
    """Yield each field whose value in the matrix differs from the service's description."""
    for field, actual in described.items():
        if storage.get(field) != actual:
            has_none = actual is None or actual is False or actual == ""
            fix = (
                "leave it out" if has_none else f"write {actual:g}" if isinstance(actual, float) else f"write {actual}"
            )
            yield Refusal(field, storage.get(field), f"{resource_id} has another", fix)
