"""Corrections to networks as moto's CloudFormation makes and deletes them.

It never deletes gateways, route tables and endpoints, so the VPC would stay too. It gives subnets no public addresses
and leaves them on the main route table. It drops the security groups' own rules of egress; CloudFormation takes the
rule that lets everything out away from a group that has others.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-securitygroup.html
"""

from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.internet_gateways import InternetGateway
from moto.ec2.models.route_tables import RouteTable
from moto.ec2.models.security_groups import SecurityGroup
from moto.ec2.models.subnets import Subnet, SubnetRouteTableAssociation
from moto.ec2.models.vpcs import VPCEndPoint
from moto.ec2.models.vpn_gateway import VPCGatewayAttachment

_create_subnet: Any = Subnet.create_from_cloudformation_json.__func__
_create_association: Any = SubnetRouteTableAssociation.create_from_cloudformation_json.__func__


def install() -> None:
    _delete_with_the_stack()
    _give_subnets_addresses_and_routes()
    _give_groups_their_egress()


def _delete_with_the_stack() -> None:
    """Add the method that moto calls when a stack is deleted."""
    InternetGateway.delete = _delete_gateway
    RouteTable.delete = _delete_route_table
    VPCEndPoint.delete = _delete_endpoint
    VPCGatewayAttachment.delete = _detach_gateway


def _delete_gateway(self: Any, account: str, region: str) -> None:
    ec2_backends[account][region].delete_internet_gateway(self.id)


def _detach_gateway(self: Any, account: str, region: str) -> None:
    if self.gateway_id:
        ec2_backends[account][region].detach_internet_gateway(self.gateway_id, self.vpc_id)


def _delete_route_table(self: Any, account: str, region: str) -> None:
    self._associations.clear()  # the associations are resources of the stack too, and deleted with it
    ec2_backends[account][region].delete_route_table(self.id)


def _delete_endpoint(self: Any, account: str, region: str) -> None:
    backend = ec2_backends[account][region]
    # moto removes the endpoint's routes, and fails when a table went before
    self.route_table_ids = [table for table in self.route_table_ids or [] if table in backend.route_tables]
    backend.delete_vpc_endpoints([self.id])


def _give_subnets_addresses_and_routes() -> None:
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


def _give_groups_their_egress() -> None:
    create = SecurityGroup.create_from_cloudformation_json

    def create_with_egress(cls: Any, /, name: str, template: Any, account_id: str, region: str, **more: Any) -> Any:
        group = create.__func__(cls, name, template, account_id, region, **more)
        rules = template["Properties"].get("SecurityGroupEgress", [])
        if rules:
            group.egress_rules.clear()
        for rule in rules:
            authorize_egress(group.ec2_backend, group.id, rule)
        return group

    SecurityGroup.create_from_cloudformation_json = classmethod(create_with_egress)


def authorize_egress(ec2: Any, group_id: str, rule: dict[str, Any]) -> None:
    """Add a rule as a template has it.

    Not by the API: to load EC2's service model takes 0.4 s, a tenth of the whole start.
    """
    group, prefix_list = rule.get("DestinationSecurityGroupId"), rule.get("DestinationPrefixListId")
    ports: list[Any] = [rule.get("FromPort"), rule.get("ToPort")]
    ec2.authorize_security_group_egress(
        group_id,
        rule["IpProtocol"],
        *ports,
        ip_ranges=[{"CidrIp": rule["CidrIp"]}] if "CidrIp" in rule else [],
        source_groups=[{"GroupId": group}] if group else [],
        prefix_list_ids=[{"PrefixListId": prefix_list}] if prefix_list else [],
    )
