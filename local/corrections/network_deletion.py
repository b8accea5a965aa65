"""Deleting a stack's network: moto's CloudFormation never deletes these types, so the VPC would stay too."""

from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.internet_gateways import InternetGateway
from moto.ec2.models.route_tables import RouteTable
from moto.ec2.models.vpcs import VPCEndPoint
from moto.ec2.models.vpn_gateway import VPCGatewayAttachment


def install() -> None:
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
