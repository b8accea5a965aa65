"""Security groups as an nftables ruleset: what an emulated machine may send, as EC2 would let it.

EC2 filters at the network interface, outside of the instance. qemu's user network has no such place, so the machine's
own kernel does it. What may come in is not filtered: nobody can reach an emulated machine, and answers to its own
connections come in whatever the groups say.
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/security-group-connection-tracking.html
"""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

EVERYTHING = "-1"
# A packet that no rule lets through is dropped without an answer, and the kernel says so on the console.
DROPPED = "security groups drop: "


@dataclass(frozen=True)
class Rule:
    """What a group lets through: a protocol as EC2 names it, its ports, and the blocks and groups of the other side.

    A list of prefixes is among them by its id, and lets nothing through here: no template of ours has one.
    """

    protocol: str
    first: int
    last: int
    others: frozenset[str]


@dataclass(frozen=True)
class Group:
    """A security group; what it lets in, and what out."""

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
    """What a machine may want to reach by TCP: where it is on AWS, and where in the network of the machine."""

    interface: Interface
    port: int
    local_address: str
    local_port: int


def lets_through(start: Interface, end: Interface, port: int) -> bool:
    """Say whether a TCP connection gets out of the groups of its start, and into those of its end.

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
    """Return the file that `nft -f` loads: TCP to the services that the groups let through, and nothing else.

    `out` is a word of nft's own before version 1.0, as Debian 11 has it, so the chain has another name.
    Groups never filter some addresses of EC2's own, as the metadata service and the resolver, nor DHCP: `unfiltered`.
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
