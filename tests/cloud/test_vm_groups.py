"""What security groups let an emulated machine send; test_vm_fleet.py has machines whose kernel holds to it."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from cloud.vm import groups, machines

FLEET_RULE = groups.Rule("tcp", 2049, 2049, frozenset({"sg-files"}))
FILES_RULE = groups.Rule("tcp", 2049, 2049, frozenset({"sg-fleet"}))
FLEET = groups.Group("sg-fleet", (), (FLEET_RULE, groups.Rule("tcp", 443, 443, frozenset({"0.0.0.0/0"}))))
FILES = groups.Group("sg-files", (FILES_RULE,), ())
MACHINE = groups.Interface("10.83.0.7", (FLEET,))
MOUNT_TARGET = groups.Interface("10.83.0.9", (FILES,))


@pytest.mark.parametrize(
    ("out", "into", "is_through"),
    [
        ({}, {}, True),
        ({"protocol": "-1", "first": 0, "last": 65_535}, {"protocol": "-1", "first": 0, "last": 65_535}, True),
        ({"others": frozenset({"10.83.0.0/16"})}, {"others": frozenset({"10.83.0.7/32"})}, True),
        ({"first": 2000, "last": 2100}, {}, True),
        ({"first": 111, "last": 111}, {}, False),
        ({}, {"first": 2050, "last": 2060}, False),
        ({"protocol": "udp"}, {}, False),
        ({}, {"others": frozenset({"sg-others"})}, False),
        ({"others": frozenset({"10.84.0.0/16"})}, {}, False),
        ({"others": frozenset({"pl-63a5400a"})}, {}, False),
    ],
)
def test_a_connection_needs_a_rule_out_and_a_rule_in(out, into, is_through):
    machine = replace(MACHINE, groups=(replace(FLEET, egress=(replace(FLEET_RULE, **out),)),))
    target = replace(MOUNT_TARGET, groups=(replace(FILES, ingress=(replace(FILES_RULE, **into),)),))

    assert groups.lets_through(machine, target, 2049) == is_through


def test_fsx_is_in_its_groups_but_the_endpoint_of_two_zones_is_in_none():
    rule = SimpleNamespace(ip_protocol="tcp", from_port=2049, to_port=2049, ip_range={}, prefix_list_id=None,
                           source_group={"GroupId": "sg-fleet"})  # fmt: skip
    ec2 = SimpleNamespace(
        get_subnet=lambda _: SimpleNamespace(cidr_block="10.83.0.0/20", vpc_id="vpc-1"),
        get_vpc=lambda _: SimpleNamespace(cidr_block="10.83.0.0/16"),
        get_security_group_from_id=lambda name: SimpleNamespace(id=name, ingress_rules=[rule], egress_rules=[]),
    )

    def interface(kind: str) -> groups.Interface:
        zfs = {"DeploymentType": kind, "ThroughputCapacity": 64}
        known = {"subnet_ids": ["subnet-1"], "security_group_ids": ["sg-files"], "open_zfs_configuration": zfs}
        return machines.fsx_interface(SimpleNamespace(**known), ec2)

    assert interface("SINGLE_AZ_1") == groups.Interface("10.83.15.254", (FILES,))
    assert interface("MULTI_AZ_1") == groups.Interface("10.83.255.254", None)
