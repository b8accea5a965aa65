"""Compare the instances' traffic with the provisioned limits of the storage, without CloudWatch.

The traffic is taken from:

- EBS: the kernel's disk counters, which count after caches and merging;
- NFS: the mount's counters, as far as they correspond to the server's disks;
- an emulated storage: the engines' operations, since nothing else is limited there.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from matrix.answer.bottleneck.evidence import MAX_PLAUSIBLE, Ceiling, Evidence
from matrix.answer.costs import storage_limits
from matrix.input.workloads.metadata import CHANGES, operations_of_a_file
from matrix.storages.base import OTHER_CEILINGS
from matrix.storages.metrics import LimitUnit
from matrix.storages.models import MODELS, is_shared
from matrix.terms.documents.parts import Emulation
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
        yield from _ceiling(names.operations, operations, most_operations, unit, 1.0, counts="IOPS")
    if names.is_throughput_bounded:
        yield from _ceiling(names.throughput, moved, most_bytes, "MB/s", MB, counts="bytes/s")
    cap = metrics.client_cap(evidence.storage) if evidence.is_on_aws else None
    if cap:
        each = {point: moved_bytes(evidence, use) for point, use in evidence.uses.items()}
        yield from _ceiling(cap.name, each, cap.bytes_per_s, "MiB/s", MIB, of="client")


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


def _ceiling(
    name: str,
    rates: Mapping[str, float | None],
    most: float,
    unit: str,
    scale: float,
    *,
    of: Literal["client"] | None = None,
    counts: LimitUnit | None = None,
) -> Iterator[Ceiling]:
    """Yield a limit with its share at each point with a known and comparable rate."""
    shares = {point: rate / most for point, rate in rates.items() if rate is not None}
    shares = {point: share for point, share in shares.items() if share <= MAX_PLAUSIBLE}
    if not shares or not math.isfinite(most):
        return
    top = max(shares, key=lambda point: shares[point])
    use = RateUsed(used=shares[top] * most / scale, limit=most / scale, unit=unit, of=of, point=top)
    yield Ceiling(name, shares, use, counts=counts)
