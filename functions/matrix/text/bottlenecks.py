"""The bottleneck of a cell in words: evidence, other limits, and advice."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matrix.terms.ceilings import (
    HOST,
    INSTANCE_EBS,
    INSTANCE_NETWORK,
    LARGER_EBS,
    NOT_KNOWN,
    PROCESSORS,
    REACHED,
    TCP_CONNECTIONS,
    TOOL,
    describe_limit,
)
from matrix.terms.documents.bottleneck import Bottleneck, OtherLimit, Waiting
from matrix.terms.documents.parts import Part, StorageFields
from matrix.terms.documents.result import ResultDocument
from matrix.terms.findings.bottlenecks import LimitUse, NextStep, Raise
from matrix.terms.names import point_labels
from matrix.terms.quantities import number

TITLE = "Bottlenecks"
PROVISIONAL = "CloudWatch's metrics may still arrive: `matrix report` reads them again"
# Other tools of workloads that also have the engine.
BY_ENGINE_TOO = frozenset({"dd", "parallel", "touch"})
MORE_LOAD = "more threads, more instances or faster ones: this measures the load generator"
RAISES = {
    TOOL: f"use {MORE_LOAD}",
    PROCESSORS: "take an instance type with more or faster processors, or a tool that computes less",
    HOST: "take a type without credits (not T), or other instances: their host had no more time for them",
    INSTANCE_NETWORK: "take an instance type with more network, or spread the work over more instances",
    TCP_CONNECTIONS: "mount with more connections (nconnect), or spread the work over more instances",
    INSTANCE_EBS: LARGER_EBS,
}


def describe_evidence(cell: ResultDocument, bottleneck: Bottleneck) -> str:
    """Write by which figures the bottleneck of a cell is known."""
    label = _Labels(cell)
    of = bottleneck.get("of_launches")
    if of and of["same"] < of["launches"] and bottleneck["name"] == NOT_KNOWN:
        return f"launches have different limits: {of['same']} of {of['launches']} have the most frequent one"
    words = _evidence(bottleneck, label)
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
    if not count:
        return ". Several points shared these minutes, so nobody knows which of them"
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


def describe_use(use: Mapping[str, Any], label: _Labels) -> str:
    """Write how much of a limit was used: `2,970 of 3,000 IOPS at block 4 KiB`."""
    return f"{LimitUse.describe(use)}{label.at(use.get('point'))}"


def describe_next_limit(cell: ResultDocument, bottleneck: Bottleneck) -> str:
    """Write advice: how to raise the limit, or how to find it."""
    step = NextStep.read(bottleneck["next"])
    if not isinstance(step, Raise):
        return step.sentence
    storage = cell["storage"]
    raises = raises_of(str(storage.get("type")), bottleneck["name"], step.metric, storage)
    if bottleneck["name"] == TOOL and _has_another_tool(cell["workload"]):
        raises = f"use tool engine, {MORE_LOAD}"
    return f"{raises}: {step.sentence}" if step.larger_type else raises


def _has_another_tool(workload: Part) -> bool:
    """Whether a workload ran with another tool although our engine supports it, so that "use tool engine" is advice."""
    tools = workload.get("tool") or []
    return not BY_ENGINE_TOO.isdisjoint([tools] if isinstance(tools, str) else tools)


def raises_of(kind: str, name: str, metric: str | None, storage: StorageFields) -> str:
    """Return how to raise a limit of a type of storage, by the limit's name; `metric` is the metric that showed it."""
    from matrix.storages.base import OTHER_CEILINGS
    from matrix.storages.models import metrics_of

    if own := metrics_of(kind).raised_by(storage).get(name):
        return own
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
    """Write how much was used of each limit that was not it: `client CPU 12 %, volume throughput 9 %`.

    Busy processors are explained, because the share alone contradicts the bottleneck.
    """
    highest: dict[str, float] = {}
    for other in bottleneck["others"]:
        highest[other["name"]] = max(highest.get(other["name"], 0.0), other["share"])
    waits = {PROCESSORS: " (a client that waits may be busy, too)"} if highest.get(PROCESSORS, 0.0) >= REACHED else {}
    shares = (f"{describe_limit(name)} {100 * share:.0f} %{waits.get(name, '')}" for name, share in highest.items())
    return ", ".join(shares)


def other_rows(cell: ResultDocument, bottleneck: Bottleneck) -> list[tuple[str, float, str]]:
    """Return name, share that was used and how that was seen, of each limit that was not it."""
    label = _Labels(cell)
    return [
        (describe_limit(other["name"]), other["share"], describe_use(other["use"], label))
        for other in bottleneck["others"]
    ]
