"""EBS and network limits of an instance type, from DescribeInstanceTypes."""

from collections.abc import Mapping
from typing import Any

from matrix.input.instance_types import Bandwidth, share_of_cards, weighted
from matrix.terms.documents.parts import Fleet, Part
from matrix.terms.documents.result import Limit

MB = 1e6
GBIT_BYTES = 125e6


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
        "network_bytes_per_s": _pair(card.get("BaselineBandwidthInGbps"), card.get("PeakBandwidthInGbps"), GBIT_BYTES),
    }
    return {name: pair for name, pair in pairs.items() if pair}


def reached(limits: Mapping[str, Limit], described: Mapping[str, Any], storage: Part, fleet: Fleet) -> dict[str, Limit]:
    """Return the limits of a type that an instance of the fleet can reach with its volumes (one, or a stripe).

    A bandwidth weighting shifts bandwidth between EBS and the network, and volumes use only the EBS cards they are on.
    """
    pairs = {name: Bandwidth(limit["baseline"], limit["maximum"]) for name, limit in limits.items()}
    if "ebs_bytes_per_s" in pairs and "network_bytes_per_s" in pairs:
        pairs["ebs_bytes_per_s"], pairs["network_bytes_per_s"] = weighted(
            fleet.get("bandwidthWeighting"), pairs["ebs_bytes_per_s"], pairs["network_bytes_per_s"]
        )
    cards = len(described.get("EbsInfo", {}).get("EbsCards", [])) or 1
    share = share_of_cards(storage.get("raid0") or 1, cards)
    for name in {"ebs_bytes_per_s", "ebs_iops"} & set(pairs):
        pairs[name] = Bandwidth(share * pairs[name].always, share * pairs[name].most)
    return {name: {"baseline": pair.always, "maximum": pair.most} for name, pair in pairs.items()}


def _pair(baseline: float | None, maximum: float | None, scale: float) -> Limit | None:
    if baseline is None or maximum is None:
        return None
    return {"baseline": float(baseline) * scale, "maximum": float(maximum) * scale}
