"""Security groups as an nftables ruleset: an emulated machine may send only as EC2 would allow.

EC2 filters at the network interface, outside of the instance. qemu's user network has no such place, so the machine's
own kernel does it. Incoming traffic is not filtered: nothing can connect to an emulated machine, and responses to its
own connections always come in.
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/security-group-connection-tracking.html
"""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

EVERYTHING = "-1"
# A packet without a matching rule is dropped silently, and the kernel logs it on the console.
DROPPED = "security groups drop: "


@dataclass(frozen=True)
class Rule:
    """A rule of a group: a protocol as EC2 names it, its ports, and the blocks and groups of the other side.

    A prefix list is in `others` by its id, and allows nothing here: our templates have none.
    """

    protocol: str
    first: int
    last: int
    others: frozenset[str]


@dataclass(frozen=True)
class Group:
    """A security group with its rules for incoming and outgoing traffic."""

    id: str
    ingress: tuple[Rule, ...]
    egress: tuple[Rule, ...]


@dataclass(frozen=True)
class Interface:
    """A side of a connection on AWS: its address and its groups; None for an address that is of no interface."""

    address: str
    groups: tuple[Group, ...] | None


@dataclass(frozen=True)
class Service:
    """A TCP service that a machine may use: its address on AWS, and in the network of the machine."""

    interface: Interface
    port: int
    local_address: str
    local_port: int


def lets_through(start: Interface, end: Interface, port: int) -> bool:
    """Return whether a TCP connection may leave the groups of its start and enter those of its end.

    The rules of several groups add up (EC2 guide, security group rules).
    """
    out = _any_lets((rule for group in start.groups or () for rule in group.egress), end, port)
    return out and (end.groups is None or _any_lets((r for group in end.groups for r in group.ingress), start, port))


def _any_lets(rules: Iterable[Rule], other: Interface, port: int) -> bool:
    groups = {group.id for group in other.groups or ()}
    return any(
        rule.protocol == EVERYTHING or (rule.protocol == "tcp" and rule.first <= port <= rule.last)
        for rule in rules
        if any(name in groups or _holds(name, other.address) for name in rule.others)
    )


def _holds(block: str, address: str) -> bool:
    return "/" in block and ipaddress.ip_address(address) in ipaddress.ip_network(block)


def ruleset(machine: Interface, services: Sequence[Service], unfiltered: Iterable[str]) -> str:
    """Return the file for `nft -f`: it allows TCP to the services that the groups allow, and nothing else.

    `out` is a reserved word of nft before version 1.0, as in Debian 11, so the chain has another name. Groups never
    filter some addresses of EC2, such as the metadata service and the resolver, nor DHCP: `unfiltered`.
    https://docs.aws.amazon.com/vpc/latest/userguide/vpc-security-groups.html
    """
    accepted = [
        f"ip daddr {service.local_address} tcp dport {service.local_port} accept"
        for service in services
        if lets_through(machine, service.interface, service.port)
    ]
    lines = [
        "type filter hook output priority filter; policy drop;",
        'oifname "lo" accept',
        f"ip daddr {{ {', '.join(unfiltered)} }} accept",
        "udp dport 67 accept",
        *accepted,
        f'log prefix "{DROPPED}" level err',
    ]
    return "table ip security_groups {\n  chain sent {\n" + "".join(f"    {line}\n" for line in lines) + "  }\n}\n"
