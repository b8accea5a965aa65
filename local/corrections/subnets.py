"""Subnets of a stack: moto's CloudFormation gives them no public addresses and leaves them on the main route table."""

from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.subnets import Subnet, SubnetRouteTableAssociation

_create_subnet: Any = Subnet.create_from_cloudformation_json.__func__
_create_association: Any = SubnetRouteTableAssociation.create_from_cloudformation_json.__func__


def install() -> None:
    """Make both resources follow their template."""
    Subnet.create_from_cloudformation_json = classmethod(_subnet)
    SubnetRouteTableAssociation.create_from_cloudformation_json = classmethod(_association)


def _subnet(cls: Any, /, name: str, template: Any, account_id: str, region_name: str, **more: Any) -> Any:
    subnet = _create_subnet(cls, name, template, account_id, region_name, **more)
    subnet.map_public_ip_on_launch = bool(template["Properties"].get("MapPublicIpOnLaunch"))
    return subnet


def _association(cls: Any, /, name: str, template: Any, account_id: str, region_name: str, **more: Any) -> Any:
    association = _create_association(cls, name, template, account_id, region_name, **more)
    backend = ec2_backends[account_id][region_name]
    backend.associate_route_table(association.route_table_id, subnet_id=association.subnet_id)
    return association
