"""What security groups let an emulated machine send; test_vm_fleet.py has machines whose kernel holds to it."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from judge import network, template

from local.instances.vm import groups, machines

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


@pytest.mark.parametrize("kind", template.NETWORKS)
def test_the_machines_and_the_judge_of_the_network_agree_on_the_template(kind: str):
    ways = network.ways(template.our_resources(kind))

    def group(name: str) -> groups.Group:
        def rules(is_out: bool) -> tuple[groups.Rule, ...]:
            own = [way for way in ways if way.group == name and way.is_out == is_out]
            return tuple(groups.Rule(p, port, port, frozenset({way.other})) for way in own for p, port in way.ports)

        return groups.Group(name, rules(is_out=False), rules(is_out=True))

    fleet = groups.Interface("10.83.0.7", (group(network.FLEET),))
    addresses = {"floating": network.FLOATING[kind], "ontap": network.OF_ONTAP, "internet": network.INTERNET}
    ends = {
        need.to: ("", addresses[need.to]) if need.to in addresses else (need.to, "") for need in network.NEEDS.values()
    }
    for name, address in ends.values():
        end = groups.Interface(address or "192.0.2.1", (group(name),) if name else None)
        reached = {port for port in (80, 111, 443, 2049, 7575, 20001, 20003) if groups.lets_through(fleet, end, port)}
        expected = {port for _, port in network.reached(ways, network.FLEET, name, address)}
        assert reached == expected & {80, 111, 443, 2049, 7575, 20001, 20003} != set()


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
