"""What instances reach: routes and endpoints as EC2 describes them, and what of a plan they cannot carry."""

import re
from pathlib import Path

import pytest
from support.matrices import DD, EFS, FIO, FLEET, READ, S3, YOCTO, matrix

from matrix.plan import egress
from matrix.plan.planning import plan
from matrix.price.book import Cost

ROOT = Path(__file__).parents[3]
REGION = "eu-west-1"
SUBNETS = [{"SubnetId": f"subnet-{zone}", "VpcId": "vpc-1", "MapPublicIpOnLaunch": False} for zone in "abc"]
LOCAL = {"DestinationCidrBlock": "10.0.0.0/16", "GatewayId": "local", "State": "active"}
ANYWHERE = {"DestinationCidrBlock": "0.0.0.0/0", "State": "active"}
GATEWAY = {
    "ServiceName": "com.amazonaws.eu-west-1.s3", "VpcEndpointType": "Gateway", "VpcId": "vpc-1", "State": "available",
    "RouteTableIds": ["rtb-1"],
}  # fmt: skip
STS = {
    "ServiceName": "com.amazonaws.eu-west-1.sts", "VpcEndpointType": "Interface", "VpcId": "vpc-1",
    "State": "available", "PrivateDnsEnabled": True,
}  # fmt: skip
CLOSED = [GATEWAY, STS]


def table(*routes, **changes):
    return {
        "RouteTableId": "rtb-1", "VpcId": "vpc-1", "Associations": [{"Main": True}], "Routes": [LOCAL, *routes]
    } | changes  # fmt: skip


def ways(*routes, endpoints=(), subnets=SUBNETS, tables=None):
    return egress.read(subnets, tables or [table(*routes)], endpoints, REGION)


def problems(network, **changes):
    checked = matrix(**changes)
    return list(egress.problems(network, plan(checked).to_document(), checked.matrix, REGION))


def firm(found):
    return [problem for problem in found if not problem.is_warning]


@pytest.mark.parametrize(
    ("route", "is_public", "reached"),
    [
        ({"GatewayId": "igw-1"}, True, True),
        ({"GatewayId": "igw-1"}, False, False),  # without a public address nothing comes back
        ({"NatGatewayId": "nat-1"}, False, True),
        ({"TransitGatewayId": "tgw-1"}, False, True),
        ({"NetworkInterfaceId": "eni-1"}, False, True),
        ({"NatGatewayId": "nat-1", "State": "blackhole"}, False, False),
    ],
)
def test_a_route_to_anywhere_is_a_way_unless_it_needs_an_address_that_instances_lack(route, is_public, reached):
    subnets = [subnet | {"MapPublicIpOnLaunch": is_public} for subnet in SUBNETS]

    found = ways(ANYWHERE | route, subnets=subnets)

    assert {way.reaches("S3") for way in found} == {reached}
    assert {way.reaches_internet() for way in found} == {reached}


def test_a_subnet_has_its_own_route_table_or_the_main_one_of_its_vpc():
    own = table(ANYWHERE | {"NatGatewayId": "nat-1"}, RouteTableId="rtb-2", Associations=[{"SubnetId": "subnet-b"}])
    foreign = table(ANYWHERE | {"NatGatewayId": "nat-1"}, RouteTableId="rtb-3", VpcId="vpc-2")

    found = ways(tables=[foreign, table(), own])

    assert [way.has_internet for way in found] == [False, True, False]


def test_without_internet_two_endpoints_carry_what_needs_no_packages_or_those_of_amazon_linux():
    assert problems(ways(endpoints=CLOSED)) == []
    assert problems(ways(endpoints=CLOSED), storage=[EFS], workload=[FIO]) == []


def test_a_gateway_endpoint_counts_in_its_own_route_tables_only():
    elsewhere = GATEWAY | {"RouteTableIds": ["rtb-9"]}

    [problem] = firm(problems(ways(endpoints=[elsewhere, STS]), workload=[DD]))[:1]

    assert problem.path == "SubnetIds"
    assert problem.value == ["subnet-a", "subnet-b", "subnet-c"][: len(problem.value)]
    assert "have no way to S3" in problem.rule
    assert "--service-name com.amazonaws.eu-west-1.s3 --route-table-ids rtb-1" in problem.fix


def test_a_directory_bucket_needs_a_gateway_endpoint_of_its_own():
    express = {"storage": [{"type": "s3-express"}], "workload": [READ]}
    own = GATEWAY | {"ServiceName": "com.amazonaws.eu-west-1.s3express"}

    [problem] = firm(problems(ways(endpoints=CLOSED), **express))

    assert problem.path == "storage[0]"
    assert "is reached by an endpoint of its own, s3express" in problem.rule
    assert "--service-name com.amazonaws.eu-west-1.s3express --route-table-ids rtb-1" in problem.fix
    assert problems(ways(endpoints=[*CLOSED, own]), **express) == []
    assert problems(ways(ANYWHERE | {"NatGatewayId": "nat-1"}), **express) == []


NAT = ANYWHERE | {"NatGatewayId": "nat-1"}
BY_ENDPOINT = STS | {"ServiceName": "com.amazonaws.eu-west-1.s3"}


@pytest.mark.parametrize(
    ("routes", "is_public", "endpoints", "passed"),
    [
        ([NAT], False, [], ("nat-1", "nat_gateway_gib")),
        ([NAT], True, [], ("nat-1", "nat_gateway_gib")),  # a public address is of no use there
        ([NAT], False, [GATEWAY], None),
        ([NAT], False, [GATEWAY | {"RouteTableIds": ["rtb-9"]}], ("nat-1", "nat_gateway_gib")),
        ([NAT], False, [GATEWAY | {"State": "deleting"}], ("nat-1", "nat_gateway_gib")),
        ([NAT | {"State": "blackhole"}], False, [GATEWAY], None),
        ([ANYWHERE | {"GatewayId": "igw-1"}], True, [], None),
        ([ANYWHERE | {"TransitGatewayId": "tgw-1"}], False, [], ("tgw-1", None)),
        ([ANYWHERE | {"NetworkInterfaceId": "eni-1"}], False, [], ("eni-1", None)),
        # Its private DNS goes before the routes.
        ([NAT], False, [GATEWAY, BY_ENDPOINT], ("an interface endpoint", "interface_endpoint_gib")),
        ([NAT], False, [GATEWAY, BY_ENDPOINT | {"PrivateDnsEnabled": False}], None),
        ([], False, [BY_ENDPOINT], ("an interface endpoint", "interface_endpoint_gib")),
        ([], False, [GATEWAY], None),
    ],
)
def test_bytes_to_s3_pass_a_nat_gateway_unless_a_gateway_endpoint_takes_them(routes, is_public, endpoints, passed):
    subnets = [subnet | {"MapPublicIpOnLaunch": is_public} for subnet in SUBNETS]
    checked = matrix(storage=[S3], workload=[READ])

    found = egress.tolls(ways(*routes, endpoints=endpoints, subnets=subnets), checked.matrix)

    assert {service: {(toll.passes, toll.price) for toll in each} for service, each in found.items()} == (
        {"s3": {passed}} if passed else {}
    )


@pytest.mark.parametrize(
    ("storage", "service"),
    [
        (S3, "s3"),
        ({"type": "mountpoint"}, "s3"),
        ({"type": "mountpoint", "storageClass": "EXPRESS_ONEZONE"}, "s3express"),
        ({"type": "s3-express"}, "s3express"),
        ({"type": "s3-files"}, "s3"),
        ({"type": "s3-files", "directReads": False}, None),
        (EFS, None),
        ({"type": "ebs", "volumeType": "gp3", "sizeGiB": 10}, None),
    ],
)
def test_each_storage_whose_bytes_come_from_s3_has_its_gateway_endpoint_named(storage, service):
    checked = matrix(storage=[storage], workload=[READ])
    drawn, network = plan(checked), ways(NAT)

    passed = egress.tolls(network, checked.matrix)
    found = list(
        egress.toll_warnings(network, drawn.to_document(), checked.matrix, REGION, passed, Cost(1.0, 46.0, 92.0))
    )

    assert [*passed] == ([service] if service else [])
    assert [problem.is_warning for problem in found] == [True] * len(passed)
    for problem in found:
        assert "46.00 USD" in problem.rule
        assert "storage[0]" in problem.rule
        assert f"--service-name com.amazonaws.eu-west-1.{service} --route-table-ids rtb-1" in problem.fix


@pytest.mark.parametrize(
    ("placement", "more", "warned"),
    [
        ("same-az", Cost(), []),
        ("spread", Cost(0.0, 23.0, 46.0), ["subnet-b"]),
        ([2, 1e-9, 1], Cost(), []),
        ([1, 1], Cost(23.0, 23.0, 23.0), ["subnet-b"]),
    ],
)
def test_a_subnet_with_a_toll_is_named_where_the_fleet_may_be_placed_in_it(placement, more, warned):
    checked = matrix(storage=[S3], workload=[READ], fleet=[FLEET | {"count": 2, "placement": placement}])
    direct = {"RouteTableId": "rtb-2", "Associations": [{"Main": True}]}
    associated = table(NAT, Associations=[{"SubnetId": "subnet-b"}])
    network = ways(endpoints=[GATEWAY | {"RouteTableIds": ["rtb-2"]}], tables=[associated, table(NAT, **direct)])
    passed = egress.tolls(network, checked.matrix)

    found = egress.toll_warnings(network, plan(checked).to_document(), checked.matrix, REGION, passed, more)

    assert [toll and toll.passes for toll in passed["s3"]] == [None, "nat-1", None]
    assert [name for problem in found for name in problem.value] == warned


@pytest.mark.parametrize(
    "change",
    [{"PrivateDnsEnabled": False}, {"State": "pending"}, {"VpcId": "vpc-2"},
     {"ServiceName": "com.amazonaws.eu-west-2.sts"},
     {"DnsOptions": {"PrivateDnsOnlyForInboundResolverEndpoint": True}}],
)  # fmt: skip
def test_an_interface_endpoint_counts_with_private_dns_in_its_own_vpc(change):
    [problem] = firm(problems(ways(endpoints=[GATEWAY, STS | change])))

    assert "have no way to STS" in problem.rule
    assert "--vpc-endpoint-type Interface --private-dns-enabled" in problem.fix


def test_an_interface_endpoint_of_s3_carries_jobs_and_not_the_packages_of_amazon_linux():
    s3 = STS | {"ServiceName": "com.amazonaws.eu-west-1.s3"}

    [problem] = firm(problems(ways(endpoints=[s3, STS]), workload=[FIO]))

    assert "do not reach the packages of al2023" in problem.rule
    assert "fio" in problem.rule


def test_packages_of_ubuntu_are_refused_with_the_image_that_must_have_them():
    [problem] = firm(problems(ways(endpoints=CLOSED), workload=[FIO], image={"os": "ubuntu-22.04"}))

    assert problem.rule.endswith("which instances install: fio")
    assert "al2023" in problem.fix
    assert "image.ami" in problem.fix


def test_an_image_of_yours_may_have_them_so_there_is_a_warning():
    own = {"os": "ubuntu-22.04", "ami": "ami-0123456789abcdef0"}

    [problem] = problems(ways(endpoints=CLOSED), workload=[FIO], image=own)

    assert problem.is_warning


def test_containers_are_refused_at_the_workload_that_names_them():
    found = problems(ways(endpoints=CLOSED), storage=[EFS], workload=[YOCTO])

    assert [problem.path for problem in firm(found)] == ["workload[0]"]
    assert "crops/poky" in firm(found)[0].rule
    assert firm(problems(ways(endpoints=CLOSED), image={"containers": ["debian:12"]}))[0].path == "image.containers"


def test_where_another_network_may_have_the_way_nothing_is_refused():
    hub = {"DestinationCidrBlock": "10.0.0.0/8", "TransitGatewayId": "tgw-1"}

    found = problems(ways(hub), storage=[EFS], workload=[YOCTO, FIO], image={"os": "ubuntu-22.04"})

    assert found
    assert firm(found) == []


def test_only_subnets_that_instances_are_launched_in_are_held_against_it():
    closed = table(RouteTableId="rtb-2", Associations=[{"SubnetId": "subnet-b"}])
    network = ways(tables=[table(ANYWHERE | {"NatGatewayId": "nat-1"}), closed])

    def fleet(placement):
        return [{"instanceType": "m6i.large", "count": 3, "placement": placement}]

    assert problems(network, fleet=fleet("same-az")) == []
    assert {problem.value[0] for problem in problems(network, fleet=fleet("spread"))} == {"subnet-b"}


def test_an_answer_without_route_tables_refuses_nothing():
    assert firm(problems(egress.read(SUBNETS, [], [], REGION))) == []


def test_the_services_that_instances_call_are_those_of_the_agents_source():
    called = set()
    for path in (ROOT / "agent").rglob("*.py"):
        called |= set(
            re.findall(r'client\((?:session|self\._session|new_session\(.*?\)), "([a-z0-9-]+)"', path.read_text())
        )

    assert called == {service.lower() for service in egress.CALLED}
