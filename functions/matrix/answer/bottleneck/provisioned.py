"""Compare the instances' traffic with the provisioned limits of the storage, without CloudWatch.

The traffic is taken from:

- EBS: the kernel's disk counters, which count after caches and merging;
- NFS: the mount's counters, as far as they correspond to the server's disks;
- an emulated storage: the engines' operations, since nothing else is limited there.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from matrix.answer.bottleneck.credits import Credits
from matrix.answer.bottleneck.evidence import MAX_PLAUSIBLE, Ceiling, Evidence
from matrix.answer.costs import storage_limits, storage_of
from matrix.input.workloads.metadata import CHANGES, operations_of_a_file
from matrix.storages.base import OTHER_CEILINGS
from matrix.storages.metrics import Burst, LimitUnit
from matrix.storages.models import MODELS, is_shared
from matrix.terms.ceilings import INSTANCE_EBS
from matrix.terms.documents.parts import Emulation
from matrix.terms.documents.result import Limit
from matrix.terms.findings.bottlenecks import RateUsed

MB = 1e6
MIB = 2.0**20
BLOCKS = ("block_bytes", "request_bytes")


def ceilings(evidence: Evidence) -> Iterator[Ceiling]:
    """Yield the storage's own limits that apply, if their traffic was counted."""
    known = _limits(evidence)
    if known is None:
        return
    most_operations, most_bytes, is_shared = known
    model = MODELS.get(evidence.kind)
    names = model.traits.ceilings if model else OTHER_CEILINGS
    uses = evidence.fleet_uses if is_shared else evidence.uses
    operations = {point: _operations(evidence, point, use) for point, use in uses.items()}
    moved = {point: moved_bytes(evidence, use) for point, use in uses.items()}
    metrics = evidence.metrics
    is_at_random = metrics.is_limited_at_random(evidence.storage)
    if is_at_random and not evidence.emulation:
        operations = {point: rate for point, rate in operations.items() if _is_random(evidence.params.get(point, {}))}
    if is_at_random or metrics.is_limited_by_operations(evidence.storage):
        unit = metrics.operations_unit if evidence.is_on_aws else "IOPS"
        burst = _burst(evidence, "IOPS", most_operations)
        yield from _ceiling(
            names.operations, operations, Credited(evidence, most_operations, burst), unit, 1.0, counts="IOPS"
        )
    if names.is_throughput_bounded:
        burst = _burst(evidence, "bytes/s", most_bytes)
        yield from _ceiling(
            names.throughput, moved, Credited(evidence, most_bytes, burst), "MB/s", MB, counts="bytes/s"
        )
    cap = metrics.client_cap(evidence.storage) if evidence.is_on_aws else None
    if cap:
        each = {point: moved_bytes(evidence, use) for point, use in evidence.uses.items()}
        yield from _ceiling(cap.name, each, Credited(evidence, cap.bytes_per_s), "MiB/s", MIB, of="client")


def _is_random(params: Mapping[str, Any]) -> bool:
    """Return whether a point's requests are at random places, so that each counts by itself on HDD volumes."""
    options = params.get("options") or {}
    return params.get("access") == "random" or "rand" in str(options.get("rw") or options.get("readwrite") or "")


def _limits(evidence: Evidence) -> tuple[float, float, bool] | None:
    """Maximum operations and bytes per second of an instance, or of the whole fleet if the storage is shared."""
    emulated = evidence.emulation
    if emulated:
        operations, moved = emulated.get("iops"), emulated.get("bytes_per_s")
        return float(operations or math.inf), float(moved or math.inf), bool(emulated.get("shared"))
    if not evidence.is_on_aws:
        return None
    limits_of_volume = storage_limits(evidence.storage)
    if "IOPS" not in limits_of_volume:
        return None
    return (
        limits_of_volume["IOPS"][0],
        limits_of_volume.get("MB/s", (math.inf, ""))[0] * MB,
        is_shared(evidence.storage),
    )


def _operations(evidence: Evidence, point: str, use: Mapping[str, float]) -> float | None:
    if evidence.emulation:
        return _emulated_operations(evidence.emulation, evidence.params[point], use)
    return evidence.metrics.operations_of(evidence.storage, use)


def _emulated_operations(emulation: Emulation, params: Mapping[str, object], use: Mapping[str, float]) -> float | None:
    """Operations as the engines count them: several for a create, one for a stat, one for each unit of a block."""
    if "files_per_s" in use:
        phase = str(params.get("phase", "create"))
        each = float(emulation.get("create_operations", 1)) if phase in CHANGES else operations_of_a_file(phase)
        return use["files_per_s"] * each
    block = next((value for name in BLOCKS if isinstance(value := params.get(name), int) and value > 0), None)
    if block is None or "bytes_per_s" not in use:
        return use.get("operations_per_s")
    unit = float(emulation.get("unit_bytes") or block)
    return use["bytes_per_s"] / block * math.ceil(block / unit)


def moved_bytes(evidence: Evidence, use: Mapping[str, float]) -> float | None:
    """Bytes per second as the storage's throughput limit counts them; None if no counter has them."""
    if evidence.emulation:
        return use.get("bytes_per_s")
    return evidence.metrics.bytes_of(evidence.storage, use)


@dataclass(frozen=True)
class Credited:
    """A limit of the storage, which credits may raise."""

    evidence: Evidence
    most: float
    burst: Burst | None = None

    def at(self, point: str, rates: Mapping[str, float | None]) -> float | None:
        """Return the limit at a point; None if its rate is the sustained one, and nobody says if credits were left.

        A rate above the sustained one is paid from credits, so what it may reach is the burst.
        """
        rate, burst = rates[point], self.burst
        if rate is None or burst is None:
            return self.most
        of_storage = [limit for limit in self.evidence.metrics.limits if limit.name != INSTANCE_EBS]
        balance = next((limit.metric for limit in of_storage if limit.says == "balance"), None)
        full_s = burst.credits / (burst.most - burst.sustained) if burst.credits else math.inf
        limit: Limit = {"baseline": burst.sustained, "maximum": burst.most}
        credits_ = Credits(self.evidence, limit, rates, full_s, balance)
        if not credits_.is_near_baseline(point):
            return burst.most if rate > burst.sustained else burst.sustained
        if burst.credits:
            return burst.sustained if credits_.hold_to_baseline(point) else burst.most
        # AWS's own share of the limit, where it has one of the point, decides.
        reported = {limit.metric for limit in of_storage if limit.says == "share"}
        is_told = credits_.is_exceeded_later(point) or any(self.evidence.has_minute(name, point) for name in reported)
        return burst.most if is_told else None


def _burst(evidence: Evidence, counts: LimitUnit, most: float) -> Burst | None:
    """Return the burst that a limit is an end of; None if credits do not raise it."""
    storage = storage_of(evidence.storage) if evidence.is_on_aws else None
    bursts = storage.bursts if storage else []
    return next((burst for burst in bursts if burst.counts == counts and most in (burst.sustained, burst.most)), None)


def _ceiling(
    name: str,
    rates: Mapping[str, float | None],
    most: Credited,
    unit: str,
    scale: float,
    *,
    of: Literal["client"] | None = None,
    counts: LimitUnit | None = None,
) -> Iterator[Ceiling]:
    """Yield a limit with its share at each point with a known and comparable rate."""
    limits = {point: most.at(point, rates) for point, rate in rates.items() if rate is not None}
    untold = [point for point, limit in limits.items() if limit is None]
    shares = {point: (rates[point] or 0.0) / limit for point, limit in limits.items() if limit}
    shares = {point: share for point, share in shares.items() if share <= MAX_PLAUSIBLE}
    if not (shares or untold) or not math.isfinite(most.most):
        return
    top = max(shares or untold, key=lambda point: shares.get(point, 0.0))
    limit = limits[top] or most.most
    use = RateUsed(used=(rates[top] or 0.0) / scale, limit=limit / scale, unit=unit, of=of, point=top)
    yield Ceiling(name, shares, use, counts=counts, untold=untold)
