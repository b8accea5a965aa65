"""The bottleneck of a cell in words: evidence, other limits, limits without data, and advice."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from matrix.terms.ceilings import (
    INSTANCE_EBS,
    INSTANCE_NETWORK,
    LARGER_EBS,
    NOT_KNOWN,
    PROCESSORS,
    TCP_CONNECTIONS,
    TOOL,
    describe_limit,
)
from matrix.terms.documents.bottleneck import (
    Bottleneck,
    LimitUse,
    OtherLimit,
    ProcessorUse,
    RateUsed,
    ShareUsed,
    Throttling,
    Unseen,
    Waiting,
)
from matrix.terms.documents.parts import Part, StorageFields
from matrix.terms.documents.result import ResultDocument
from matrix.terms.names import point_labels
from matrix.terms.quantities import instant, number

TITLE = "Bottlenecks"
PROVISIONAL = "CloudWatch's metrics may still arrive: `matrix report` reads them again"
GIB = 2.0**30
MAX_ABSENT = 4
# Share of a processor's time; below it, the host's work is noise.
MUCH_STOLEN = 0.05
ALLOWANCES = {
    "bw_in": "bandwidth in",
    "bw_out": "bandwidth out",
    "pps": "packets per second",
    "conntrack": "tracked connections",
}
WHOSE = {
    "baseline": " of the instance type's baseline",
    "maximum": " of the instance type's maximum",
    "client": " of each client",
    "connections": " that EC2 allows the TCP connections of an instance",
    "permitted": " that AWS permitted",
}
# Other tools of workloads that also have the engine.
BY_ENGINE_TOO = frozenset({"dd", "parallel", "touch"})
RAISES = {
    TOOL: "use more threads, more instances or faster ones: this measures the load generator",
    PROCESSORS: "take an instance type with more or faster processors, or a tool that computes less",
    INSTANCE_NETWORK: "take an instance type with more network, or spread the work over more instances",
    TCP_CONNECTIONS: "mount with more connections (nconnect), or spread the work over more instances",
    INSTANCE_EBS: LARGER_EBS,
}


def describe_evidence(cell: ResultDocument, bottleneck: Bottleneck) -> str:
    """Write by which figures the bottleneck of a cell is known."""
    label = _Labels(cell)
    words = _evidence(bottleneck, label)
    of = bottleneck.get("of_launches")
    return f"in {of['same']} of {of['launches']} launches; in one of them: {words}" if of else words


def _evidence(bottleneck: Bottleneck, label: "_Labels") -> str:
    name, points, others = bottleneck["name"], bottleneck["points"], bottleneck["others"]
    if bottleneck["uses"]:
        words = "; ".join(describe_use(use, label) for use in bottleneck["uses"])
        return f"{words}{_of_points(name, points)}"
    if name == NOT_KNOWN:
        why = "no limit of this storage is known here" if points else "nothing was counted"
        return f"{why}{_nearest(others, 'the most used limit that could be seen is', label)}"
    waiting = bottleneck.get("waiting")
    explained = f"; {_waiting(waiting, label)}" if waiting else ""
    return f"no limit was reached{_nearest(others, 'the nearest is', label)}{explained}"


def _of_points(name: str, points: Mapping[str, str]) -> str:
    others = Counter(other for other in points.values() if other != name)
    if not others:
        return ""
    count = sum(other == name for other in points.values())
    rest = ", ".join(f"{times} {describe_limit(other)}" for other, times in others.most_common())
    return f". So at {count} of {len(points)} points; the others: {rest}"


def _nearest(others: Sequence[OtherLimit], lead: str, label: "_Labels") -> str:
    used = next((other for other in others if other["share"] > 0), None)
    return f"; {lead} {describe_limit(used['name'])}: {describe_use(used['use'], label)}" if used else ""


def _waiting(waiting: Waiting, label: "_Labels") -> str:
    workers = f"{waiting['workers']:g} worker{'s' if waiting['workers'] > 1 else ''}"
    each = f"{number(1000 * waiting['latency_s'])} ms for each operation"
    return f"{workers} waiting {each} explain the rate{label.at(waiting['point'])}"


class _Labels:
    """The names of a cell's points; a cell of one point does not name it."""

    def __init__(self, cell: ResultDocument) -> None:
        points = cell.get("points") or []
        self._labels = point_labels(points) if len(points) > 1 else {}

    def at(self, point: str | None) -> str:
        """Name a point as the end of a clause."""
        return f" at {self._labels[point]}" if point in self._labels else ""


def describe_use(use: LimitUse, label: _Labels) -> str:
    """Write how much of a limit was used: `2,970 of 3,000 IOPS at block 4 KiB`."""
    match use["code"]:
        case "rate":
            return _rate(use, label)
        case "share":
            return _share(use)
        case "throttled" | "balance":
            return _throttling(use)
        case "tool":
            reached = f"{100 * use['share']:.0f} % of what the tool reaches on this instance without a storage"
            return f"{reached}{label.at(use['point'])}"
        case "processors":
            return f"{_processors(use)}{label.at(use['point'])}"
        case "packets":
            what = f"{number(use['per_s'])} packets/s for {ALLOWANCES.get(use['allowance'], use['allowance'])}"
            return f"EC2 queued or dropped {what}{label.at(use['point'])}"


def _rate(use: RateUsed, label: _Labels) -> str:
    words = f"{number(use['used'])} of {number(use['limit'])} {use['unit']}{WHOSE.get(use.get('of') or '', '')}"
    words += label.at(use.get("point"))
    if "at" in use:
        words += f" at {instant(use['at'])}"
    if "credits_left_bytes" in use:
        words += f", {number(use['credits_left_bytes'] / GIB)} GiB of burst credits left"
    return words


def _share(use: ShareUsed) -> str:
    of_one = f" of {use['resource']}" if use["resources"] > 1 else ""
    words = f"{use['metric']} {use['percent']:.0f} %{of_one} at {instant(use['at'])}"
    hits = use.get("cache_hits_percent")
    return words if hits is None else f"{words}, while the cache had {hits:.0f} % of the reads"


def _throttling(use: Throttling) -> str:
    state = "1" if use["code"] == "throttled" else "used up"
    if not use["resources"] or use["first_at"] is None:
        return f"{use['metric']} was never {state}"
    first, *others = use["resources"]
    several = f" and {len(others)} more" if others else ""
    return f"{use['metric']} was {state} for {first}{several}, first at {instant(use['first_at'])}"


def _processors(use: ProcessorUse) -> str:
    words = f"processors {100 * use['machine']:.0f} % busy"
    if use["worker"] is not None and use["worker"] > use["machine"]:
        words = f"each worker computes {100 * use['worker']:.0f} % of the time ({words})"
    return words + (f", {100 * use['stolen']:.0f} % taken by the host" if use["stolen"] >= MUCH_STOLEN else "")


def describe_next_limit(cell: ResultDocument, bottleneck: Bottleneck) -> str:
    """Write advice: how to raise the limit, or how to find it."""
    step = bottleneck["next"]
    match step["code"]:
        case "raise":
            storage = cell["storage"]
            raises = raises_of(str(storage.get("type")), bottleneck["name"], step.get("metric"), storage)
            larger = step.get("larger_type")
            smallest = (
                f": {larger} is the smallest of its family that is always as fast as the storage" if larger else ""
            )
            if bottleneck["name"] == TOOL and _has_another_tool(cell["workload"]):
                raises = f"use tool engine, {raises.removeprefix('use ')}"
            return f"{raises}{smallest}"
        case "use-aws":
            return "run it on AWS: here all instances share one machine"
        case "load-more":
            return "use more threads, a deeper queue or more instances to find where it ends"
        case "know-limits":
            return "run it on AWS, or with emulate: true for a storage whose limits are known"
        case "see-metrics":
            return "look at the storage's own metrics; docs/method.md lists them"


def _has_another_tool(workload: Part) -> bool:
    """Whether a workload ran with another tool although our engine supports it, so that "use tool engine" is advice."""
    tools = workload.get("tool") or []
    return not BY_ENGINE_TOO.isdisjoint([tools] if isinstance(tools, str) else tools)


def raises_of(kind: str, name: str, metric: str | None, storage: StorageFields) -> str:
    """Return how to raise a limit of a type of storage, by the limit's name; `metric` is the metric that showed it."""
    from matrix.storages.base import OTHER_CEILINGS

    raised = dict(_raised(kind, storage))
    return raised.get((name, metric)) or raised.get((name, None)) or RAISES.get(name, OTHER_CEILINGS.more_throughput)


def _raised(kind: str, storage: StorageFields) -> Iterator[tuple[tuple[str, str | None], str]]:
    # pydantic takes a quarter of a second to import, which `matrix --help` need not wait for.
    from matrix.storages.base import OTHER_CEILINGS
    from matrix.storages.models import MODELS, metrics_of

    names = MODELS[kind].traits.ceilings if kind in MODELS else OTHER_CEILINGS
    yield (names.operations, None), names.more_operations
    yield (names.throughput, None), names.more_throughput
    metrics = metrics_of(kind)
    for limit in metrics.limits:
        yield (limit.name, limit.metric), limit.advice
    if metrics.cache:
        yield (metrics.cache.name, None), metrics.cache.advice
    if metrics.metered:
        yield (metrics.metered.credits_name, None), metrics.metered.more_credits
    cap = metrics.client_cap(storage)
    if cap:
        yield (cap.name, None), cap.advice


def describe_others(bottleneck: Bottleneck) -> str:
    """Write how much was used of each limit that was not it: `client CPU 12 %, volume throughput 9 %`."""
    highest: dict[str, float] = {}
    for other in bottleneck["others"]:
        highest[other["name"]] = max(highest.get(other["name"], 0.0), other["share"])
    return ", ".join(f"{describe_limit(name)} {100 * share:.0f} %" for name, share in highest.items())


def other_rows(cell: ResultDocument, bottleneck: Bottleneck) -> list[tuple[str, float, str]]:
    """Return name, share that was used and how that was seen, of each limit that was not it."""
    label = _Labels(cell)
    return [
        (describe_limit(other["name"]), other["share"], describe_use(other["use"], label))
        for other in bottleneck["others"]
    ]


def describe_unseen(unseen: Unseen) -> str:  # noqa: PLR0911 - a case for each code
    """Write which limit could not be observed, and why."""
    match unseen["code"]:
        case "not-read":
            return "CloudWatch: not read"
        case "not-asked":
            return f"CloudWatch: could not be asked ({unseen.get('error')})"
        case "not-of-aws":
            return "CloudWatch: has nothing of storages and instances that are not AWS's"
        case "no-values":
            absent = unseen.get("metrics") or []
            more = len(absent) - MAX_ABSENT
            listed = ", ".join(absent[:MAX_ABSENT]) + (f" and {more} more" if more > 0 else "")
            return (
                f"CloudWatch: has no values of {listed}{'; they may still arrive' if unseen.get('may_arrive') else ''}"
            )
        case "storage-use":
            return "use of the storage: neither counters nor metrics show it"
        case "storage-limits":
            return "limits of the storage: none are known of this machine's disk"
        case "tool-limit":
            return "the tool's own limit: it was not calibrated"
        case "instance-limits":
            return "limits of the instance type: EC2 did not say them"
        case "network-allowances":
            return "EC2's network allowances: neither the network card nor ethtool counts them"
