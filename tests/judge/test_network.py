"""What each kind of mount needs of the network is let through, in the stack's own VPC and in the user's; no more is."""

import copy
from typing import Any

import pytest
from judge import network, template

from storages.fsx import cloud as fsx
from storages.fsx_openzfs import cloud as fsx_openzfs

GROUP = "AWS::EC2::SecurityGroup"


def rules(resources: dict[str, Any]) -> list[dict[str, Any]]:
    """The rules of all security groups: resources of their own, and those within a group."""
    own = [resource for resource in resources.values() if resource["Type"].startswith(GROUP)]
    inside = [one for each in own for kind in ("Ingress", "Egress")
              for one in each["Properties"].get(f"SecurityGroup{kind}", [])]  # fmt: skip
    return inside + [resource["Properties"] for resource in own if resource["Type"] != GROUP]


def changed(resources: dict[str, Any], number: int, change: dict[str, Any]) -> dict[str, Any]:
    """The resources with a change of one of their rules."""
    changed = copy.deepcopy(resources)
    rules(changed)[number].update(change)
    return changed


@pytest.mark.parametrize("kind", template.NETWORKS)
def test_instances_reach_what_every_kind_of_mount_needs(kind: str):
    assert network.unmet(template.our_resources(kind), kind) == {}


@pytest.mark.parametrize("kind", template.NETWORKS)
def test_instances_reach_no_more_of_file_systems_and_servers_and_are_reached_by_lustre_only(kind: str):
    ways = network.ways(template.our_resources(kind))

    for group in (network.FILE_SYSTEMS, network.SERVERS):
        needed = frozenset().union(*(need.ports for need in network.NEEDS.values() if need.to == group))
        assert network.reached(ways, network.FLEET, group, "") == needed
        calling = network.LUSTRE if group == network.FILE_SYSTEMS else frozenset()
        assert network.reached(ways, group, network.FLEET, "") == calling
        assert network.reached(ways, group, "", network.INTERNET) == frozenset()
    assert {way.other for way in ways if way.group == network.FLEET and not way.is_out} == {network.FILE_SYSTEMS}
    assert network.reached(ways, network.FLEET, "", network.INTERNET) == network.tcp(80, 443)


@pytest.mark.parametrize("kind", template.NETWORKS)
def test_without_any_one_rule_some_mount_fails(kind: str):
    resources = template.our_resources(kind)

    for number, rule in enumerate(rules(resources)):
        if rule["Description"] in ("Nothing", "AWS APIs and packages", "Signed packages of the mirrors of Ubuntu"):
            continue
        without = changed(resources, number, {"FromPort": 1, "ToPort": 1})
        by_servers = any(network.unmet_by_lustre(without).values())
        assert network.unmet(without, kind) or by_servers, f"{rule} is not needed"


def test_a_mount_fails_where_a_rule_has_another_port_or_another_group():
    resources = template.our_resources("own")

    described = [rule["Description"] for rule in rules(resources)]
    for rule, change in [
        ("NFS to the file systems", {"FromPort": 2048, "ToPort": 2048}),
        ("NFS from the instances", {"SourceSecurityGroupId": template.made_up_id(GROUP, network.SERVERS)}),
        ("NFS 3 to Multi-AZ file systems, mount daemon", {"ToPort": 20002}),
        ("NFS to the endpoints of Multi-AZ file systems", {"CidrIp": "10.84.0.0/16"}),
        ("NFS from the instances", {"IpProtocol": "udp"}),
    ]:
        assert network.unmet(changed(resources, described.index(rule), change), "own"), (rule, change)


def test_the_stacks_own_subnets_reach_the_internet_the_endpoint_of_s3_and_names_of_file_systems():
    resources = template.our_resources("own")

    nowhere = {"GatewayId": "", "SubnetId": ""}

    assert network.cut_off(resources) == []
    for needed in ("DefaultRoute", "SubnetBRoutes"):
        without = {
            name: {**resource, "Properties": resource["Properties"] | (nowhere if name == needed else {})}
            for name, resource in resources.items()
        }
        assert network.cut_off(without), needed


def test_mounts_by_nfs_3_ask_by_tcp_and_lock_nothing_so_that_no_port_of_udp_is_needed(monkeypatch):
    monkeypatch.setattr(fsx, "describe", lambda _: {"DNSName": "fs.example"})
    options = fsx_openzfs.mount("fs-1", {"nfsVersion": "3"})["options"].split(",")

    assert {"mountproto=tcp", "nolock"} <= set(options)


def test_the_servers_of_lustre_reach_the_instances_and_each_other():
    resources = template.our_resources("own")

    assert network.unmet_by_lustre(resources) == {network.FLEET: frozenset(), network.FILE_SYSTEMS: frozenset()}
