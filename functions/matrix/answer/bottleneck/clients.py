"""Ceilings on the instances' side: their processors, the tool itself, and what EC2 allows an instance."""

import math
from collections.abc import Iterator, Mapping

from matrix.answer.bottleneck.evidence import BEYOND, REACHED, Ceiling, Evidence
from matrix.answer.tool_bound import BOUND_SHARE
from matrix.terms.ceilings import LARGER_EBS
from matrix.terms.figures import number
from matrix.terms.use import disk_bytes, disk_operations

MB = 1e6
GBIT = 125e6
# Packets queued or dropped per second. A burst of milliseconds causes some on any instance (EC2 guide, ENA metrics);
# a limit that is reached causes them all the time.
MANY_PACKETS_PER_S = 10.0
# A rate above the baseline by more than this factor is paid from credits.
HELD = 1.03
ALLOWANCES = {
    "bw_in": "bandwidth in",
    "bw_out": "bandwidth out",
    "pps": "packets per second",
    "conntrack": "tracked connections",
}
LARGER_PROCESSORS = "take an instance type with more or faster processors, or a tool that computes less"
LARGER_NETWORK = "take an instance type with more network, or spread the work over more instances"


def ceilings(evidence: Evidence) -> Iterator[Ceiling]:
    """Yield the instances' ceilings as far as their counters say something."""
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
        words = f"{100 * shares[top]:.0f} % of what the tool reaches on this instance without a storage"
        advice = "use tool engine, or another tool, more threads or more instances: this measures the generator"
        yield Ceiling("tool", shares, words + evidence.at(top), advice, enough=BOUND_SHARE)


def _processors(evidence: Evidence) -> Iterator[Ceiling]:
    shares: dict[str, float] = {}
    words: dict[str, str] = {}
    for point, use in evidence.uses.items():
        machine, workers, stolen = (use.get(name) for name in ("cpu_share", "worker_share", "steal_share"))
        if machine is None:
            continue
        shares[point] = max(machine, workers or 0.0)
        words[point] = f"processors {100 * machine:.0f} % busy"
        if workers is not None and workers > machine:
            words[point] = f"each worker computes {100 * workers:.0f} % of the time ({words[point]})"
        if stolen and stolen >= 0.05:  # noqa: PLR2004 - 1 second of 20
            words[point] += f", {100 * stolen:.0f} % taken by the host"
    if shares:
        top = max(shares, key=lambda point: shares[point])
        advice = LARGER_PROCESSORS if evidence.is_on_aws else "run it on AWS: here all instances share one machine"
        yield Ceiling("client CPU", shares, words[top] + evidence.at(top), advice)


def _allowances(evidence: Evidence) -> Iterator[Ceiling]:
    """EC2's own counters: packets that it queued or dropped because the instance asked for more than it may have."""
    for short, name in ALLOWANCES.items():
        rates = _named(evidence, f"{short}_allowance_exceeded_per_s")
        if not rates:
            continue
        top = max(rates, key=lambda point: rates[point])
        shares = {point: 1.0 if rate >= MANY_PACKETS_PER_S else 0.0 for point, rate in rates.items()}
        words = f"EC2 queued or dropped {number(rates[top])} packets/s for {name}{evidence.at(top)}"
        yield Ceiling("instance network allowance", shares, words, LARGER_NETWORK, is_told=True)


def _network(evidence: Evidence) -> Iterator[Ceiling]:
    """Bytes in one direction against what the instance type has always, and for as long as its credits last."""
    limits = evidence.instance_limits.get("network_bytes_per_s") or {}
    rates = {
        point: max(use["network_received_bytes_per_s"], use["network_sent_bytes_per_s"])
        for point, use in evidence.uses.items()
        if "network_received_bytes_per_s" in use and "network_sent_bytes_per_s" in use
    }
    yield from _between(evidence, "instance network allowance", LARGER_NETWORK, rates, limits, "Gbit/s", GBIT)


def _ebs(evidence: Evidence) -> Iterator[Ceiling]:
    known = evidence.instance_limits
    most = (known.get("ebs_bytes_per_s") or {}).get("maximum", math.inf)
    moved = {point: disk_bytes(use) for point, use in evidence.uses.items()}
    # An instance that moves its maximum lives on credits: operations near their baseline are chance then.
    operations = {
        point: disk_operations(use) for point, use in evidence.uses.items() if (moved[point] or 0.0) < REACHED * most
    }
    name = "instance EBS allowance"
    yield from _between(evidence, name, LARGER_EBS, operations, known.get("ebs_iops") or {}, "IOPS", 1.0)
    yield from _between(evidence, name, LARGER_EBS, moved, known.get("ebs_bytes_per_s") or {}, "MB/s", MB)


def _between(
    evidence: Evidence, name: str, advice: str, rates: Mapping[str, float | None], limits: Mapping[str, float],
    unit: str, scale: float,
) -> Iterator[Ceiling]:  # fmt: skip
    """Yield a ceiling that is the baseline for whom it holds at the baseline, else the maximum.

    A rate close to the baseline is held there; one well above lives on credits and is limited by the maximum alone.
    """
    baseline, most = limits.get("baseline"), limits.get("maximum")
    if not baseline or not most:
        return
    shares: dict[str, float] = {}
    words: dict[str, str] = {}
    for point, rate in rates.items():
        if rate is None or rate > most * BEYOND:
            continue
        is_at_baseline = REACHED * baseline <= rate <= baseline * HELD
        shares[point] = min(1.0, rate / (baseline if is_at_baseline else most))
        which = "that the type has always" if is_at_baseline else "that the type has at the most"
        words[point] = (
            f"{number(rate / scale)} of {number((baseline if is_at_baseline else most) / scale)} {unit} {which}"
        )
    if shares:
        top = max(shares, key=lambda point: shares[point])
        yield Ceiling(name, shares, words[top] + evidence.at(top), advice)


def _named(evidence: Evidence, name: str) -> dict[str, float]:
    return {point: use[name] for point, use in evidence.uses.items() if name in use}
