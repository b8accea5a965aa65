"""Choose one bottleneck from the ceilings, with its evidence, advice, and the reasons against the others."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from matrix.answer.bottleneck import bursting, clients, provisioned, watched
from matrix.answer.bottleneck.evidence import Ceiling, Evidence
from matrix.answer.costs import storage_of
from matrix.input.instance_types import smallest_with_network
from matrix.plan.instance_limits import smallest_that_carries
from matrix.terms.ceilings import HOST, INSTANCE_EBS, INSTANCE_NETWORK, NOT_KNOWN, NOT_SATURATED, PROCESSORS, TOOL
from matrix.terms.documents.bottleneck import Bottleneck, Waiting
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.watched import CloudWatchMetrics, WatchedResources
from matrix.terms.findings import bottlenecks as findings
from matrix.terms.findings.bottlenecks import NextStep, Unseen

# If workers divided by latency explains the rate to within this share, the workers only wait: no limit throttles them.
WAITING = 0.25
# If several limits are reached at once, one that AWS itself reports comes first, then storage, tool, processors.
LAST = {TOOL: 2, PROCESSORS: 3, HOST: 3}


def find(result: ResultDocument, environment: str) -> Bottleneck:
    """Return the bottleneck of a measured cell.

    `name` is one limit, "not saturated" if none was reached, "not known" if no limit of the storage could be observed.
    A point's own limit is in `points`. `is_provisional` means that metrics may still arrive.
    """
    evidence = Evidence(result, environment)
    of_storage = [*watched.ceilings(evidence), *provisioned.ceilings(evidence)]
    ceilings = [*of_storage, *clients.ceilings(evidence)]
    points = {point: _name_at(point, ceilings) for point in evidence.uses}
    has_storage = any(ceiling.name not in LAST for ceiling in of_storage)
    name = _cell_name(points, ceilings, has_storage=has_storage)
    if set(points.values()) == {NOT_KNOWN} and len(points) == 1:
        points = dict.fromkeys(points, name)
    mine = [ceiling for ceiling in _ranked(ceilings) if ceiling.name == name]
    bottleneck: Bottleneck = {
        "name": name,
        "uses": _different(ceiling.use.document for ceiling in mine if ceiling.share >= ceiling.enough),
        "share": max((ceiling.share for ceiling in mine), default=None),
        "next": _next(evidence, name, mine).document,
        "others": [
            {"name": ceiling.name, "share": ceiling.share, "use": ceiling.use.document}
            for ceiling in _ranked(ceilings)
            if ceiling.name != name
        ],
        "unseen": [each.document for each in _unseen(evidence, of_storage)],
        "points": points,
        "is_provisional": evidence.is_on_aws and evidence.kept is not None and not evidence.kept["is_settled"],
        "on_credits": bursting.on_credits(evidence),
        "server_cache": watched.server_cache(evidence),
    }
    waiting = _waiting(evidence) if name == NOT_SATURATED else None
    return {**bottleneck, "waiting": waiting} if waiting else bottleneck


def _different(uses: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    different: list[dict[str, Any]] = []
    for use in uses:
        if use not in different:
            different.append(use)
    return different


def _ranked(ceilings: Sequence[Ceiling]) -> list[Ceiling]:
    return sorted(ceilings, key=lambda ceiling: -ceiling.share)


def _rank(ceiling: Ceiling) -> tuple[int, int, float]:
    return LAST.get(ceiling.name, 0 if ceiling.is_reported else 1), int(not ceiling.is_reported), -ceiling.share


def _name_at(point: str, ceilings: Sequence[Ceiling]) -> str:
    """Return the ceiling that a point reached. Of several, the one least likely to be a mere consequence of another."""
    reached = [
        ceiling
        for ceiling in ceilings
        if ceiling.is_reached(point) and not any(reported.denies(ceiling, point) for reported in ceilings)
    ]
    if reached:
        return min(reached, key=_rank).name
    untold = [ceiling for ceiling in ceilings if ceiling.is_untold(point)]
    is_untold = any(not any(reported.denies(ceiling, point) for reported in ceilings) for ceiling in untold)
    return NOT_KNOWN if is_untold else NOT_SATURATED


def _cell_name(points: Mapping[str, str], ceilings: Sequence[Ceiling], *, has_storage: bool) -> str:
    """The ceiling that most points reached, if any did; else one of minutes that several of them shared."""
    reached = Counter(name for name in points.values() if name not in (NOT_SATURATED, NOT_KNOWN))
    if reached:
        return reached.most_common(1)[0][0]
    shared = [ceiling for ceiling in ceilings if any(ceiling.may_be_reached(point) for point in points)]
    if shared:
        return min(shared, key=_rank).name
    return NOT_SATURATED if has_storage and points and NOT_KNOWN not in points.values() else NOT_KNOWN


def _waiting(evidence: Evidence) -> Waiting | None:
    """Little's law: if the rate is near workers / latency, latency is the bottleneck."""
    for point, use in evidence.uses.items():
        workers, latency_s = use.get("workers"), use.get("latency_s")
        rate = use.get("operations_per_s") or use.get("files_per_s")
        if workers and latency_s and rate and abs(rate * latency_s / workers - 1) <= WAITING:
            return {"workers": workers, "latency_s": latency_s, "point": point}
    return None


def _next(evidence: Evidence, name: str, mine: Sequence[Ceiling]) -> NextStep:
    if mine:
        return _raising(evidence, name, min(mine, key=_rank))
    if name == NOT_SATURATED:
        return findings.LoadMore()
    return findings.SeeMetrics() if evidence.is_on_aws else findings.KnowLimits()


def _raising(evidence: Evidence, name: str, ceiling: Ceiling) -> NextStep:
    if name in (PROCESSORS, HOST) and not evidence.is_on_aws:
        return findings.UseAws()
    return findings.Raise(metric=getattr(ceiling.use, "metric", None), larger_type=_smallest_as_fast(evidence, name))


def _smallest_as_fast(evidence: Evidence, name: str) -> str | None:
    """The smallest larger type of the fleet's family whose limit of this name is never below the storage's, or None."""
    storage, fleet = storage_of(evidence.storage), evidence.result["fleet"]
    if storage is None:
        return None
    instance_type = str(fleet.get("instanceType"))
    volumes = storage.attached(instance_type)
    if name == INSTANCE_EBS and volumes:
        return smallest_that_carries(volumes, fleet.get("bandwidthWeighting"))
    if name != INSTANCE_NETWORK or not storage.traits.are_limits_published:
        return None
    share = storage.bandwidth_bytes_per_s / (evidence.result["fleet"]["count"] if storage.traits.is_shared else 1)
    cap = evidence.metrics.client_cap(evidence.storage)
    return smallest_with_network(instance_type, min(share, cap.bytes_per_s) if cap else share)


def _unseen(evidence: Evidence, of_storage: Sequence[Ceiling]) -> Iterator[Unseen]:
    """Return the ceilings without data. A missing figure never counts as zero."""
    yield from _absent(evidence)
    if not of_storage:
        yield findings.StorageUse() if evidence.is_on_aws else findings.StorageLimits()
    if evidence.uses and not _has(evidence, "tool_share"):
        yield findings.ToolLimit()
    if evidence.is_on_aws and not evidence.instance_limits:
        yield findings.InstanceLimits()
    if evidence.is_on_aws and evidence.uses and not _has(evidence, "allowance_exceeded_per_s"):
        yield findings.NetworkAllowances()


def _has(evidence: Evidence, ending: str) -> bool:
    return any(name.endswith(ending) for use in evidence.uses.values() for name in use)


def _absent(evidence: Evidence) -> Iterator[Unseen]:
    kept = evidence.kept
    if kept is None:
        yield findings.NotRead()
    elif kept.get("unasked"):
        yield findings.NotAsked(error=str(kept["unasked"]))
    elif not evidence.is_on_aws and not kept.get("series"):
        yield findings.NotOfAws()
    elif absent := kept.get("absent") or []:
        yield findings.NoValues(metrics=list(absent), may_arrive=not kept.get("is_settled"))


def is_late(result: ResultDocument) -> bool:
    """Return whether CloudWatch may have published metrics of a result after they were read."""
    kept = result.get("cloudwatch")
    return kept is not None and not kept["is_settled"]


def refreshed(
    result: ResultDocument, environment: str, read: Callable[[WatchedResources, float, float], CloudWatchMetrics]
) -> ResultDocument:
    """Return a result with metrics that are read again, and with its bottleneck computed anew.

    `read` gets the resources and the first and last moment. Earlier values stay if CloudWatch could not be queried or
    has deleted its own (values per minute after 15 days).
    """
    kept = result["cloudwatch"]
    now = read(kept["resources"], kept["from"], kept["to"])
    if now["unasked"] or _count(now) < _count(kept):
        return result
    refreshed: ResultDocument = {**result, "cloudwatch": now}
    return {**refreshed, "bottleneck": find(refreshed, environment)}


def _count(kept: CloudWatchMetrics) -> int:
    return sum(len(series["values"]) for series in kept["series"])
