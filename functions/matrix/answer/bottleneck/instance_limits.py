"""EBS and network limits of an instance type, from DescribeInstanceTypes."""

from collections.abc import Mapping
from typing import Any

from matrix.input import instance_types
from matrix.input.instance_types import GBIT, Bandwidth
from matrix.terms.documents.parts import Fleet, Part
from matrix.terms.documents.result import Limit

MB = 1e6


def limits_of(described: Mapping[str, Any]) -> dict[str, Limit]:
    """Return (baseline, maximum) of `ebs_iops`, `ebs_bytes_per_s` and `network_bytes_per_s` (one direction).

    Limits that the type's description lacks are left out. The baseline is sustained, the maximum lasts with credits.
    """
    ebs = described.get("EbsInfo", {}).get("EbsOptimizedInfo", {})
    # Agents use the first network card only, so its limits apply.
    card: Mapping[str, Any] = next(iter(described.get("NetworkInfo", {}).get("NetworkCards", [])), {})
    pairs = {
        "ebs_iops": _pair(ebs.get("BaselineIops"), ebs.get("MaximumIops"), 1.0),
        "ebs_bytes_per_s": _pair(ebs.get("BaselineThroughputInMBps"), ebs.get("MaximumThroughputInMBps"), MB),
        "network_bytes_per_s": _pair(card.get("BaselineBandwidthInGbps"), card.get("PeakBandwidthInGbps"), GBIT),
    }
    return {name: pair for name, pair in pairs.items() if pair}


def reached(limits: Mapping[str, Limit], described: Mapping[str, Any], storage: Part, fleet: Fleet) -> dict[str, Limit]:
    """Return the limits of a type that an instance of the fleet can reach with its volumes (one, or a stripe)."""
    pairs = {name: Bandwidth(limit["baseline"], limit["maximum"]) for name, limit in limits.items()}
    cards = len(described.get("EbsInfo", {}).get("EbsCards", [])) or 1
    found = instance_types.reached(pairs, fleet.get("bandwidthWeighting"), storage.get("raid0") or 1, cards)
    return {name: {"baseline": pair.always, "maximum": pair.most} for name, pair in found.items()}


def _pair(baseline: float | None, maximum: float | None, scale: float) -> Limit | None:
    if baseline is None or maximum is None:
        return None
    return {"baseline": float(baseline) * scale, "maximum": float(maximum) * scale}
