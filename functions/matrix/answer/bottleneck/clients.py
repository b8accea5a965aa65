"""Ceilings on the instances' side: processors, the load generator, and EC2's limits of the instance type."""

from collections.abc import Iterator, Mapping
from typing import Literal

from matrix.answer.bottleneck.credits import Credits
from matrix.answer.bottleneck.evidence import MAX_PLAUSIBLE, Ceiling, Evidence
from matrix.answer.tool_bound import BOUND_SHARE
from matrix.input.instance_types import EBS_BURST_S, GBIT, NETWORK_BURST_S
from matrix.storages.metrics import LimitUnit
from matrix.terms.ceilings import HOST, INSTANCE_EBS, INSTANCE_NETWORK, PROCESSORS, TCP_CONNECTIONS, TOOL
from matrix.terms.documents.result import Limit
from matrix.terms.findings.bottlenecks import MUCH_STOLEN, PacketsHeld, ProcessorUse, RateUsed, ToolShare
from matrix.terms.use import disk_bytes, disk_operations, total

MB = 1e6
# "Bandwidth for single-flow traffic is limited to 5 Gbps" (EC2 guide, network bandwidth): that of a TCP connection.
CONNECTION_BYTES_PER_S = 5 * GBIT
# EC2 holds back some packets of any instance in bursts of milliseconds (EC2 guide, ENA metrics).
MANY_OF_PACKETS = 0.01
# Bytes of a packet, at most (EC2 guide, network MTU).
MTU = 9_001.0
BOTH_WAYS = ("network_received", "network_sent")
# The traffic whose packets EC2 holds back when an instance exceeds an allowance.
ALLOWANCES = {"bw_in": BOTH_WAYS[:1], "bw_out": BOTH_WAYS[1:], "pps": BOTH_WAYS, "conntrack": BOTH_WAYS}
BANDWIDTHS = ("bw_in", "bw_out")

Rates = Mapping[str, float | None]


def ceilings(evidence: Evidence) -> Iterator[Ceiling]:
    """Yield the limits of the instances for which counters exist."""
    yield from _tool(evidence)
    yield from _processors(evidence)
    if evidence.is_on_aws:
        yield from _network(evidence)
        if evidence.metrics.has_volumes:
            yield from _ebs(evidence)


def _tool(evidence: Evidence) -> Iterator[Ceiling]:
    shares = _named(evidence, "tool_share")
    if shares:
        top = max(shares, key=lambda point: shares[point])
        yield Ceiling(TOOL, shares, ToolShare(share=shares[top], point=top), enough=BOUND_SHARE)


def _processors(evidence: Evidence) -> Iterator[Ceiling]:
    """Yield the instance's own work, and apart from it the time that the host took, which no client asked for."""
    shares: dict[str, dict[str, float]] = {PROCESSORS: {}, HOST: {}}
    busy: dict[str, ProcessorUse] = {}
    for point, use in evidence.uses.items():
        machine, worker, stolen = (use.get(name) for name in ("cpu_share", "worker_share", "steal_share"))
        if machine is None:
            continue
        is_taken = (stolen or 0.0) >= MUCH_STOLEN
        shares[PROCESSORS][point] = max(machine - (stolen or 0.0) if is_taken else machine, worker or 0.0)
        if is_taken:
            shares[HOST][point] = machine
        busy[point] = ProcessorUse(machine=machine, worker=worker, stolen=stolen or 0.0, point=point)
    for name, used in shares.items():
        if used:
            yield Ceiling(name, used, busy[max(used, key=lambda point: used[point])])


def _network(evidence: Evidence) -> Iterator[Ceiling]:
    """Compare bytes in one direction with the limits of the instance type and of its connections to the storage."""
    limit = evidence.instance_limits.get("network_bytes_per_s")
    received, sent = (_named(evidence, f"{way}_bytes_per_s") for way in BOTH_WAYS)
    rates = {point: max(received[point], sent[point]) for point in received if point in sent}
    held = {name: shares for name in ALLOWANCES if (shares := _held(evidence, name))}
    many = {point for name in BANDWIDTHS for point, share in held.get(name, {}).items() if share >= MANY_OF_PACKETS}
    credits_ = Credits(evidence, limit, rates, NETWORK_BURST_S, held=many) if limit else None
    uses = _uses(rates, limit, "Gbit/s", GBIT, credits_)
    yield from _ceilings(INSTANCE_NETWORK, uses, "bytes/s")
    for name, shares in held.items():
        yield _of_packets(evidence, name, shares, uses)
    if connections := evidence.metrics.connections(evidence.storage):
        most = connections * CONNECTION_BYTES_PER_S
        of_flows = _uses(rates, {"baseline": most, "maximum": most}, "Gbit/s", GBIT, of="connections")
        yield from _ceilings(TCP_CONNECTIONS, of_flows)


def _held(evidence: Evidence, allowance: str) -> dict[str, float]:
    """Return the share of packets that EC2 queued or dropped at each point because of an allowance."""
    shares: dict[str, float] = {}
    for point, use in evidence.uses.items():
        held = use.get(f"{allowance}_allowance_exceeded_per_s")
        ways = ALLOWANCES[allowance]
        packets = total(use, [f"{way}_packets_per_s" for way in ways])
        moved = total(use, [f"{way}_bytes_per_s" for way in ways])
        if held is not None:
            most = packets or (moved or 0.0) / MTU
            shares[point] = min(1.0, held / most) if most else 0.0
    return shares


def _of_packets(
    evidence: Evidence, allowance: str, shares: Mapping[str, float], uses: Mapping[str, RateUsed]
) -> Ceiling:
    """Return a limit by what EC2 held back.

    Packets confirm a bandwidth that the bytes come near, and never show it alone: a client of S3 had 1 % of its packets
    held at 2.91 Gbit/s and half of them at its baseline of 6.25, and then reached 10.87 with more requests at once
    (https://github.com/NOFireAI/ravel/issues/845).
    """
    top = max(shares, key=lambda point: shares[point])
    per_s = evidence.uses[top][f"{allowance}_allowance_exceeded_per_s"]
    packets = PacketsHeld(allowance=allowance, per_s=per_s, share=shares[top], point=top)
    if allowance not in BANDWIDTHS:
        return Ceiling(INSTANCE_NETWORK, shares, packets, is_reported=True, enough=MANY_OF_PACKETS)
    near = {
        point: _share(uses[point]) if share >= MANY_OF_PACKETS and point in uses else 0.0
        for point, share in shares.items()
    }
    return Ceiling(INSTANCE_NETWORK, near, packets, is_reported=True)


def _ebs(evidence: Evidence) -> Iterator[Ceiling]:
    operations = {point: disk_operations(use) for point, use in evidence.uses.items()}
    moved = {point: disk_bytes(use) for point, use in evidence.uses.items()}
    yield from _of_ebs(evidence, "ebs_iops", operations, "IOPS", 1.0, "IOPS")
    yield from _of_ebs(evidence, "ebs_bytes_per_s", moved, "MB/s", MB, "bytes/s")


def _of_ebs(
    evidence: Evidence, name: str, rates: Rates, unit: str, scale: float, counts: LimitUnit
) -> Iterator[Ceiling]:
    limit = evidence.instance_limits.get(name)
    balance = next(
        (
            watched.metric
            for watched in evidence.metrics.limits
            if (watched.says, watched.name, watched.counts) == ("balance", INSTANCE_EBS, counts)
        ),
        None,
    )
    credits_ = Credits(evidence, limit, rates, EBS_BURST_S, balance) if limit else None
    yield from _ceilings(INSTANCE_EBS, _uses(rates, limit, unit, scale, credits_), counts)


def _uses(
    rates: Rates,
    limit: Limit | None,
    unit: str,
    scale: float,
    credits_: Credits | None = None,
    of: Literal["connections"] | None = None,
) -> dict[str, RateUsed]:
    """Return each point's rate beside its limit: the baseline where no credits were left, else the maximum."""
    uses: dict[str, RateUsed] = {}
    if not limit or not limit["baseline"] or not limit["maximum"]:
        return uses
    for point, rate in rates.items():
        if rate is None or rate > limit["maximum"] * MAX_PLAUSIBLE:
            continue
        is_at_baseline = credits_ is not None and credits_.hold_to_baseline(point)
        uses[point] = RateUsed(
            used=rate / scale,
            limit=limit["baseline" if is_at_baseline else "maximum"] / scale,
            unit=unit,
            of=of or ("baseline" if is_at_baseline else "maximum"),
            point=point,
        )
    return uses


def _ceilings(name: str, uses: Mapping[str, RateUsed], counts: LimitUnit | None = None) -> Iterator[Ceiling]:
    """Yield the limit of points at the baseline, of which AWS's checks say nothing, and that of the others."""
    for is_at_baseline in (True, False):
        shares = {point: _share(use) for point, use in uses.items() if (use.of == "baseline") is is_at_baseline}
        if shares:
            top = max(shares, key=lambda point: shares[point])
            yield Ceiling(name, shares, uses[top], counts=None if is_at_baseline else counts)


def _share(use: RateUsed) -> float:
    return min(1.0, use.used / use.limit)


def _named(evidence: Evidence, name: str) -> dict[str, float]:
    return {point: use[name] for point, use in evidence.uses.items() if name in use}
