"""The stack's network as a graph: what lets a packet through, and what each kind of mount needs.

Security groups are stateful, so that a connection needs a way out of a group of its first end and a way into a group
of the other, which an address without a network interface does not have. They filter neither the resolver of the VPC
nor the clock at 169.254.169.123 (VPC guide, security groups, considerations).
"""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from judge import template

from agent.session import SERVER_PORT

Ports = frozenset[tuple[str, int]]
FLEET, FILE_SYSTEMS, SERVERS = "FleetSecurityGroup", "FileSystemSecurityGroup", "FileServerSecurityGroup"


@dataclass(frozen=True)
class Need:
    """What instances must reach for one kind of mount: a group, or an address that is in none."""

    to: str
    ports: Ports
    source: str


def tcp(*ports: int) -> Ports:
    """Return these ports of TCP."""
    return frozenset(("tcp", port) for port in ports)


EFS_GUIDE = "https://docs.aws.amazon.com/efs/latest/ug/network-access.html"
FSX_GUIDE = "https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html"
ONTAP_GUIDE = "https://docs.aws.amazon.com/fsx/latest/ONTAPGuide/limit-access-security-groups.html"
LUSTRE_GUIDE = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html"
LUSTRE = tcp(988, *range(1018, 1024))
# The guide of FSx names UDP too; our mounts of NFS 3 ask by TCP and lock nothing (mountproto=tcp, nolock).
NFS_3 = tcp(111, 2049, 20001, 20002, 20003)
NEEDS = {
    "efs": Need(FILE_SYSTEMS, tcp(2049), EFS_GUIDE),
    "fsx-openzfs by NFS 4": Need(FILE_SYSTEMS, tcp(2049), FSX_GUIDE),
    "fsx-openzfs by NFS 3": Need(FILE_SYSTEMS, NFS_3, FSX_GUIDE),
    "fsx-openzfs of two zones": Need("floating", NFS_3, FSX_GUIDE),
    "fsx-ontap": Need(FILE_SYSTEMS, tcp(2049), ONTAP_GUIDE),
    "fsx-ontap of two zones": Need("ontap", tcp(2049), ONTAP_GUIDE),
    "fsx-lustre": Need(FILE_SYSTEMS, LUSTRE, LUSTRE_GUIDE),
    "file-server": Need(SERVERS, tcp(SERVER_PORT), "agent/session.py"),
    "s3": Need("internet", tcp(443), "https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-s3.html"),
    "packages": Need("internet", tcp(80, 443), "https://docs.aws.amazon.com/linux/al2023/ug/deterministic-upgrades.html"),
}  # fmt: skip
# The endpoint of a Multi-AZ file system: some address of the VPC (FSx API, EndpointIpAddressRange).
FLOATING = {"own": "10.83.250.4", "yours": "172.31.250.4"}
# That of ONTAP, unless it is told another (CreateFileSystem's model).
OF_ONTAP = "198.19.250.4"
INTERNET = "203.0.113.9"


@dataclass(frozen=True)
class Way:
    """One rule of a security group: the other end is a group's id, or a block of addresses."""

    name: str
    group: str
    is_out: bool
    other: str
    ports: Ports


def ways(resources: dict[str, Any]) -> list[Way]:
    """Return all rules of a stack's security groups, whose ids are as in `ids`."""
    return [way for name, resource in resources.items() for way in _ways_of(name, resource, ids(resources))]


def ids(resources: dict[str, Any]) -> dict[str, str]:
    """Return the logical id of each security group by its id."""
    return {
        template.made_up_id(resource["Type"], name): name
        for name, resource in resources.items()
        if resource["Type"] == "AWS::EC2::SecurityGroup"
    }


def _ways_of(name: str, resource: dict[str, Any], groups: dict[str, str]) -> Iterator[Way]:
    properties = resource["Properties"]
    match resource["Type"]:
        case "AWS::EC2::SecurityGroupIngress":
            rules = [(groups[properties["GroupId"]], False, properties)]
        case "AWS::EC2::SecurityGroupEgress":
            rules = [(groups[properties["GroupId"]], True, properties)]
        case "AWS::EC2::SecurityGroup":
            rules = [(name, True, rule) for rule in properties.get("SecurityGroupEgress", [])]
            rules += [(name, False, rule) for rule in properties.get("SecurityGroupIngress", [])]
        case _:
            rules = []
    for group, is_out, rule in rules:
        other = rule.get("SourceSecurityGroupId") or rule.get("DestinationSecurityGroupId")
        ports = frozenset((rule["IpProtocol"], port) for port in range(rule["FromPort"], rule["ToPort"] + 1))
        yield Way(name, group, is_out, groups[other] if other else rule["CidrIp"], ports)


def reached(known: list[Way], start: str, end: str, address: str) -> Ports:
    """Return the ports of an end (a group's logical id, or "" for no group) that instances of a group reach."""
    let_out = _let_through(known, start, end, address, is_out=True)
    return let_out & _let_through(known, end, start, "", is_out=False) if end else let_out


def _let_through(known: list[Way], group: str, other: str, address: str, *, is_out: bool) -> Ports:
    ports: Ports = frozenset()
    for way in known:
        if way.group == group and way.is_out == is_out and (way.other == other or _holds(way.other, address)):
            ports |= way.ports
    return ports


def _holds(block: str, address: str) -> bool:
    return bool(address) and "/" in block and ipaddress.ip_address(address) in ipaddress.ip_network(block)


def unmet(resources: dict[str, Any], network: str) -> dict[str, Ports]:
    """Return what instances cannot reach of what they need, by kind of mount; `network` is one of FLOATING."""
    known = ways(resources)
    missing = {}
    for kind, need in NEEDS.items():
        address = {"floating": FLOATING[network], "ontap": OF_ONTAP, "internet": INTERNET}.get(need.to, "")
        missing[kind] = need.ports - reached(known, FLEET, "" if address else need.to, address)
    return {kind: ports for kind, ports in missing.items() if ports}


def cut_off(resources: dict[str, Any]) -> list[str]:
    """Return what the subnets of the stack's own VPC lack to reach the internet, S3's endpoint and names of EFS."""
    by_type: dict[str, dict[str, Any]] = {}
    for name, resource in resources.items():
        by_type.setdefault(resource["Type"].removeprefix("AWS::EC2::"), {})[name] = resource["Properties"]
    [vpc] = by_type["VPC"].values()
    attached = {link["InternetGatewayId"] for link in by_type["VPCGatewayAttachment"].values()}
    egress = {
        route["RouteTableId"]
        for route in by_type["Route"].values()
        if route["DestinationCidrBlock"] == "0.0.0.0/0" and route.get("GatewayId") in attached
    }
    tables = {link["SubnetId"]: link["RouteTableId"] for link in by_type["SubnetRouteTableAssociation"].values()}
    problems = [name for name in ("EnableDnsSupport", "EnableDnsHostnames") if vpc.get(name) is not True]
    blocks = [ipaddress.ip_network(subnet["CidrBlock"]) for subnet in by_type["Subnet"].values()]
    for name, subnet in by_type["Subnet"].items():
        table = tables.get(template.made_up_id("AWS::EC2::Subnet", name))
        block = ipaddress.ip_network(subnet["CidrBlock"])
        if table not in egress or not subnet.get("MapPublicIpOnLaunch"):
            problems.append(f"{name} has no way to the internet")
        problems += [
            f"{name} has no way to the endpoint of {endpoint['ServiceName'].rpartition('.')[2].upper()}"
            for endpoint in by_type["VPCEndpoint"].values()
            if table not in endpoint["RouteTableIds"]
        ]
        if not block.subnet_of(ipaddress.ip_network(vpc["CidrBlock"])) or sum(map(block.overlaps, blocks)) > 1:
            problems.append(f"{name} is not within the VPC, or not by itself")
    return problems


def unmet_by_servers(resources: dict[str, Any]) -> dict[str, Ports]:
    """Return what FSx needs of its group: Lustre the instances and its servers, OpenZFS that its group lets itself in.

    FSx refuses a file system of OpenZFS in a group that lets in at 2049 neither itself nor the subnet (OpenZFS guide,
    troubleshooting, "file system creation fails").
    """
    known = ways(resources)
    unmet = {f"lustre to {end}": LUSTRE - reached(known, FILE_SYSTEMS, end, "") for end in (FLEET, FILE_SYSTEMS)}
    let_in = _let_through(known, FILE_SYSTEMS, FILE_SYSTEMS, "", is_out=False)
    return {end: ports for end, ports in {**unmet, "openzfs": tcp(2049) - let_in}.items() if ports}
