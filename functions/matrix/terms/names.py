"""Names of storages, fleets, points and cells, and their order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from contract.fio_job import PACING
from matrix.terms.documents.parts import Fleet, Params, Part, Point
from matrix.terms.findings.credits import describe_credits, shortest
from matrix.terms.open_loop import RATE, done_per_s, has_kept_up, offered_per_s
from matrix.terms.quantities import ABSENT, number, rough_duration

if TYPE_CHECKING:
    from matrix.terms.documents.result import (
        MetricResult,
        PointMetrics,
        PointResult,
        PointSteadiness,
        ResultDocument,
    )
    from matrix.terms.documents.summary import SummaryDocument

# A figure that differs by more from the steady rate is marked: a smaller difference changes no choice of storage.
MAX_BEFORE = 0.05
# Parameters that a point's label has even if they are equal in all points of a cell.
HEADLINE_PARAMS = frozenset(
    {
        *(
            "section",
            "beside",
            "rw",
            "bs",
            "iodepth",
            "numjobs",
            "access",
            "threads",
            "directories",
            "block_bytes",
            "sync",
            "jobs",
            "job",
        ),
        *("batch", "offsets", "operation", "object_bytes", RATE, "p99_at_most_ms"),
        *PACING,
        # A point has these only if they differ from the default.
        *("data", "on", "build_directory", "work_directory", "source_volume_type", "source_volume_gib", "sizes"),
    }
)
# Effect of `sync` of dd, touch and metadata, by its value (docs/workloads.md).
SYNC_WORDS = {
    "block": "each block synced",
    "each": "each change synced",
    "end": "synced at the end",
    "none": "not synced",
}
# A cache with a smaller share of answers than this is not mentioned.
MIN_CACHED_PERCENT = 10.0


def point_labels(points: Sequence[Point]) -> dict[str, str]:
    """Return a label for each point of a cell by id: its main parameters, and those in which points differ."""
    params = {point["id"]: flat(point.get("params") or {}) for point in points}
    names = list(dict.fromkeys(name for values in params.values() for name in values))
    varying = {name for name in names if len({str(values.get(name)) for values in params.values()}) > 1}
    telling = [name for name in names if name in varying or name in HEADLINE_PARAMS]
    # Published points have one, and points that a plan has told apart.
    labels = {point["id"]: str(label) for point in points if (label := point.get("label"))}
    # An option of fio has the same name as the workloads' `sync`, and other values.
    fio = {point["id"] for point in points if (point.get("params") or {}).get("options")}
    return {
        point: labels.get(point) or _label(values, telling, is_fio=point in fio) or point
        for point, values in params.items()
    }


def tell_apart(workloads: Iterable[tuple[Part, Sequence[Point]]]) -> None:
    """Label points of several workloads that would be called the same, though they differ: by all that differs.

    The names that their user gave to workloads of one kind come first: `wal, rw write`.
    """
    workloads = list(workloads)
    alike: dict[tuple[str, str], list[Point]] = {}
    for workload, points in workloads:
        labels = point_labels(points)
        for point in points:
            alike.setdefault((describe_workload(workload), labels[point["id"]]), []).append(point)
    for points in alike.values():
        if any(point["params"] != points[0]["params"] for point in points):
            numbered: list[Point] = [{"id": str(place), "params": each["params"]} for place, each in enumerate(points)]
            for point, label in zip(points, point_labels(numbered).values(), strict=True):
                point["label"] = label
    of_kind: dict[str, set[str]] = {}
    for workload, _ in workloads:
        of_kind.setdefault(describe_workload(workload), set()).add(str(workload.get("name") or ""))
    for workload, points in workloads:
        kind, name = describe_workload(workload), workload.get("name")
        if name and len(of_kind[kind]) > 1:
            for point, label in zip(points, point_labels(points).values(), strict=True):
                point["label"] = f"{name}, {label}"


def marked_label(label: str, point: PointResult, cell: ResultDocument) -> str:
    """Add marks to the label of a point whose figures are not the sustained performance of the storage."""
    return " ".join([label, *(f"[{mark}]" for mark in marks(point, cell))])


def marks(point: PointResult, cell: ResultDocument) -> Iterator[str]:
    """Yield short cautions about a point's figures.

    Reasons: it fell behind its rate; it was not steady, or only late; the load generator was the limit; credits end;
    the server's cache answered; a client's cache may have answered requests for names; the flash was never written.
    """
    offered, done = offered_per_s(point.get("params") or {}), done_per_s(point.get("metrics") or {})
    if offered is not None and done is not None and not has_kept_up(done, offered):
        yield f"behind: {number(done)} of {number(offered)}/s"
    bottleneck = cell.get("bottleneck")
    steadiness = point.get("steadiness")
    if steadiness and is_unsteady(steadiness):
        yield "not steady"
    elif steadiness and (late := steady_late(steadiness)):
        yield f"steady from {rough_duration(late[0])} on, at {100 * late[1]:.0f} %"
    if (ceiling := point.get("tool_ceiling")) and ceiling["is_bound"]:
        yield "tool-bound"
    if bottleneck and (paid := (bottleneck.get("on_credits") or {}).get(point["id"])):
        yield describe_credits(shortest(paid))
    yield from _cache_marks(point, cell)
    # An emulated storage takes the time of each request, independent of this machine's caches.
    if "phase" in (point.get("params") or {}) and point.get("caches") and not point.get("emulated"):
        yield f"caches {point['caches']}"
    if (cell.get("storage") or {}).get("type") == "instance-store" and not cell["storage"].get("precondition"):
        yield "fresh flash"


def _cache_marks(point: PointResult, cell: ResultDocument) -> Iterator[str]:
    """Yield the share of a point's reads that a cache answered, or how cold they were. Nothing if not counted.

    The share of the instance's cache are the bytes that programs read and the mount did not. Caching inside of EBS is
    unknown.
    """
    read = point.get("read_bytes")
    bottleneck = cell.get("bottleneck")
    by_server = (bottleneck.get("server_cache") or {}).get(point["id"]) if bottleneck else None
    by_instance = 100 * max(0.0, 1 - read["mounted"] / read["asked"]) if read else None
    if by_instance is not None and by_instance >= MIN_CACHED_PERCENT:
        yield f"{by_instance:.0f} % from the instance's cache"
    if by_server is not None and by_server >= MIN_CACHED_PERCENT:
        yield f"{by_server:.0f} % from server cache"
    elif by_instance is not None and by_instance < MIN_CACHED_PERCENT:
        yield "cold instance" if by_server is None else "cold"


def is_unsteady(steadiness: PointSteadiness) -> bool:
    """Whether a point was not steady at its end: most samples with a verdict, and at least a quarter of all samples.

    With only one verdict among many noisy samples, chance would decide.
    """
    unsteady = steadiness["judged"] - steadiness["steady"]
    return unsteady > steadiness["steady"] and 4 * unsteady >= steadiness["judged"] + steadiness["too_noisy"]


def steady_late(steadiness: PointSteadiness) -> tuple[float, float] | None:
    """Return the second from which a point was steady, and its rate from then on over that of the whole step.

    None if it was never steady, or if the time before changes the point's figure little.
    """
    from_s, ratio = steadiness["from_s"], steadiness["ratio"]
    if from_s is None or ratio is None or abs(ratio - 1) <= MAX_BEFORE:
        return None
    return from_s, ratio


def describe_steadiness(steadiness: PointSteadiness | None) -> str:
    """Write from which second samples were steady, and how many: `from 4s, 5 of 6`; else why that is unknown."""
    if not steadiness:
        return ABSENT
    if not steadiness["judged"]:
        return "too noisy" if steadiness["too_noisy"] > steadiness["too_short"] else "too short"
    count = f"{steadiness['steady']} of {steadiness['judged']}"
    return (
        f"from {rough_duration(steadiness['from_s'])}, {count}" if steadiness["from_s"] is not None else f"no, {count}"
    )


def flat(params: Params) -> Params:
    """Put fio's options beside the other parameters, without unset ones; of sections beside only their names."""
    options, beside = params.get("options"), params.get("beside")
    flat = {**params, **(options if isinstance(options, dict) else {})}
    if beside:
        flat["beside"] = " and ".join(beside)
    return {name: value for name, value in flat.items() if name != "options" and value is not None}


def _label(params: Params, names: Sequence[str], *, is_fio: bool) -> str:
    parts = [
        SYNC_WORDS[params[name]]
        if name == "sync" and params[name] in SYNC_WORDS and not is_fio
        else _describe_param(name, params[name])
        for name in names
        if name in params
    ]
    return ", ".join(parts)


def _describe_param(name: str, value: Any) -> str:
    if name == RATE:
        return f"open loop at {value}/s"
    if name == "p99_at_most_ms":
        return f"P99 at most {value:g} ms"
    if name == "section":
        return str(value)
    if name.endswith("_bytes") and isinstance(value, int):
        return f"{name.removesuffix('_bytes')} {binary_size(value)}"
    return f"{name.replace('_', ' ')} {value}"


def binary_size(count: int) -> str:
    """Write a number of bytes in the largest binary unit that divides it: `1 MiB`, `1536 KiB`."""
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if count and count % 1024**power == 0:
            return f"{count // 1024**power} {unit}"
    return f"{count} B"


def tools_of(summary: SummaryDocument) -> list[str]:
    """Return the tools that wrote an imported run's files: `fio`; none of other runs."""
    return summary.get("tools", [])


def describe_tools(summary: SummaryDocument) -> str:
    """Name the tools that wrote an imported run's files: `fio and ior`."""
    return " and ".join(tools_of(summary))


def shared_and_own(labels: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Return the parts that labels such as `threads 4, not synced` share, and each label's other parts.

    A label that has no other part stays whole.
    """
    parts = {label: label.split(", ") for label in labels}
    shared = [part for part in next(iter(parts.values()), []) if all(part in each for each in parts.values())]
    rest = {label: ", ".join(part for part in each if part not in shared) or label for label, each in parts.items()}
    return shared, rest


def describe_workload(workload: Part) -> str:
    """Return the name of a workload: its type, such as `build`. A command adds its own name.

    Work on the raw device is named differently from work on files.
    """
    kind = str(workload.get("type", "workload"))
    if workload.get("device"):
        return f"{kind} on the raw device"
    return f"{kind} {workload.get('name', '')}".strip() if kind == "command" else kind


def workload_names(workloads: Iterable[Part]) -> dict[str, str]:
    """Return a name of each workload by its `canonical` text: of several of a kind with their user's name, or with the
    fields in which they differ.
    """
    by_text = {canonical(workload): dict(workload) for workload in workloads}
    names: dict[str, str] = {}
    for text, workload in by_text.items():
        kind, name = describe_workload(workload), str(workload.get("name") or "")
        alike = [other for other in by_text.values() if describe_workload(other) == kind]
        telling = [key for key in workload if any(other.get(key) != workload[key] for other in alike)]
        details = ", ".join(f"{key} {_short(workload[key])}" for key in telling)
        if len(alike) > 1 and name:
            names[text] = f"{kind} {name}"
        else:
            names[text] = f"{kind} ({details})" if details else kind
    return names


def _short(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def canonical(part: Part) -> str:
    """Return the text that equal storages, or equal workloads, of documents have in common."""
    return json.dumps(part, sort_keys=True)


def workload_names_of(cells: Iterable[ResultDocument]) -> dict[str, str]:
    """Return the name of each cell's workload by the cell's id."""
    workloads = {cell["id"]: cell.get("workload") or {} for cell in cells}
    names = workload_names(workloads.values())
    return {cell: names[canonical(workload)] for cell, workload in workloads.items()}


def ran_of(cell: ResultDocument, launch: int | None = None) -> int:
    """Return the number of instances of a cell's fleet that ran: its count, or fewer if it had only its quorum.

    For a cell with several launches it is that of one of them, or the least of those that were measured.
    """
    count = int(cell["fleet"].get("count") or 1)
    measured = [each for each in cell.get("launches") or [] if each["state"] == "measured"]
    several = [each for each in measured if launch is None or each["launch"] == launch]
    if "launches" in cell:
        return min([count, *(ran for each in several if (ran := each.get("launched")))])
    instances = cell.get("instances")
    launched = instances["launched"] if instances else None
    return min(count, launched) if launched else count


def fleet_that_ran(cell: ResultDocument) -> Fleet:
    """Return a cell's fleet, with `ran` if fewer instances ran than requested, because that is another experiment."""
    ran = ran_of(cell)
    fleet = cell["fleet"]
    return {**fleet, "ran": ran} if ran < int(fleet.get("count") or 1) else fleet


def fleet_label(fleet: Fleet) -> str:
    """Name a fleet: `10 × m6i.4xlarge`, `10 of 20 × m6i.4xlarge` if fewer ran, `1 × unknown type` if nobody says it."""
    ran = f"{fleet['ran']} of " if "ran" in fleet else ""
    return f"{ran}{fleet.get('count', ABSENT)} × {fleet.get('instanceType') or 'unknown type'}"


def describe_placement(fleet: Fleet) -> str:
    """Write a fleet's placement and weighting, if its matrix has them: `split 1:1 over zones, weighted ebs-1`."""
    placement, weighting = fleet.get("placement"), fleet.get("bandwidthWeighting")
    if isinstance(placement, list):
        placed = f"split {':'.join(f'{share:g}' for share in placement)} over zones"
    else:
        placed = {"spread": "spread over zones", "same-az": "in one zone"}.get(placement or "", "")
    return ", ".join(filter(None, [placed, f"weighted {weighting}" if weighting else ""]))


def describe_fleet(fleet: Fleet) -> str:
    """Return the name of a fleet with all its settings: `10 × m6i.4xlarge, spread over zones, Spot`."""
    words = [fleet_label(fleet), describe_placement(fleet), "Spot" if fleet.get("spot") else ""]
    return ", ".join(word for word in words if word)


def describe_launch(cell: ResultDocument) -> str:
    """Write the number of a cell's launches, if more than one: `3 launches`, `2 of 3 launches`."""
    launches = cell.get("launches") or []
    measured = sum(launch["state"] == "measured" for launch in launches)
    return f"{'' if measured == len(launches) else f'{measured} of '}{len(launches)} launches" if launches else ""


def primary_metric(point: PointMetrics) -> tuple[str, MetricResult] | None:
    """Find the metric that a point is judged by."""
    metrics = point.get("metrics") or {}
    for name, metric in metrics.items():
        if metric.get("primary"):
            return name, metric
    return next(iter(metrics.items()), None)


def direction(metric: MetricResult) -> str:
    """Write which end of the percentiles is the slow one: P0 of a rate, P100 of a duration."""
    if metric.get("higher_is_better"):
        return "higher is better, P0 is the slowest"
    return "lower is better, P100 is the slowest"


def natural_order(text: str) -> tuple[str | int, ...]:
    """Return a sort key that puts `EBS gp3 (20 GiB)` before `EBS gp3 (100 GiB)`."""
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text))


def reading_order(cells: Sequence[ResultDocument]) -> list[ResultDocument]:
    """Sort cells by storage and growing fleet, since they ran in a random order."""
    storages = list(dict.fromkeys(cell.get("file_system") for cell in cells))

    def place(cell: ResultDocument) -> tuple[int, str, float]:
        fleet = cell.get("fleet")
        kind, count = (fleet.get("instanceType"), fleet.get("count")) if fleet else (None, None)
        return storages.index(cell.get("file_system")), str(kind), float(count or 0)

    return sorted(cells, key=place)
