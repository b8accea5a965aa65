"""Points that were faster than the sustained limits of storage or instance, so that they used up credits."""

from collections.abc import Iterator, Mapping

from matrix.answer.bottleneck.credits import BASELINE_MARGIN
from matrix.answer.bottleneck.evidence import MAX_PLAUSIBLE, Evidence
from matrix.answer.costs import storage_of
from matrix.input.instance_types import Bandwidth, bursts
from matrix.storages.metrics import Burst
from matrix.terms.findings.credits import OnCredits
from matrix.terms.use import disk_bytes, disk_operations, most

Rates = Mapping[str, float | None]


def on_credits(evidence: Evidence) -> dict[str, list[OnCredits]]:
    """Return the bursts of each point: rate, sustained rate, and the seconds that a full balance lasts.

    Only storages and instances of AWS have credits. A point that is not listed stayed within the sustained limits, or
    its rate is unknown. For EFS the sustained rate is that of an empty file system, since a benchmark stores little.
    """
    points: dict[str, list[OnCredits]] = {}
    if not evidence.is_on_aws:
        return points
    for burst, rates in (*_of_storage(evidence), *_of_instance(evidence)):
        for point, rate in rates.items():
            # More than the burst itself allows was answered by a cache.
            if rate is not None and burst.sustained * BASELINE_MARGIN < rate <= burst.most * MAX_PLAUSIBLE:
                points.setdefault(point, []).append(
                    {
                        "of": burst.of,
                        "counts": burst.counts,
                        "rate": rate,
                        "sustained": burst.sustained,
                        "lasts_s": burst.lasts_s(rate),
                    }
                )
    return points


def _of_storage(evidence: Evidence) -> Iterator[tuple[Burst, Rates]]:
    """Yield each burst of the storage with the rate of each point that it limits."""
    storage = storage_of(evidence.storage)
    if storage is None:
        return
    uses = evidence.fleet_uses if storage.traits.is_shared else evidence.uses
    for burst in storage.bursts:
        yield burst, {point: evidence.metrics.burst_rate(evidence.storage, burst, use) for point, use in uses.items()}


def _of_instance(evidence: Evidence) -> Iterator[tuple[Burst, Rates]]:
    known = {name: Bandwidth(limit["baseline"], limit["maximum"]) for name, limit in evidence.instance_limits.items()}
    ebs = (known.get("ebs_bytes_per_s"), known.get("ebs_iops")) if evidence.metrics.has_volumes else (None, None)
    for burst in bursts(*ebs, known.get("network_bytes_per_s")):
        yield burst, {point: _rate(burst, use) for point, use in evidence.uses.items()}


def _rate(burst: Burst, use: Mapping[str, float]) -> float | None:
    """Return the rate of an instance that one of its limits limits."""
    if burst.of == "instance network":
        return most(use, ("network_received_bytes_per_s", "network_sent_bytes_per_s"))
    return disk_operations(use) if burst.counts == "IOPS" else disk_bytes(use)
