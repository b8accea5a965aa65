"""The network of instances and file systems: subnets and security groups of the stack."""

import os
from collections.abc import Collection
from functools import cache

from aws.stack.clients import client


def subnets() -> list[str]:
    """Return the stack's subnets. Fleets and file systems of a single AZ are placed in the first."""
    return os.environ["SUBNET_IDS"].split(",")


def subnets_from(zones: Collection[str]) -> list[str]:
    """Return the stack's subnets, those in these Availability Zones first."""
    return sorted(subnets(), key=lambda subnet: availability_zone(subnet) not in zones) if zones else subnets()


def file_system_security_group() -> str:
    """Return the security group that admits only NFS from the fleet."""
    return os.environ["FILE_SYSTEM_SECURITY_GROUP_ID"]


def route_table() -> str:
    """Return the route table of the stack's subnets; empty where the stack was given an existing VPC."""
    return os.environ.get("ROUTE_TABLE_ID", "")


def reaches_multi_az() -> bool:
    """Return whether instances may connect to a Multi-AZ endpoint, which no security group covers."""
    return bool(nfs_addresses())


def nfs_addresses() -> str:
    """Return the CIDR range for NFS to Multi-AZ endpoints; empty if only the stack's security group is allowed."""
    return os.environ.get("MULTI_AZ_CIDR", "")


@cache
def availability_zone(subnet: str) -> str:
    """Return the name of the Availability Zone of a subnet, such as `eu-west-1a`."""
    return _described(subnet)["AvailabilityZone"]


@cache
def zone_id(subnet: str) -> str:
    """Return the id of the Availability Zone of a subnet, such as `euw1-az3`, which is the same in all accounts."""
    return _described(subnet)["AvailabilityZoneId"]


def _described(subnet: str) -> dict[str, str]:
    described: dict[str, str] = client("ec2").describe_subnets(SubnetIds=[subnet])["Subnets"][0]
    return described
