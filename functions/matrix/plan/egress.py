"""Destinations that instances reach from their subnets: AWS's APIs, packages, container registries.

Read from EC2's descriptions of subnets, route tables and VPC endpoints. A route into another network of the user
cannot be followed from here, so it causes a warning and no refusal.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from matrix.input.matrix import Matrix
from matrix.plan import placing
from matrix.price.book import Cost
from matrix.storages.directory_buckets import OBJECT_SERVICE
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.problems import Problem, Problems, Weight
from matrix.terms.sentences import MAX_NAMED, first_of

ANYWHERE = "0.0.0.0/0"
PATH = "SubnetIds"
# APIs that each instance calls: S3 for job, agent, start barrier and results, STS for its own name.
# agent/board/blackboard.py and FETCH of matrix/run/job.py are all callers; a test compares this with them.
OBJECTS = "S3"
CALLED = {
    OBJECTS: "by which instances get their job and upload results",
    "STS": "of which instances learn their own name",
}
# Every image of Ubuntu's servers has these.
_ON_UBUNTU = {
    "bash", "touch", "seq", "dd", "cp", "sync", "find", "cpio", "rsync", "blkid", "mkfs.xfs", "mkfs.ext4", "mdadm",
}  # fmt: skip


@dataclass(frozen=True)
class WayOut:
    """Destinations that instances in one subnet reach, by its routes and its VPC's endpoints."""

    subnet: str
    vpc: str = ""
    route_table: str = ""
    internet: str = ""
    """Target of its route to the internet, such as `igw-1` or `nat-1`. Empty: it has none that instances can use."""
    gateways: frozenset[str] = field(default_factory=frozenset)
    """Services with a gateway endpoint in its route table, such as `s3`."""
    endpoints: frozenset[str] = field(default_factory=frozenset)
    """Services with an interface endpoint and private DNS in its VPC, such as `sts`."""
    leads_elsewhere: bool = False
    """Whether a route leads to another network, which may have endpoints or a proxy."""

    @property
    def has_internet(self) -> bool:
        return bool(self.internet)

    def toll(self, service: str) -> "Toll | None":
        """Return what bytes to a service of S3 pass in this subnet; None if they go there directly, or not at all.

        Private DNS leads to an interface endpoint even if the route table has a gateway endpoint.
        """
        if service in self.endpoints:
            return Toll("an interface endpoint", "interface_endpoint_gib")
        if service in self.gateways or not self.internet or self.internet.startswith("igw-"):
            return None
        return Toll(self.internet, "nat_gateway_gib" if self.internet.startswith("nat-") else None)

    def reaches(self, service: str) -> bool | None:
        """Return whether instances reach an API of the region; None if that depends on a route to another network."""
        if self.has_internet or service.lower() in self.endpoints | self.gateways:
            return True
        return None if self.leads_elsewhere else False

    def reaches_packages(self, os: str) -> bool | None:
        """Return whether an operating system's packages are reached; Amazon Linux has them in buckets of S3.

        Their address is one of the dual-stack names of S3, which private DNS of an interface endpoint does not answer.
        """
        if self.has_internet or (os == "al2023" and OBJECTS.lower() in self.gateways):
            return True
        return None if self.leads_elsewhere else False

    def reaches_internet(self) -> bool | None:
        """Return whether registries and repositories on the internet are reached."""
        return self.has_internet or (None if self.leads_elsewhere else False)


@dataclass(frozen=True)
class Toll:
    """What bytes pass on their way to a service, where a gateway endpoint would take them there for nothing."""

    passes: str
    """A NAT gateway, another target of a route, or an interface endpoint."""
    price: str | None
    """The name of its price for each GiB; None if that is not known here, as that of a transit gateway."""


def of_subnets(ec2: Any, names: Sequence[str], region: str) -> list[WayOut]:
    """Return the route out of each of these subnets, in their order, as EC2 describes them now.

    `ec2` is an EC2 client: a function's, or the client of the user of `matrix verify`. The caller handles its errors.
    """
    subnets = {each["SubnetId"]: each for each in ec2.describe_subnets(SubnetIds=list(names))["Subnets"]}
    of_vpc = [{"Name": "vpc-id", "Values": sorted({subnet["VpcId"] for subnet in subnets.values()})}]

    def listed(operation: str, what: str) -> list[Mapping[str, Any]]:
        return [each for page in ec2.get_paginator(operation).paginate(Filters=of_vpc) for each in page[what]]

    tables, endpoints = listed("describe_route_tables", "RouteTables"), listed("describe_vpc_endpoints", "VpcEndpoints")
    return read((subnets[name] for name in names if name in subnets), tables, endpoints, region)


def read(
    subnets: Iterable[Mapping[str, Any]],
    route_tables: Sequence[Mapping[str, Any]],
    endpoints: Sequence[Mapping[str, Any]],
    region: str,
) -> list[WayOut]:
    """Return the way out of each subnet, from the answers of DescribeSubnets, -RouteTables and -VpcEndpoints."""
    prefix = f"com.amazonaws.{region}."
    available = [each for each in endpoints if str(each.get("State", "")).lower() == "available"]
    ways = []
    for subnet in subnets:
        table = _table_of(subnet, route_tables)
        routes = [route for route in table.get("Routes", []) if route.get("State", "active") == "active"]
        gateways = {
            each["ServiceName"].removeprefix(prefix)
            for each in available
            if each.get("VpcEndpointType", "Gateway") == "Gateway"
            and table.get("RouteTableId") in each.get("RouteTableIds", [])
        }
        private = {
            each["ServiceName"].removeprefix(prefix)
            for each in available
            if each.get("VpcEndpointType") == "Interface"
            and each.get("VpcId") == subnet["VpcId"]
            and each.get("PrivateDnsEnabled")
            and not each.get("DnsOptions", {}).get("PrivateDnsOnlyForInboundResolverEndpoint")
        }
        is_public = bool(subnet.get("MapPublicIpOnLaunch"))
        ways.append(
            WayOut(
                subnet["SubnetId"],
                subnet["VpcId"],
                str(table.get("RouteTableId", "")),
                next((_target(route) for route in routes if _is_internet(route, is_public=is_public)), ""),
                frozenset(gateways),
                frozenset(private),
                # Without a route table nothing is known about the subnet.
                not table or any(_leads_elsewhere(route) for route in routes),
            )
        )
    return ways


def _table_of(subnet: Mapping[str, Any], tables: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the route table of a subnet, else the main one of its VPC."""
    main: Mapping[str, Any] = {}
    for table in tables:
        for association in table.get("Associations", []):
            if association.get("SubnetId") == subnet["SubnetId"]:
                return table
            if association.get("Main") and table.get("VpcId") == subnet["VpcId"]:
                main = table
    return main


def _target(route: Mapping[str, Any]) -> str:
    names = (
        "NatGatewayId", "TransitGatewayId", "VpcPeeringConnectionId", "NetworkInterfaceId", "InstanceId",
        "LocalGatewayId", "CarrierGatewayId", "CoreNetworkArn", "GatewayId",
    )  # fmt: skip
    return next((str(route[name]) for name in names if route.get(name)), "local")


def _is_internet(route: Mapping[str, Any], *, is_public: bool) -> bool:
    """Return whether a route leads everywhere; by an internet gateway only instances with a public address go."""
    if route.get("DestinationCidrBlock") != ANYWHERE:
        return False
    return is_public if _target(route).startswith("igw-") else True


def _leads_elsewhere(route: Mapping[str, Any]) -> bool:
    """Return whether a route's reach is unknown: it leads to another network, or to some addresses only.

    Gateway endpoints have a prefix list of AWS's and lead to their service only. By IPv6 instances call nothing.
    """
    target = _target(route)
    if target == "local":
        return False
    if route.get("DestinationPrefixListId"):
        return not target.startswith("vpce-")
    return bool(route.get("DestinationCidrBlock", ANYWHERE) != ANYWHERE)


def used(ways: Sequence[WayOut], plan: PlanDocument) -> list[WayOut]:
    """Return those subnets that instances of a plan are launched in: the first, and others by the placements."""
    numbers = {0}
    for cell in plan["cells"]:
        fleet = cell["fleet"]
        where = placing.resolved(fleet.get("placement"), cell["storage"])
        counts = placing.shares(where, fleet["count"], len(ways))
        numbers |= {number for number, count in enumerate(counts) if count}
    return [way for number, way in enumerate(ways) if number in numbers]


def tolls(ways: Sequence[WayOut], matrix: Matrix) -> dict[str, list[Toll | None]]:
    """Return what bytes of the storages pass in each subnet on their way to a service of S3, by the service."""
    services = {storage.gateway_service for _, storage in matrix.located("storage")} - {""}
    of_subnets = {service: [way.toll(service) for way in ways] for service in services}
    return {service: passed for service, passed in of_subnets.items() if any(passed)}


def toll_warnings(
    ways: Sequence[WayOut],
    plan: PlanDocument,
    matrix: Matrix,
    region: str,
    passed: Mapping[str, Sequence[Toll | None]],
    more: Cost,
) -> Problems:
    """Yield a warning for each service of S3 whose bytes may pass something else; they cost `more` in all."""
    for service, of_subnets in passed.items():
        subnets = [way for way in used(ways, plan) if way.toll(service)]
        if not subnets and not more.high:
            continue
        # Others are only used where EC2 has too few instances for `spread` in one of them.
        subnets = subnets or [way for way, toll in zip(ways, of_subnets, strict=True) if toll]
        toll = subnets[0].toll(service) or Toll("", None)
        paths = [path for path, storage in matrix.located("storage") if storage.gateway_service == service]
        asks = f"asks {more.expected:.2f} USD for them, up to {more.high:.2f}" if toll.price else "may ask for each GiB"
        rule = (
            f"lead the bytes of {first_of(paths, MAX_NAMED)} to {service} through {toll.passes}, which {asks}, and"
            " which is measured in place of S3 where it is slower"
        )
        fix = f"a gateway endpoint costs nothing: {creation_of(service, subnets[0], region, is_gateway=True)}"
        if service in subnets[0].endpoints:
            fix += ", and set PrivateDnsOnlyForInboundResolverEndpoint of the interface endpoint"
        names = [way.subnet for way in subnets]
        yield Problem(PATH, names, rule, fix, weight=Weight.UNFAIR, code="bytes-take-the-gateway-endpoint")


def problems(ways: Sequence[WayOut], plan: PlanDocument, matrix: Matrix, region: str) -> Problems:
    """Yield parts of a plan that cannot work in the subnets, each with the missing endpoint or image."""
    subnets = used(ways, plan)
    yield from service_problems(subnets, region)
    yield from _of_storages(subnets, matrix, region)
    for planned in plan["images"]:
        recipe = planned["recipe"]
        os = recipe["os"]
        tools = sorted({*recipe["tools"]} - (_ON_UBUNTU if os != "al2023" else set()))
        absent = [*tools, *recipe["packages"]]
        if absent:
            yield from _of_packages(subnets, absent, os, matrix, region)
    yield from _of_containers(subnets, matrix)


def service_problems(subnets: Sequence[WayOut], region: str) -> Problems:
    """Yield the APIs of AWS that instances call and do not reach."""
    for service, reason in CALLED.items():
        rule = f"have no way to {service}, {reason}"
        reaches = partial(WayOut.reaches, service=service)
        yield from _problems(subnets, reaches, rule, partial(creation_of, service, region=region))


def _of_storages(subnets: Sequence[WayOut], matrix: Matrix, region: str) -> Problems:
    """Yield the storages that need an endpoint of their service, if subnets lack it."""
    for path, storage in matrix.located("storage"):
        # All instances call S3, and subnets that do not reach it are refused for that.
        if (service := storage.gateway_service) and service != OBJECT_SERVICE:
            rule = f"is reached by an endpoint of its own, {service}, to which subnets have no way"
            fix = partial(creation_of, service, region=region, is_gateway=True)
            yield from _problems(subnets, partial(WayOut.reaches, service=service), rule, fix, path=path)


def creation_of(service: str, way: WayOut, region: str, *, is_gateway: bool = False) -> str:
    """Return the command that makes the endpoint which a subnet lacks."""
    begin = f"aws ec2 create-vpc-endpoint --vpc-id {way.vpc} --service-name com.amazonaws.{region}.{service.lower()}"
    if is_gateway or service == OBJECTS:
        return f"`{begin} --route-table-ids {way.route_table}`"
    return (
        f"`{begin} --vpc-endpoint-type Interface --private-dns-enabled --subnet-ids {way.subnet}`, with a security"
        " group that lets port 443 in"
    )


def _of_packages(subnets: Sequence[WayOut], absent: list[str], os: str, matrix: Matrix, region: str) -> Problems:
    what = ", ".join(absent)
    rule = f"do not reach the packages of {os}, which instances install: {what}"
    own_image = f"name an image of yours that has them (image.ami): {what}"

    def way_out(way: WayOut) -> str:
        if os == "al2023":
            return f"they are in S3: {creation_of(OBJECTS, way, region)}; or {own_image}"
        return f'write "os": "al2023", whose packages come by the gateway endpoint of S3; or {own_image}'

    yield from _problems(subnets, lambda way: way.reaches_packages(os), rule, way_out, is_firm=_installs(matrix))


def _of_containers(subnets: Sequence[WayOut], matrix: Matrix) -> Problems:
    image = matrix.image
    wanted = [("image.containers", name) for name in image.containers] if image else []
    wanted += [("image.dockerfile", "that of FROM")] if image and image.dockerfile else []
    wanted += [(path, name) for path, workload in matrix.located("workload") for name in workload.containers]
    for path, name in wanted:
        rule = f"needs a container image ({name}), and its registry is on the internet, where subnets have no way to"
        fix = "give the subnets a NAT gateway, or name an image of yours that has the container image (image.ami)"
        yield from _problems(subnets, WayOut.reaches_internet, rule, fix, is_firm=_installs(matrix), path=path)
    for path, workload in matrix.located("workload"):
        if workload.populate_seconds:
            rule = "fills its cache before the first step, and what it fetches from the internet has no way"
            fix = "let its commands fetch from a mirror that the subnets reach"
            yield from _problems(subnets, WayOut.reaches_internet, rule, fix, is_firm=False, path=path)


def _installs(matrix: Matrix) -> bool:
    """Return whether software must be installed from the network. The user's image or a baked one may contain it."""
    return not matrix.image or not (matrix.image.ami or matrix.image.bake)


def _problems(
    subnets: Sequence[WayOut],
    reaches: Callable[[WayOut], bool | None],
    rule: str,
    way_out: Callable[[WayOut], str] | str,
    *,
    is_firm: bool = True,
    path: str = PATH,
) -> Iterator[Problem]:
    """Yield a problem with all subnets that are cut off, and a warning with the subnets of unknown reach."""
    for reached, is_refused in ((False, is_firm), (None, False)):
        lacking = [way for way in subnets if reaches(way) is reached]
        if lacking:
            doubt = "" if reached is False else " that can be seen from here, unless another network has one"
            names = [way.subnet for way in lacking]
            fix = way_out if isinstance(way_out, str) else way_out(lacking[0])
            yield Problem(path, names, rule + doubt, fix, weight=None if is_refused else Weight.NOTE)
