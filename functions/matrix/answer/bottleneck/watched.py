"""Ceilings from CloudWatch's metrics of volumes, file systems and instances.

Values cover whole minutes. A minute speaks for a point that had nearly all of it. Another minute speaks for the cell
only: its points may have used more or less of the limit.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from matrix.answer.bottleneck.credits import USED_UP_PERCENT
from matrix.answer.bottleneck.evidence import Ceiling, Evidence, Minutes
from matrix.answer.costs import storage_of
from matrix.samples.cloudwatch import Series
from matrix.storages.metrics import FIVE_MINUTES_S, MeteredThroughput, ServerCache, WatchedLimit
from matrix.storages.models import MODELS
from matrix.terms.findings.bottlenecks import Balance, RateUsed, ShareUsed, Throttled
from matrix.terms.grouping import grouped

MIB = 2.0**20
# A cache that misses more than this sends the reads to the disks.
FEW_HITS_PERCENT = 80.0
# A point's figures are of all instances: one that is held back is an outlier of them, and not their limit.
MANY_INSTANCES = 0.5
# Credits in bytes count as used up if the rest lasts for no longer than this.
SECONDS_OF_CREDITS = 60.0


def ceilings(evidence: Evidence) -> Iterator[Ceiling]:
    """Yield the ceilings for which CloudWatch has values."""
    for limit in evidence.metrics.limits:
        if limit.says == "held":
            yield from _throttling(evidence, limit, lambda value: value >= 1.0, Throttled)
        elif limit.says == "balance":
            yield from _throttling(evidence, limit, lambda percent: percent <= USED_UP_PERCENT, Balance)
        else:
            yield from _percent(evidence, limit)
    if evidence.metrics.metered:
        yield from _metered_throughput(evidence, evidence.metrics.metered)


def _throttling(
    evidence: Evidence, limit: WatchedLimit, is_throttled: Callable[[float], bool], kind: type[Throttled]
) -> Iterator[Ceiling]:
    """Yield a limit for which AWS reports only whether it throttled: reached at the points of the throttled minutes."""
    metric = limit.metric
    values = [
        (at, series.period_s, float(is_throttled(value)), _whose(series))
        for series in evidence.series(metric)
        for at, value in series
        if evidence.points_at(at, at + series.period_s)
    ]
    if not values:
        return
    # Of each instance, whichever of its volumes it was.
    of_volume = evidence.kept["resources"]["volumes"] if evidence.kept else {}
    each = grouped((of_volume.get(whose, whose), (at, period_s, share)) for at, period_s, share, whose in values)
    several = [evidence.minutes(of_one) for of_one in each.values()]
    minutes = Minutes(*(_shares([getattr(one, name) for one in several]) for name in ("own", "shared")))
    throttled = [(at, whose) for at, _, share, whose in values if share]
    resources, first_at = sorted({resource for _, resource in throttled}), min(throttled)[0] if throttled else None
    use = kind(metric=metric, resources=resources, first_at=first_at)
    # A full balance denies no maximum.
    counts = limit.counts if limit.says == "held" else None
    yield Ceiling(
        limit.name, minutes.own, use, is_reported=True, enough=MANY_INSTANCES, counts=counts, shared=minutes.shared
    )


def _shares(of_instances: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the share of instances that were throttled at each point."""
    values = grouped((point, value) for of_one in of_instances for point, value in of_one.items())
    return {point: sum(of_point) / len(of_point) for point, of_point in values.items()}


def _percent(evidence: Evidence, limit: WatchedLimit) -> Iterator[Ceiling]:
    """Yield a limit for which AWS publishes the used share."""
    name, cache = limit.name, evidence.metrics.cache
    several = evidence.series(limit.metric)
    raised = _raised_by_credits(evidence, limit)
    values = [
        (at, series.period_s, value / 100 / raised(at, _whose(series)), _whose(series))
        for series in several
        for at, value in series
    ]
    minutes, top = _highest(evidence, values)
    if top is None:
        return
    share, at, whose = top
    hits = _hits(evidence, cache, at, whose) if cache and limit.is_behind_cache else None
    few = hits if hits is not None and hits < FEW_HITS_PERCENT else None
    if cache and few is not None:
        # The disks work because the cache does not hold the data read: a larger cache helps more than faster disks.
        name = cache.name
    use = ShareUsed(
        metric=limit.metric, percent=100 * share, resource=whose, resources=len(several), at=at, cache_hits_percent=few
    )
    yield Ceiling(name, minutes.own, use, is_reported=True, counts=limit.counts, shared=minutes.shared)


def _raised_by_credits(evidence: Evidence, limit: WatchedLimit) -> Callable[[float, str], float]:
    """Return how many times the sustained limit a resource may use at a moment: more than once if it has credits."""
    storage = storage_of(evidence.storage)
    bursts = storage.bursts if storage and limit.credits_left else []
    times = next((burst.most / burst.sustained for burst in bursts if burst.of == limit.burst), 1.0)

    def raised(at: float, whose: str) -> float:
        series = (one for one in evidence.series(limit.credits_left or "") if _whose(one) == whose)
        # FSx publishes them every five minutes.
        left = [(begun, percent) for one in series for begun, percent in one if 0 <= at - begun < FIVE_MINUTES_S]
        return times if left and max(left)[1] > USED_UP_PERCENT else 1.0

    return raised


def server_cache(evidence: Evidence) -> dict[str, float]:
    """Return the cache's hit ratio in per cent of each point that mostly read: the mean over its minutes."""
    cache = evidence.metrics.cache
    ratios: dict[str, list[float]] = {}
    for series in evidence.series(cache.hits) if cache else ():
        for at, _ in series:
            point = evidence.point_at(at, at + series.period_s)
            hits = _hits(evidence, cache, at, _whose(series)) if cache else None
            if point is not None and hits is not None:
                ratios.setdefault(point, []).append(hits)
    return {point: sum(hits) / len(hits) for point, hits in ratios.items()}


def _whose(series: Series) -> str:
    """The resource that a series is of."""
    return next(iter(series.resource.values()))


def _hits(evidence: Evidence, cache: ServerCache, at: float, whose: str) -> float | None:
    """The hit ratio of a file system's cache in per cent in a minute of mostly reads; None in one of mostly writes."""
    read, written = (_value(evidence, metric, at, whose) for metric in (cache.read, cache.written))
    if read is None or read < (written or 0.0):
        return None
    return _value(evidence, cache.hits, at, whose)


def _value(evidence: Evidence, metric: str, at: float, whose: str) -> float | None:
    own = (series for series in evidence.series(metric) if _whose(series) == whose)
    return next((value for series in own for when, value in series if when == at), None)


def _metered_throughput(evidence: Evidence, metered: MeteredThroughput) -> Iterator[Ceiling]:
    """Compare metered bytes with the permitted ones of the same minute, and show the credits that raise the limit."""
    permitted = {at: value for series in evidence.series(metered.permitted) for at, value in series}
    values = [
        (at, series.period_s, value / series.period_s / permitted[at], _whose(series))
        for series in evidence.series(metered.metered)
        for at, value in series
        if permitted.get(at)
    ]
    minutes, top = _highest(evidence, values)
    if top is None:
        return
    share, at, whose = top
    most = permitted[at]
    has_credits = evidence.metrics.lives_on_credits(evidence.storage)
    left = _value(evidence, metered.credits_left, at, whose) if has_credits else None
    is_used_up = left is not None and left <= most * SECONDS_OF_CREDITS
    name = metered.credits_name if is_used_up else MODELS[evidence.kind].traits.ceilings.throughput
    use = RateUsed(
        used=share * most / MIB, limit=most / MIB, unit="MiB/s", of="permitted", at=at, credits_left_bytes=left
    )
    yield Ceiling(name, minutes.own, use, is_reported=True, counts="bytes/s", shared=minutes.shared)


def _highest(
    evidence: Evidence, values: Iterable[tuple[float, float, float, str]]
) -> tuple[Minutes, tuple[float, float, str] | None]:
    """From (time, period, share, resource): what they say of points, and the highest with time and resource."""
    measured = [value for value in values if evidence.points_at(value[0], value[0] + value[1])]
    top = max(((share, at, whose) for at, _, share, whose in measured), default=None)
    return evidence.minutes((at, period_s, share) for at, period_s, share, _ in measured), top
