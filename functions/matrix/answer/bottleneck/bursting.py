"""Points that were faster than the sustained limits of storage or instance, so that they used up credits."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from matrix.answer.bottleneck.clients import HELD
from matrix.answer.bottleneck.evidence import BEYOND, Evidence
from matrix.answer.costs import storage_of
from matrix.input.instance_types import EBS_BURST_S, NETWORK_BURST_S, Bandwidth
from matrix.storages.base import Burst, Counted
from matrix.terms.documents.bottleneck import OnCredits
from matrix.terms.documents.result import Limit
from matrix.terms.use import disk_bytes, disk_operations, most


@dataclass(frozen=True)
class _Limited:
    """A burst with the rate of each point that it limits."""

    burst: Burst
    rates: Mapping[str, float | None]


def on_credits(evidence: Evidence) -> dict[str, list[OnCredits]]:
    """Return the bursts of each point: rate, sustained rate, and the seconds that a full balance lasts.

    Only storages and instances of AWS have credits. A point that is not listed stayed within the sustained limits, or
    its rate is unknown. For EFS the sustained rate is that of an empty file system, since a benchmark stores little.
    """
    points: dict[str, list[OnCredits]] = {}
    if not evidence.is_on_aws:
        return points
    for limited in (*_of_storage(evidence), *_of_instance(evidence)):
        burst = limited.burst
        for point, rate in limited.rates.items():
            # More than the burst itself allows was answered by a cache.
            if rate is not None and burst.sustained * HELD < rate <= burst.most * BEYOND:
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


def _of_storage(evidence: Evidence) -> Iterator[_Limited]:
    storage = storage_of(evidence.storage)
    if storage is None:
        return
    uses = evidence.fleet_uses if storage.is_shared else evidence.uses
    for burst in storage.bursts:
        rates = {point: evidence.metrics.burst_rate(evidence.storage, burst, use) for point, use in uses.items()}
        yield _Limited(burst, rates)


def _of_instance(evidence: Evidence) -> Iterator[_Limited]:
    known, uses = evidence.instance_limits, evidence.uses
    if evidence.metrics.has_volumes:
        operations = {point: disk_operations(use) for point, use in uses.items()}
        moved = {point: disk_bytes(use) for point, use in uses.items()}
        yield from _pair("instance EBS IOPS", "IOPS", known.get("ebs_iops"), EBS_BURST_S, operations)
        yield from _pair("instance EBS throughput", "bytes/s", known.get("ebs_bytes_per_s"), EBS_BURST_S, moved)
    sent_or_received = {
        point: most(use, ("network_received_bytes_per_s", "network_sent_bytes_per_s")) for point, use in uses.items()
    }
    limit = known.get("network_bytes_per_s")
    yield from _pair("instance network", "bytes/s", limit, NETWORK_BURST_S, sent_or_received)


def _pair(
    of: str, counts: Counted, limit: Limit | None, at_most_s: float, rates: Mapping[str, float | None]
) -> Iterator[_Limited]:
    """Yield a limit of the instance type that has a baseline below its maximum."""
    if limit and limit["maximum"] > limit["baseline"] > 0:
        pair = Bandwidth(limit["baseline"], limit["maximum"])
        yield _Limited(Burst(of, counts, *pair, pair.credits(at_most_s)), rates)
