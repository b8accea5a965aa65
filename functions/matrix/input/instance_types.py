"""Network and EBS access of instance types: bandwidths, number of EBS cards, and bandwidth weighting."""

import difflib
import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from matrix.storages.metrics import Burst, LimitUnit

_TABLE = Path(__file__).with_name("instance_limits.json")
GBIT = 125e6  # bytes
# "Maximum performance for 30 minutes at least once every 24 hours" (EBS guide, EBS optimization).
EBS_BURST_S = 30 * 60.0
# "Burst bandwidth for a limited time, typically from 5 to 60 minutes" (EC2 guide, network bandwidth): the least of it.
NETWORK_BURST_S = 5 * 60.0
# "ebs-1 bandwidth weighting increases the baseline EBS bandwidth by 25 percent while reducing the VPC networking
# bandwidth by the same absolute amount" (EBS guide, configurable instance bandwidth weighting); vpc-1 the other way.
SHIFTED = 0.25

# Families that are not built on the Nitro System (EC2 DescribeInstanceTypes, Hypervisor xen); their metal types are.
_XEN = frozenset("c1 c3 c4 d2 h1 i2 i3 m1 m2 m3 m4 r3 r4 t1 t2 x1 x1e".split())  # noqa: SIM905
# vCPUs that burstable types have always (EC2 guide, burstable-credits-baseline-concepts), and US dollars of a vCPU-hour
# beyond their credits (EC2 on-demand pricing, unlimited mode, Linux).
_T2 = {"nano": 0.05, "micro": 0.1, "small": 0.2, "medium": 0.4, "large": 0.6, "xlarge": 0.9, "2xlarge": 1.35}
_T3 = {"nano": 0.1, "micro": 0.2, "small": 0.4, "medium": 0.4, "large": 0.6, "xlarge": 1.6, "2xlarge": 3.2}
_BURSTABLE = {"t2": (_T2, 0.05), "t3": (_T3, 0.05), "t3a": (_T3, 0.05), "t4g": (_T3, 0.04)}


class Burstable(NamedTuple):
    """A type with processor credits: vCPUs that it has always, and US dollars of each vCPU-hour beyond its credits."""

    vcpus: float
    surplus_usd: float
    is_unlimited: bool  # by default; else it falls to what it has always


def burstable(instance_type: str) -> Burstable | None:
    """Return the processor credits of a type; None if it has none."""
    family, _, size = instance_type.partition(".")
    always, usd = _BURSTABLE.get(family, ({}, 0.0))
    return Burstable(always[size], usd, family != "t2") if size in always else None


def is_nitro(instance_type: str) -> bool:
    """Return whether a type is built on the Nitro System."""
    family, _, size = instance_type.partition(".")
    return family not in _XEN or size == "metal"


class Bandwidth(NamedTuple):
    """One kind of bandwidth of an instance: sustained, and at most for some minutes."""

    always: float
    most: float


def bursts(
    ebs: Bandwidth | None = None, ebs_iops: Bandwidth | None = None, network: Bandwidth | None = None
) -> Iterator[Burst]:
    """Yield those limits of an instance that credits raise for some time; None is unknown, or does not limit."""
    limits: tuple[tuple[str, LimitUnit, Bandwidth | None, float], ...] = (
        ("instance EBS IOPS", "IOPS", ebs_iops, EBS_BURST_S),
        ("instance EBS throughput", "bytes/s", ebs, EBS_BURST_S),
        ("instance network", "bytes/s", network, NETWORK_BURST_S),
    )
    for of, counts, limit, at_most_s in limits:
        if limit and limit.most > limit.always > 0:
            yield Burst(of, counts, *limit, (limit.most - limit.always) * at_most_s)


@cache
def _table() -> dict[str, Any]:
    return dict(json.loads(_TABLE.read_text(encoding="utf-8")))


@cache
def of_each(name: str) -> dict[str, Any]:
    """Return one part of the table by instance type, each family from small to large."""
    families: dict[str, dict[str, Any]] = _table()[name]
    return {f"{family}.{size}": value for family, sizes in families.items() for size, value in sizes.items()}


def doubt(instance_type: str) -> tuple[str, str] | None:
    """Return why a type may not exist, and what its user may have meant; None for one of the table.

    The table has all types that AWS has announced, but for old and very large ones.
    """
    family, _, size = instance_type.partition(".")
    sizes = _table()["network_gbps"].get(family)
    if sizes and size in sizes:
        return None
    known = [f"{family}.{each}" for each in sizes] if sizes else list(of_each("network_gbps"))
    alike = difflib.get_close_matches(instance_type, known, n=3)
    meant = f"take {' or '.join(alike)}" if alike else "see that it has no typo"
    if sizes:
        return f"is not known here, so its limits and price are guessed: {family} has {', '.join(sizes)}", meant
    return f"is not known here, nor is any type of {family}, so its limits and price are guessed", meant


def ebs_cards(instance_type: str) -> int:
    """Return the number of EBS cards of an instance type: one, unless EC2 lists more."""
    return int(of_each("cards").get(instance_type, 1))


def share_of_cards(volumes: int, cards: int) -> float:
    """Return the share of a type's bandwidth and IOPS that a stripe reaches, with its volumes distributed over cards.

    Each volume of a stripe has the same load, so the card with the most of them is the limit: with two cards, one
    volume reaches half, three volumes three quarters.
    """
    return volumes / (math.ceil(volumes / cards) * cards)


def network_of(instance_type: str) -> Bandwidth | None:
    """Return the network bandwidth in bytes per second of a type in one direction; None if it is not known."""
    gbps = of_each("network_gbps").get(instance_type)
    if gbps is None:
        return None
    always, most = gbps if isinstance(gbps, list) else (gbps, gbps)
    return Bandwidth(always * GBIT, most * GBIT)


def smallest_with_network(instance_type: str, bytes_per_s: float) -> str | None:
    """Return the smallest larger type of the family that always has this network bandwidth; None if none is known."""
    now, family = network_of(instance_type), instance_type.partition(".")[0]
    least = max(bytes_per_s, math.nextafter(now.always, math.inf) if now else 0.0)
    of_family = (f"{family}.{size}" for size in _table()["network_gbps"].get(family, {}))
    return next((name for name in of_family if (network := network_of(name)) and network.always >= least), None)


def can_be_weighted(instance_type: str) -> bool:
    """Return whether EC2 can weight a type's bandwidth between network and EBS."""
    return instance_type.partition(".")[0] in _table()["weightable"]


def weighted(weighting: str | None, ebs: Bandwidth, network: Bandwidth) -> tuple[Bandwidth, Bandwidth]:
    """Return the bandwidths of EBS and network after a weighting, both in the same unit.

    The favoured one gets a quarter more sustained bandwidth and keeps its maximum; the other loses the same amount of
    both. IOPS and packets do not change (EC2 guide, configure-bandwidth-weighting).
    """
    if weighting == "ebs-1":
        return _more(ebs), _less(network, by=SHIFTED * ebs.always)
    if weighting == "vpc-1":
        return _less(ebs, by=SHIFTED * network.always), _more(network)
    return ebs, network


def reached(limits: Mapping[str, Bandwidth], weighting: str | None, volumes: int, cards: int) -> dict[str, Bandwidth]:
    """Return what an instance reaches of its limits `ebs_bytes_per_s`, `ebs_iops` and `network_bytes_per_s`.

    A bandwidth weighting shifts bandwidth between EBS and the network; volumes use only the EBS cards they are on.
    """
    found = dict(limits)
    if {"ebs_bytes_per_s", "network_bytes_per_s"} <= found.keys():
        shifted = weighted(weighting, found["ebs_bytes_per_s"], found["network_bytes_per_s"])
        found["ebs_bytes_per_s"], found["network_bytes_per_s"] = shifted
    share = share_of_cards(volumes, cards)
    for name in {"ebs_bytes_per_s", "ebs_iops"} & found.keys():
        found[name] = Bandwidth(share * found[name].always, share * found[name].most)
    return found


def _more(favoured: Bandwidth) -> Bandwidth:
    always = favoured.always * (1 + SHIFTED)
    return Bandwidth(always, max(always, favoured.most))


def _less(other: Bandwidth, by: float) -> Bandwidth:
    return Bandwidth(max(0.0, other.always - by), max(0.0, other.most - by))
