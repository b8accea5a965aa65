"""Ceilings on the instances' side: processors, the load generator, and EC2's limits of the instance type."""

import math
from collections.abc import Iterator, Mapping
from typing import Literal

from matrix.answer.bottleneck.evidence import MAX_PLAUSIBLE, Ceiling, Evidence
from matrix.answer.tool_bound import BOUND_SHARE
from matrix.input.instance_types import GBIT
from matrix.terms.ceilings import INSTANCE_EBS, INSTANCE_NETWORK, PROCESSORS, REACHED, TCP_CONNECTIONS, TOOL
from matrix.terms.documents.result import Limit
from matrix.terms.findings.bottlenecks import PacketsHeld, ProcessorUse, RateUsed, ToolShare
from matrix.terms.use import disk_bytes, disk_operations

MB = 1e6
# "Bandwidth for single-flow traffic is limited to 5 Gbps" (EC2 guide, network bandwidth): that of a TCP connection.
CONNECTION_BYTES_PER_S = 5 * GBIT
# Packets queued or dropped per second. A burst of milliseconds causes some on any instance (EC2 guide, ENA metrics);
# a limit that is reached causes them all the time.
MANY_PACKETS_PER_S = 10.0
# A rate above the baseline by more than this factor is paid from credits.
BASELINE_MARGIN = 1.03
ALLOWANCES = ("bw_in", "bw_out", "pps", "conntrack")


def ceilings(evidence: Evidence) -> Iterator[Ceiling]:
    """Yield the limits of the instances for which counters exist."""
    yield from _tool(evidence)
    yield from _processors(evidence)
    if evidence.is_on_aws:
        yield from _allowances(evidence)
        yield from _network(evidence)
        if evidence.metrics.has_volumes:
            yield from _ebs(evidence)


def _tool(evidence: Evidence) -> Iterator[Ceiling]:
    shares = _named(evidence, "tool_share")
    if shares:
        top = max(shares, key=lambda point: shares[point])
        yield Ceiling(TOOL, shares, ToolShare(share=shares[top], point=top), enough=BOUND_SHARE)


def _processors(evidence: Evidence) -> Iterator[Ceiling]:
    shares: dict[str, float] = {}
    busy: dict[str, ProcessorUse] = {}
    for point, use in evidence.uses.items():
        machine, worker, stolen = (use.get(name) for name in ("cpu_share", "worker_share", "steal_share"))
        if machine is None:
            continue
        shares[point] = max(machine, worker or 0.0)
        busy[point] = ProcessorUse(machine=machine, worker=worker, stolen=stolen or 0.0, point=point)
    if shares:
        top = max(shares, key=lambda point: shares[point])
        yield Ceiling(PROCESSORS, shares, busy[top])


def _allowances(evidence: Evidence) -> Iterator[Ceiling]:
    """EC2's own counters: packets that it queued or dropped because the instance exceeded an allowance."""
    for allowance in ALLOWANCES:
        rates = _named(evidence, f"{allowance}_allowance_exceeded_per_s")
        if not rates:
            continue
        top = max(rates, key=lambda point: rates[point])
        shares = {point: 1.0 if rate >= MANY_PACKETS_PER_S else 0.0 for point, rate in rates.items()}
        packets = PacketsHeld(allowance=allowance, per_s=rates[top], point=top)
        yield Ceiling(INSTANCE_NETWORK, shares, packets, is_reported=True)


def _network(evidence: Evidence) -> Iterator[Ceiling]:
    """Compare bytes in one direction with the limits of the instance type and of its connections to the storage."""
    limits = evidence.instance_limits.get("network_bytes_per_s")
    rates = {
        point: max(use["network_received_bytes_per_s"], use["network_sent_bytes_per_s"])
        for point, use in evidence.uses.items()
        if "network_received_bytes_per_s" in use and "network_sent_bytes_per_s" in use
    }
    yield from _between(INSTANCE_NETWORK, rates, limits, "Gbit/s", GBIT)
    if connections := evidence.metrics.connections(evidence.storage):
        limit = connections * CONNECTION_BYTES_PER_S
        of_flows: Limit = {"baseline": limit, "maximum": limit}
        yield from _between(TCP_CONNECTIONS, rates, of_flows, "Gbit/s", GBIT, of="connections")


def _ebs(evidence: Evidence) -> Iterator[Ceiling]:
    known = evidence.instance_limits
    of_bytes = known.get("ebs_bytes_per_s")
    most = of_bytes["maximum"] if of_bytes else math.inf
    moved = {point: disk_bytes(use) for point, use in evidence.uses.items()}
    # An instance that moves its maximum lives on credits: operations near their baseline are chance then.
    operations = {
        point: disk_operations(use) for point, use in evidence.uses.items() if (moved[point] or 0.0) < REACHED * most
    }
    yield from _between(INSTANCE_EBS, operations, known.get("ebs_iops"), "IOPS", 1.0)
    yield from _between(INSTANCE_EBS, moved, of_bytes, "MB/s", MB)


def _between(
    name: str,
    rates: Mapping[str, float | None],
    limits: Limit | None,
    unit: str,
    scale: float,
    *,
    of: Literal["connections"] | None = None,
) -> Iterator[Ceiling]:
    """Yield a limit: the baseline for points near the baseline, else the maximum.

    A rate close to the baseline is limited by it; a rate well above uses credits and is limited by the maximum alone.
    """
    if not limits or not limits["baseline"] or not limits["maximum"]:
        return
    baseline, most = limits["baseline"], limits["maximum"]
    shares: dict[str, float] = {}
    uses: dict[str, RateUsed] = {}
    for point, rate in rates.items():
        if rate is None or rate > most * MAX_PLAUSIBLE:
            continue
        is_at_baseline = REACHED * baseline <= rate <= baseline * BASELINE_MARGIN
        limit = baseline if is_at_baseline else most
        shares[point] = min(1.0, rate / limit)
        uses[point] = RateUsed(
            used=rate / scale,
            limit=limit / scale,
            unit=unit,
            of=of or ("baseline" if is_at_baseline else "maximum"),
            point=point,
        )
    if shares:
        top = max(shares, key=lambda point: shares[point])
        yield Ceiling(name, shares, uses[top])


def _named(evidence: Evidence, name: str) -> dict[str, float]:
    return {point: use[name] for point, use in evidence.uses.items() if name in use}
