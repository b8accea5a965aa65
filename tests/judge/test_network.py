"""What each kind of mount needs of the network is let through, in the stack's own VPC and in the user's; no more is."""

import pytest
from judge import network, template


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


def test_fsx_has_of_its_group_what_its_servers_need():
    resources = template.our_resources("own")

    assert network.unmet_by_servers(resources) == {}
    for needed, of in (("NfsFromServers", "openzfs"), ("LustreFromServers", "lustre to FileSystemSecurityGroup")):
        without = {name: resource for name, resource in resources.items() if name != needed}
        assert set(network.unmet_by_servers(without)) == {of}
