"""What EC2 allows an instance of a type on its way to EBS and to the network, from DescribeInstanceTypes."""

from collections.abc import Mapping
from typing import Any

from matrix.terms.documents.result import Limit

MB = 1e6
GBIT_BYTES = 125e6


def limits_of(described: Mapping[str, Any]) -> dict[str, Limit]:
    """Return baseline and maximum of what is limited: `ebs_iops`, `ebs_bytes_per_s`, `network_bytes_per_s` (one way).

    What the type does not say is left out. The baseline can be had always, the maximum as long as credits last.
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


def _pair(baseline: float | None, maximum: float | None, scale: float) -> Limit | None:
    if baseline is None or maximum is None:
        return None
    return {"baseline": float(baseline) * scale, "maximum": float(maximum) * scale}
