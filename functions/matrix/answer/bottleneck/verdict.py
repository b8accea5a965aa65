"""From ceilings to one name: what bound the cell, by which evidence, what to do, and why it was nothing else."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matrix.answer.bottleneck import bursting, clients, provisioned, watched
from matrix.answer.bottleneck.evidence import Ceiling, Evidence
from matrix.answer.costs import storage_of
from matrix.plan.instance_ebs import smallest_that_carries
from matrix.terms.ceilings import LARGER_EBS
from matrix.terms.documents.result import Bottleneck
from matrix.terms.figures import number

NOT_SATURATED = "not saturated"
NOT_KNOWN = "not known"
# If workers divided by latency explains the rate to within this share, the workers only wait: no limit throttles them.
WAITING = 0.25
MOST_ABSENT = 4
# Of several ceilings reached at once, name what AWS itself reports, then storage, tool, processors.
LAST = {"tool": 2, "client CPU": 3}


def find(result: Mapping[str, Any], environment: str) -> Bottleneck:
    """Return the bottleneck of a measured cell.

    `name` is one ceiling, "not saturated" if no ceiling was reached, "not known" if none of the storage's could be
    seen. `evidence` and `next` are sentences; `others` are the ceilings that lost, with the share that was used;
    `unseen` says what could not be looked at; `points` has each point's own name; `is_provisional` says that metrics
    may still arrive; `on_credits` says of each point what it did faster than can be had always, `server_cache` what
    part (%) of its reads the server's cache answered.
    """
    evidence = Evidence(result, environment)
    of_storage = [*watched.ceilings(evidence), *provisioned.ceilings(evidence)]
    ceilings = [*of_storage, *clients.ceilings(evidence)]
    points = {point: _name_at(point, ceilings) for point in evidence.uses}
    name = _cell_name(points, has_storage=any(ceiling.name not in LAST for ceiling in of_storage))
    mine = [ceiling for ceiling in ceilings if ceiling.name == name]
    return {
        "name": name,
        "evidence": _evidence(evidence, name, mine, points, ceilings),
        "next": _next(evidence, name, mine),
        "share": max((ceiling.share for ceiling in mine), default=None),
        "others": [
            {"name": ceiling.name, "share": ceiling.share, "words": ceiling.words}
            for ceiling in _ranked(ceilings)
            if ceiling.name != name
        ],
        "unseen": list(_unseen(evidence, of_storage)),
        "points": points,
        "is_provisional": evidence.is_on_aws and not (evidence.kept or {}).get("is_settled", True),
        "on_credits": bursting.on_credits(evidence),
        "server_cache": watched.server_cache(evidence),
    }


def _ranked(ceilings: Sequence[Ceiling]) -> list[Ceiling]:
    return sorted(ceilings, key=lambda ceiling: -ceiling.share)


def _rank(ceiling: Ceiling) -> tuple[int, int, float]:
    return LAST.get(ceiling.name, 0 if ceiling.is_told else 1), int(not ceiling.is_told), -ceiling.share


def _name_at(point: str, ceilings: Sequence[Ceiling]) -> str:
    """The ceiling that a point reached; of several the one that is the least likely to be a mere companion."""
    reached = [ceiling for ceiling in ceilings if ceiling.is_reached(point)]
    return min(reached, key=_rank).name if reached else NOT_SATURATED


def _cell_name(points: Mapping[str, str], *, has_storage: bool) -> str:
    """The ceiling that most points reached, if any did."""
    reached = Counter(name for name in points.values() if name != NOT_SATURATED)
    if reached:
        return reached.most_common(1)[0][0]
    return NOT_SATURATED if has_storage and points else NOT_KNOWN


def _evidence(
    evidence: Evidence, name: str, mine: Sequence[Ceiling], points: Mapping[str, str], ceilings: Sequence[Ceiling]
) -> str:
    if name == NOT_KNOWN:
        why = "nothing was counted" if not points else "no limit of this storage is known here"
        return f"{why}{_nearest(ceilings, 'of what could be seen, most was used of')}"
    if name == NOT_SATURATED:
        waiting = _waiting(evidence)
        return f"no ceiling was reached{_nearest(ceilings, 'nearest is')}" + (f"; {waiting}" if waiting else "")
    words = "; ".join(dict.fromkeys(ceiling.words for ceiling in _ranked(mine) if ceiling.share >= ceiling.enough))
    count = sum(other == name for other in points.values())
    else_ = Counter(other for other in points.values() if other != name)
    if not else_:
        return words
    rest = ", ".join(f"{times} {other}" for other, times in else_.most_common())
    return f"{words}. So at {count} of {len(points)} points; of the others: {rest}"


def _nearest(ceilings: Sequence[Ceiling], lead: str) -> str:
    """The fullest of those that were not reached, as the end of a sentence."""
    ranked = [ceiling for ceiling in _ranked(ceilings) if ceiling.share > 0]
    return f"; {lead} {ranked[0].name}: {ranked[0].words}" if ranked else ""


def _waiting(evidence: Evidence) -> str | None:
    """Little's law: where workers times rate per worker is what the latency allows, latency is what binds."""
    for point, use in evidence.uses.items():
        workers, latency_s = use.get("workers"), use.get("latency_s")
        rate = use.get("operations_per_s") or use.get("files_per_s")
        if workers and latency_s and rate and abs(rate * latency_s / workers - 1) <= WAITING:
            return (
                f"{workers:g} worker{'s' if workers > 1 else ''} waiting {number(1000 * latency_s)} ms for each "
                f"operation explain the rate{evidence.at(point)}"
            )
    return None


def _next(evidence: Evidence, name: str, mine: Sequence[Ceiling]) -> str:
    if mine:
        advice = min(mine, key=_rank).advice
        return f"{advice}{_carrying(evidence)}" if advice == LARGER_EBS else advice
    if name == NOT_SATURATED:
        return "more threads, a deeper queue or more instances would show where it ends"
    if not evidence.is_on_aws:
        return "run it on AWS, or with emulate: true for a storage whose limits are known"
    return "look at the storage's own metrics; docs/report.md says which"


def _carrying(evidence: Evidence) -> str:
    """Name the smallest type of the fleet's family that carries the volumes, as the rest of a sentence, if one does."""
    storage = storage_of(evidence.storage)
    volumes = storage.attached(str(evidence.result["fleet"].get("instanceType"))) if storage else None
    weighting = evidence.result["fleet"].get("bandwidthWeighting")
    carrying = smallest_that_carries(volumes, weighting) if volumes else None
    return f": {carrying} is the smallest of its family that always carries these volumes" if carrying else ""


def _unseen(evidence: Evidence, of_storage: Sequence[Ceiling]) -> Iterator[str]:
    """What could not be looked at: an absent figure is never taken for zero."""
    yield from _absent(evidence)
    if not of_storage and evidence.is_on_aws:
        yield "use of the storage: neither counters nor metrics tell it"
    elif not of_storage:
        yield "limits of the storage: none are known of this machine's disk"
    if evidence.uses and not _has(evidence, "tool_share"):
        yield "the tool's own ceiling: it was not calibrated"
    if evidence.is_on_aws and not evidence.instance_limits:
        yield "limits of the instance type: EC2 did not tell them"
    if evidence.is_on_aws and evidence.uses and not _has(evidence, "allowance_exceeded_per_s"):
        yield "EC2's network allowances: the card or ethtool does not count them"


def _has(evidence: Evidence, ending: str) -> bool:
    return any(name.endswith(ending) for use in evidence.uses.values() for name in use)


def _absent(evidence: Evidence) -> Iterator[str]:
    kept = evidence.kept
    if kept is None:
        yield "CloudWatch: not read"
    elif kept.get("unasked"):
        yield f"CloudWatch: could not be asked ({kept['unasked']})"
    elif not evidence.is_on_aws and not kept.get("series"):
        yield "CloudWatch: has nothing of storages and instances that are not AWS's"
    elif absent := kept.get("absent") or []:
        more = len(absent) - MOST_ABSENT
        listed = ", ".join(absent[:MOST_ABSENT]) + (f" and {more} more" if more > 0 else "")
        late = "" if kept.get("is_settled") else "; they may still arrive"
        yield f"CloudWatch: has no values of {listed}{late}"
